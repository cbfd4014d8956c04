"""A Pad that may be folded, and what around it takes it in: a convolution or pooling that can pad, or two Casts.

Measured: a folded model against the same model with ONNX's own Pad and with padops' Pad:

- **Conv** (float, float16): the bits of ONNX's own Pad at every level, infinite weights, NaN and -0 included: from
  level basic on, ONNX Runtime folds ONNX's Pad by itself. Behind a Pad of padops, level all differs for infinite
  weights (times zeros they give NaN) and for sums that underflow to -0: the blocked kernels skip their own padding.
- **ConvInteger, QLinearConv**: equal at every level, if the fill is the zero point.
- **AveragePool** (float, float16): equal at every level, if the padding counts: the node has ``count_include_pad`` or
  no pads of its own; and no release miscounts the pads (``is_miscounted``). (The folding of onnxruntime 1.20.1 forgets
  to count; a converted model does not.)
- **MaxPool** of int8 and uint8: equal at every level, if the fill is the lowest value.

Poolings refuse an axis of 0 elements, with any pads; behind ONNX's own Pad they fail too, from level basic on.

Not folded, because bits differ:

- **MaxPool** of floats. With a fill of minus infinity and a NaN, the order decides which of the two stays; the lowest
  finite number is more than minus infinity. From level basic on, ONNX Runtime even folds a fill of 0, with other
  results; the Pad of a converted model is safe from this.
- ``ceil_mode``: the last window may begin in the padding; ONNX Runtime drops such a window only if it pads by itself.
- **ConvTranspose**: its pads crop the output. Zeros around the input would be negative pads, which ONNX Runtime
  refuses. Smaller pads, if the node has some, differ too: infinite weights then give NaN in one model only.
- A fill of -0, or with unknown bits; negative amounts; padded batches or channels.

**Casts.** Older exporters wrote Pads of float16 and int8 between a Cast to a wider type and the Cast back. Every mode
only copies elements. So the three nodes equal a Pad of the narrow type, if the wide type has all values of
the narrow one, and the narrow one has the fill. ONNX Runtime's Casts keep the sign of a NaN and may lose its payload;
the Pad keeps both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

import numpy as np
import onnx_ir as ir

from padops.convert.analysis import Pad
from padops.convert.matchers import openvino
from padops.convert.model.graphs import Constants, Index, NodeSite, Scope, attribute_value, constant, take_out
from padops.convert.model.types import Types, remove_unread
from padops.convert.pads.match import MICROSOFT
from padops.convert.pads.pad_info import PadInfo
from padops.convert.pads.window_operators import (
    LOWEST_IS_EXACT,
    MISCOUNTED,
    WINDOW_OPERATORS,
    WindowOperator,
    is_miscounted,
)
from padops.convert.runtimes.builtin import FIRST_WITH_INPUTS, has_type
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_name, by_onnx
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
    if pad.match.apply is not None or pad.info is None or pad.broken is not None:
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
        return True
    if form == "below and above":
        node.attributes.add(ir.AttrInt64s("padding_below", begins))
        node.attributes.add(ir.AttrInt64s("padding_above", ends))
        return True
    whole = {"pads": begins + ends} if form == "input" else {"pads_begin": begins, "pads_end": ends}
    for at, (role, values) in enumerate(whole.items(), 1):
        set_input(pad, at, constants.add(np.array(values, np.int64), pad.site, role))
    if form == "input":
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


class Refusal(Exception):
    """A reader of the padded data cannot pad by itself; the message says why."""


def consumers_of(pad: Candidate, types: Types) -> list[tuple[ir.Node, list[int]]]:
    """The readers of the padded data, if all can take the amounts, and their new pads; empty if others read."""
    if pad.info.mode is not Mode.CONSTANT or pad.changes_nothing or pad.output.is_graph_output():
        return []
    uses = list(pad.output.uses())
    if not uses or any(use.idx != 0 or not is_consumer(use.node) for use in uses):
        return []
    return [_consumer(use.node, pad, types) for use in uses]


def is_consumer(node: ir.Node) -> bool:
    """Whether a node is of an operator that may take the amounts, or whose ``no_fold`` says why not."""
    operator = WINDOW_OPERATORS.get((node.domain, node.op_type))
    return operator is not None and (operator.folds or operator.no_fold is not None)


def apply(node: ir.Node, pads: list[int]) -> None:
    node.attributes.pop("auto_pad", None)
    node.attributes.add(ir.AttrInt64s("pads", pads))
    if node.op_type == "AveragePool":
        node.attributes.add(ir.AttrInt64("count_include_pad", 1))


def _consumer(node: ir.Node, pad: Candidate, types: Types) -> tuple[ir.Node, list[int]]:
    """The node with its new pads; raises ``Refusal`` if it cannot take the amounts."""
    operator = WINDOW_OPERATORS[node.domain, node.op_type]
    name = f"{node.op_type} {node.name or node.outputs[0].name}"
    if operator.no_fold is not None:
        raise Refusal(f"{name}: {operator.no_fold}")
    if pad.amounts is None:
        raise Refusal(f"{name}: the amounts are not known")
    if not pad.only_adds:
        raise Refusal(f"{name}: not all amounts are positive or 0")
    if len(pad.amounts) < 3 or pad.amounts[0].begin or pad.amounts[0].end:
        raise Refusal(f"{name}: the batch is padded")
    if pad.amounts[1].begin or pad.amounts[1].end:
        raise Refusal(f"{name}: the channels are padded")
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        raise Refusal(f"{name}: its attributes are given by the caller of the function")
    spatial = pad.amounts[2:]
    own = _own_pads(node, len(spatial), name)
    pads = [a + b for a, b in zip(own, [*(s.begin for s in spatial), *(s.end for s in spatial)], strict=True)]
    _check_fill(node, operator, pad, types, name)
    if operator.pooling:
        _check_pooling(node, own, pads, name)
        if 0 in (types.shape(pad.info.data) or ())[2:]:
            raise Refusal(f"{name}: ONNX Runtime refuses to pool an axis of 0 elements, whatever its pads")
    if (pad.site.scope.opset or 0) < operator.since:
        raise Refusal(f"{name}: it counts its padding from opset {operator.since} on")
    if is_miscounted(node.op_type, pad.site.scope.opset, pads):
        raise Refusal(f"{name}: {MISCOUNTED} ({pads})")
    return node, pads


def _own_pads(node: ir.Node, count: int, name: str) -> Sequence[int]:
    """The pads that a node has already; raises ``Refusal`` if they are no valid numbers, as with ``auto_pad`` SAME."""
    attribute = node.attributes.get("auto_pad")
    mode = "" if attribute is None else attribute.value
    if mode not in ("", "NOTSET", "VALID"):
        raise Refusal(f"{name}: auto_pad is {mode}")
    pads = node.attributes["pads"].value if "pads" in node.attributes else ()
    if mode == "VALID" and any(pads):
        raise Refusal(f"{name}: auto_pad and pads are given together")
    if pads and (len(pads) != 2 * count or min(pads) < 0):
        raise Refusal(f"{name}: its pads are {list(pads)}")
    return pads or [0] * (2 * count)


def _check_fill(node: ir.Node, operator: WindowOperator, pad: Candidate, types: Types, name: str) -> None:
    """Refuses a fill that differs from the value that the operator reads outside its data."""
    if operator.outside == "lowest":
        if pad.info.type not in LOWEST_IS_EXACT:
            raise Refusal(f"{name}: which of a fill and a NaN is the largest depends on the order")
        if pad.fill != bits_of(np.array(np.iinfo(by_name(pad.info.type).numpy).min, by_name(pad.info.type).numpy)):
            raise Refusal(f"{name}: the fill is not the lowest value of {pad.info.type}")
        return
    wanted: bytes | ir.Value | None = ZERO
    if operator.outside == "zero point":
        wanted = _zero_point(node, operator, pad.site.scope)
    if wanted is None or pad.fill is None or pad.fill != wanted:
        what = "the zero point" if operator.outside == "zero point" else "0"
        raise Refusal(f"{name}: the fill is not {what}")


def _zero_point(node: ir.Node, operator: WindowOperator, scope: Scope) -> bytes | ir.Value | None:
    """The zero point, in the form of ``Candidate.fill``."""
    position = operator.zero_point
    value = node.inputs[position] if position is not None and position < len(node.inputs) else None
    if value is None:
        return ZERO
    array = constant(value, scope)
    if array is None:
        return value
    return bits_of(array) if array.size == 1 else None


def _check_pooling(node: ir.Node, own: Sequence[int], pads: Sequence[int], name: str) -> None:
    """Refuses a pooling for which its own padding would differ from padded data."""
    if len(node.outputs) > 1 and node.outputs[1].name:
        raise Refusal(f"{name}: it gives indices into the padded data")
    if "ceil_mode" in node.attributes and node.attributes["ceil_mode"].value:
        raise Refusal(f"{name}: with ceil_mode the last window may begin in the padding")
    counts = node.attributes["count_include_pad"].value if "count_include_pad" in node.attributes else 0
    if node.op_type == "AveragePool" and any(own) and not counts:
        raise Refusal(f"{name}: it does not count what it pads itself")
    kernel = node.attributes["kernel_shape"].value if "kernel_shape" in node.attributes else ()
    if len(kernel) * 2 != len(pads) or any(pad >= size for pad, size in zip(pads, (*kernel, *kernel))):
        raise Refusal(f"{name}: ONNX Runtime takes no pads as large as the kernel")


_FLOATS = ("float", "double")
# For each narrow type, the types that have all of its values and to which ONNX Runtime casts exactly.
WIDER: dict[str, tuple[str, ...]] = {
    "float16": _FLOATS,
    "bfloat16": _FLOATS,
    "float": ("double",),
    "int8": ("int16", "int32", "int64", "float16", *_FLOATS),
    "uint8": ("int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", *_FLOATS),
    "int16": ("int32", "int64", *_FLOATS),
    "uint16": ("int32", "uint32", "int64", "uint64", *_FLOATS),
    "int32": ("int64", "double"),
    "uint32": ("int64", "uint64", "double"),
    "bool": ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", *_FLOATS),
}


def drop_casts(pad: Candidate, target: str, types: Types, constants: Constants) -> Change | None:
    """Turns a Pad between two Casts into a Pad of the narrow type; None if it is not between Casts, or has to stay."""
    if target == "onnx":  # ONNX's Pad lacks the narrow types: lowering would write the Casts again
        return None
    node, before = pad.site.node, pad.info.data.producer()
    index = pad.site.scope.index
    if not is_cast(before) or not _is_read_once(pad.info.data, index) or before.graph is not node.graph:
        return None
    after = next(iter(pad.output.uses())).node if _is_read_once(pad.output, index) else None
    if not is_cast(after) or after.graph is not node.graph:
        return None
    narrow, wide = types.name(before.inputs[0]), _cast_type(before)
    if narrow is None or _cast_type(after) != narrow or wide not in WIDER.get(narrow, ()):
        return None
    if node.domain == pyop_node.DOMAIN or (target == "pyop" and pyop_node.refusal(narrow) is not None):
        return None
    if node.domain == DOMAIN and narrow not in pad.info.op.types or not _fits(pad, narrow):
        return None
    opset = pad.site.scope.opset
    if target == "padops" and opset is not None and opset < FIRST_WITH_INPUTS and not has_type(narrow, opset):
        return None  # the Pad between the Casts may have a fallback function
    _retype(pad, narrow, constants)
    node.replace_input_with(0, before.inputs[0])
    take_out(before)
    # The node replaces the Cast behind it: its output takes the name of the Cast's.
    made, former = pad.output, after.outputs[0]
    name, shape = former.name, former.shape
    former.replace_all_uses_with(made, replace_graph_outputs=True)
    take_out(after)
    index.rename(made, name)
    made.type = ir.TensorType(ir.DataType(by_name(narrow).onnx))
    made.shape = made.shape if shape is None else shape
    types.invalidate(made)
    first, second = before.name or "Cast", after.name or "Cast"
    return Change((node,), (f"of {narrow}, without {first} to {wide} and {second} back",))


def is_cast(node: ir.Node | None) -> TypeGuard[ir.Node]:
    if node is None or node.domain != "" or node.op_type != "Cast" or node.inputs[0] is None:
        return False
    return attribute_value(node, "to", ir.AttributeType.INT) is not None


def _cast_type(node: ir.Node) -> str | None:
    row = by_onnx(int(node.attributes["to"].value))
    return row.name if row else None


def _is_read_once(value: ir.Value, index: Index) -> bool:
    return len(index.last_uses(value)) == 1 and not value.is_graph_output()


def _fits(pad: Candidate, narrow: str) -> bool:
    """Whether the narrow type has the fill, if the mode reads it."""
    if pad.info.mode is None or pad.fill is None:
        return False
    if pad.info.mode is not Mode.CONSTANT or not pad.fill:
        return True
    if pad.element is None:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        there = pad.element.astype(by_name(narrow).numpy)
        back = there.astype(pad.element.dtype)
    return bool(back == pad.element)


def _retype(pad: Candidate, narrow: str, constants: Constants) -> None:
    """Converts a fill that is an input to the narrow type."""
    position = pad.info.op.input_index(pad.info.op.fill)
    node = pad.site.node
    if position is None or position >= len(node.inputs) or node.inputs[position] is None:
        return
    dtype = by_name(narrow).numpy
    if pad.info.mode is Mode.CONSTANT and pad.element is not None:
        fill = pad.element.astype(dtype)
    elif pad.info.op.inputs[position].optional:
        set_input(pad, position, None)
        return
    else:
        fill = np.zeros((), dtype)
    set_input(pad, position, constants.add(fill, pad.site, "fill"))
