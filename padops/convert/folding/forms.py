"""Writes the amounts and the fill of a Pad into its node, in the node's own form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from padops.convert.folding.candidate import Candidate
from padops.convert.model.constants import Constants
from padops.convert.model.evaluate import remove_unread
from padops.convert.pads.match import MICROSOFT
from padops.convert.sources import openvino
from padops.spec.dialects import DOMAIN
from padops.spec.plan import Amounts

ATTRIBUTES = ("pads", "paddings")


def can_write_amounts(pad: Candidate) -> bool:
    """Whether amounts can be written in the form of a Pad."""
    return _form(pad) is not None


def write_amounts(pad: Candidate, amounts: Sequence[Amounts], constants: Constants) -> None:
    """Replaces the node's amounts by these, one for every axis."""
    node = pad.site.node
    begins, ends = [a.begin for a in amounts], [a.end for a in amounts]
    form = _form(pad)
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


def _form(pad: Candidate) -> str | None:
    """The form of a node's amounts; None if amounts cannot be written."""
    node, op = pad.site.node, pad.op.name
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
