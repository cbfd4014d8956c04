"""A Pad that may be folded, with the facts that the rules need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Match, Replacement
from padops.convert.pads.pad_info import PadInfo, describe
from padops.spec.dialects import Op
from padops.spec.plan import Amounts, Limit, Mode, PadError

ZERO = b""  # stands for a fill whose bits are all 0
NOTHING = Amounts(0, 0)


@dataclass(frozen=True)
class Change:
    """A fold's changed nodes, and notes for the record."""

    touched: tuple[ir.Node, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A Pad.

    Attributes:
        site: The node.
        match: The match of its source.
        info: Its description.
        amounts: The amounts of each axis, as ``PadInfo.amounts``.
    """

    site: NodeSite
    match: Match
    info: PadInfo
    amounts: tuple[Amounts, ...] | None

    @property
    def op(self) -> Op:
        return self.info.op

    @property
    def mode(self) -> Mode | None:
        return self.info.mode

    @property
    def data(self) -> ir.Value:
        return self.info.data

    @property
    def output(self) -> ir.Value:
        return self.site.node.outputs[0]

    @cached_property
    def fill(self) -> bytes | ir.Value | None:
        """The bits of the fill's one element (``ZERO`` if all are 0), or its value in the graph; None if unknown."""
        if self.info.has_default_fill:
            return ZERO
        array = self.info.known_fill
        if array is not None:
            return bits_of(array) if array.size == 1 else None
        value = self.info.input(self.op.fill)
        return value if isinstance(value, ir.Value) else None

    @property
    def element(self) -> np.ndarray | None:
        """The fill as an array of rank 0; None for the default or an unknown fill."""
        array = self.info.known_fill
        return None if array is None or array.size != 1 else array.reshape(())

    @property
    def changes_nothing(self) -> bool:
        """Whether all amounts are known to be 0, and the Pad refuses no data."""
        # nGraph's Pad refuses an empty axis even if it does not extend it (P4).
        refuses = self.op.limit is Limit.NGRAPH and self.mode not in (Mode.CONSTANT, Mode.SYMMETRIC)
        return not refuses and self.amounts is not None and all(amounts == NOTHING for amounts in self.amounts)

    @property
    def only_adds(self) -> bool:
        """Whether the amounts are known, none is negative, and there is no interior."""
        return self.amounts is not None and all(
            amounts.begin >= 0 <= amounts.end and not amounts.interior for amounts in self.amounts
        )


def candidate(site: NodeSite, match: Match, types: Types) -> Candidate | None:
    """The Pad of a match with a Replacement; None if it breaks a rule: it stays, so that running it gives the error."""
    assert isinstance(match.replacement, Replacement)
    info = describe(match.replacement, site, types)
    fill = info.known_fill
    if info.problem is not None or (fill is not None and fill.size != 1 and info.mode is Mode.CONSTANT):  # P7
        return None
    try:
        return Candidate(site, match, info, info.amounts)
    except PadError:
        return None


def bits_of(array: np.ndarray) -> bytes:
    """The bits of one element; ``ZERO`` if all are 0."""
    if array.dtype.kind in "OSU":
        item = array.reshape(-1)[0]
        return item if isinstance(item, bytes) else str(item).encode()
    content = array.tobytes()
    return content if any(content) else ZERO


def sum_of(first: Sequence[Amounts], second: Sequence[Amounts]) -> list[Amounts]:
    """The sums of two Pads' amounts, for each axis."""
    return [Amounts(a.begin + b.begin, a.end + b.end) for a, b in zip(first, second, strict=True)]
