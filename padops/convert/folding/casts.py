"""A Pad between a Cast to a wider type and the Cast back: older exporters wrote Pads of float16 and int8 so.

Every mode only copies elements. So the three nodes equal a Pad of the narrow type, if the wide type has all values of
the narrow one, and the narrow one has the fill. ONNX Runtime's Casts keep the sign of a NaN and may lose its payload;
the Pad keeps both.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
import onnx_ir as ir

from padops.convert.folding.candidate import Candidate, Change, set_input
from padops.convert.model.constants import Constants
from padops.convert.model.graphs import Index, NodeSite, attribute_value, take_out
from padops.convert.model.types import Types
from padops.convert.runtimes.builtin_support import FIRST_WITH_INPUTS, has_type
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_name, by_onnx
from padops.spec.plan import Mode

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
    if not _has_type(pad, narrow, target) or not _fits(pad, narrow):
        return None
    opset = pad.site.scope.opset
    if target == "padops" and opset is not None and opset < FIRST_WITH_INPUTS and not has_type(narrow, opset):
        return None  # the Pad between the Casts may have a fallback function
    _retype(pad, narrow, constants)
    data = before.inputs[0]
    node.replace_input_with(0, data)
    take_out(before)
    _take_over(pad.site, after, ir.TensorType(ir.DataType(by_name(narrow).onnx)))
    types.invalidate(pad.output)
    first, second = before.name or "Cast", after.name or "Cast"
    return Change((node,), (f"of {narrow}, without {first} to {wide} and {second} back",))


def is_cast(node: ir.Node | None) -> TypeGuard[ir.Node]:
    """Whether a node is a Cast whose type is known."""
    if node is None or node.domain != "" or node.op_type != "Cast" or node.inputs[0] is None:
        return False
    return attribute_value(node, "to", ir.AttributeType.INT) is not None


def _cast_type(node: ir.Node) -> str | None:
    row = by_onnx(int(node.attributes["to"].value))
    return row.name if row else None


def _is_read_once(value: ir.Value, index: Index) -> bool:
    return len(index.last_uses(value)) == 1 and not value.is_graph_output()


def _has_type(pad: Candidate, narrow: str, target: str) -> bool:
    """Whether the Pad's operator has the narrow type."""
    node = pad.site.node
    if node.domain == pyop_node.DOMAIN or (target == "pyop" and pyop_node.refusal(narrow) is not None):
        return False
    return node.domain != DOMAIN or narrow in pad.info.op.types


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


def _take_over(site: NodeSite, after: ir.Node, kind: ir.TensorType) -> None:
    """Lets the node replace the Cast behind it: its output takes the name of the Cast's."""
    made, former = site.node.outputs[0], after.outputs[0]
    name, shape = former.name, former.shape
    former.replace_all_uses_with(made, replace_graph_outputs=True)
    take_out(after)
    site.scope.index.rename(made, name)
    made.type = kind
    if shape is not None:
        made.shape = shape
