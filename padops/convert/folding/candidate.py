"""A Pad that may be folded, with the facts that the rules need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import onnx_ir as ir

from padops.convert.analysis import Pad
from padops.convert.matchers import openvino
from padops.convert.model.graphs import Constants, NodeSite
from padops.convert.model.types import remove_unread
from padops.convert.pads.match import MICROSOFT, Replacement
from padops.convert.pads.pad_info import PadInfo
from padops.spec.dialects import DOMAIN
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
    """A Pad that breaks no rule, and whose node alone is the Pad."""

    found: Pad
    info: PadInfo
    amounts: tuple[Amounts, ...] | None  # the amounts of each axis, as ``PadInfo.amounts``

    @property
    def site(self) -> NodeSite:
        return self.found.site

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
        value = self.info.input(self.info.op.fill)
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
        refuses = self.info.op.limit is Limit.NGRAPH and self.info.mode not in (Mode.CONSTANT, Mode.SYMMETRIC)
        return not refuses and self.amounts is not None and all(amounts == NOTHING for amounts in self.amounts)

    @property
    def only_adds(self) -> bool:
        """Whether the amounts are known, none is negative, and there is no interior."""
        return self.amounts is not None and all(
            amounts.begin >= 0 <= amounts.end and not amounts.interior for amounts in self.amounts
        )


def candidate(pad: Pad) -> Candidate | None:
    """A Pad that one node replaces; None if it breaks a rule: it stays, so that running it gives the error."""
    if not isinstance(pad.match.replacement, Replacement) or pad.info is None or pad.broken is not None:
        return None
    try:
        return Candidate(pad, pad.info, pad.info.amounts)
    except PadError:
        return None


def bits_of(array: np.ndarray) -> bytes:
    """The bits of one element; ``ZERO`` if all are 0."""
    if array.dtype.kind in "OSU":
        item = array.reshape(-1)[0]
        return item if isinstance(item, bytes) else str(item).encode()
    content = array.tobytes()
    return content if any(content) else ZERO


ATTRIBUTES = ("pads", "paddings")


def write_amounts(pad: Candidate, begins: list[int], ends: list[int], constants: Constants) -> bool:
    """Replaces the node's amounts by these, one for every axis; returns False if its form cannot have them."""
    node, form = pad.site.node, _form(pad)
    if form is None:
        return False
    if form in ATTRIBUTES:
        node.attributes.add(ir.AttrInt64s(form, begins + ends))
    elif form == "below and above":
        node.attributes.add(ir.AttrInt64s("padding_below", begins))
        node.attributes.add(ir.AttrInt64s("padding_above", ends))
    elif form == "begin and end":
        set_input(pad, 1, _vector(begins, pad, "pads_begin", constants))
        set_input(pad, 2, _vector(ends, pad, "pads_end", constants))
    else:
        set_input(pad, 1, _vector(begins + ends, pad, "pads", constants))
        set_input(pad, 3, None)
    return True


def _form(pad: Candidate) -> str | None:
    """The form of a node's amounts; None if amounts cannot be written."""
    node, op = pad.site.node, pad.info.op.name
    if node.domain == DOMAIN and op in ("Pad_1", "Pad_2"):
        return "paddings" if op == "Pad_1" else "pads"
    if "padding_below" in node.attributes:
        return "below and above"
    if node.domain in (DOMAIN, openvino.DOMAIN):
        return {"O": "begin and end", "P": "input"}.get(op[0])
    if node.domain not in ("", MICROSOFT):
        return None
    written = [name for name in ATTRIBUTES if name in node.attributes]
    has_input = len(node.inputs) > 1 and node.inputs[1] is not None
    if len(written) + has_input != 1:
        return None
    return "input" if has_input else written[0]


def _vector(values: Sequence[int], pad: Candidate, role: str, constants: Constants) -> ir.Value:
    return constants.add(np.array(values, np.int64), pad.site, role)


def set_input(pad: Candidate, position: int, value: ir.Value | None) -> None:
    """Sets or removes an input of the node, and removes the nodes that only computed the former one."""
    node = pad.site.node
    if position >= len(node.inputs):
        if value is None:
            return
        node.resize_inputs(position + 1)
    former = node.inputs[position]
    node.replace_input_with(position, value)
    count = len(node.inputs)
    while node.inputs[count - 1] is None:
        count -= 1
    node.resize_inputs(count)
    remove_unread([former] if former is not None else [], pad.site.scope.index)
