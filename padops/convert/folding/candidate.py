"""A Pad that may be folded, and what the rules ask of it."""

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

ZERO = b""  # the bits of a fill that has none
NOTHING = Amounts(0, 0)


@dataclass(frozen=True)
class Change:
    """What has changed: the nodes, and what there is to say."""

    touched: tuple[ir.Node, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A Pad.

    Attributes:
        site: The node.
        match: What its source says of it.
        info: What is known of it.
        amounts: Of each axis, as ``PadInfo.amounts``.
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
        """The bits of its one element, ``ZERO`` where all are 0; the value that it is, where that is all that is known."""
        if self.info.has_default_fill:
            return ZERO
        array = self.info.known_fill
        if array is not None:
            return bits_of(array) if array.size == 1 else None
        value = self.info.input(self.op.fill)
        return value if isinstance(value, ir.Value) else None

    @property
    def element(self) -> np.ndarray | None:
        """The fill as an array of rank 0; None where it is the default, or not known."""
        array = self.info.known_fill
        return None if array is None or array.size != 1 else array.reshape(())

    @property
    def changes_nothing(self) -> bool:
        """Whether all amounts are known and 0, and the Pad never refuses them."""
        # nGraph wants an element to extend from even where it is not needed (P4).
        refuses = self.op.limit is Limit.NGRAPH and self.mode not in (Mode.CONSTANT, Mode.SYMMETRIC)
        return not refuses and self.amounts is not None and all(amounts == NOTHING for amounts in self.amounts)

    @property
    def only_adds(self) -> bool:
        """Whether the amounts are known and none is negative, nor any of an interior."""
        return self.amounts is not None and all(
            amounts.begin >= 0 <= amounts.end and not amounts.interior for amounts in self.amounts
        )


def candidate(site: NodeSite, match: Match, types: Types) -> Candidate | None:
    """The Pad of a match with a Replacement; None where it breaks a rule, which is to be said where it runs.

    Args:
        site: The node.
        match: What its source says of it; its replacement is a ``Replacement``.
        types: Of the model.
    """
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
    """The bits of one element, ``ZERO`` where all of them are 0."""
    if array.dtype.kind in "OSU":
        item = array.reshape(-1)[0]
        return item if isinstance(item, bytes) else str(item).encode()
    content = array.tobytes()
    return content if any(content) else ZERO


def sum_of(first: Sequence[Amounts], second: Sequence[Amounts]) -> list[Amounts]:
    """The amounts of one axis after the other, added."""
    return [Amounts(a.begin + b.begin, a.end + b.end) for a, b in zip(first, second, strict=True)]
