"""Caffe2's PadImage, which its ONNX frontend leaves in the default domain; attributes give the amounts of two axes.

It extends the uncropped data (FULL of P3) and reflects once, so it is OpenVINOPad_12.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Match, Replacement, Unconvertible, matched, string_attribute
from padops.plural import plural

OP_TYPE = "PadImage"
OP = "OpenVINOPad_12"
FORM = f"Caffe2 {OP_TYPE}"
MODES = ("constant", "reflect", "edge")
SIDES = ("pad_t", "pad_l", "pad_b", "pad_r")
FIRST_AXIS = {"NCHW": 2, "NHWC": 1}  # of the two that are padded

# The attributes and their types. The operator also reads the attributes of convolutions; they must be NEUTRAL.
INT, INTS = ir.AttributeType.INT, ir.AttributeType.INTS
ATTRIBUTES = {
    **dict.fromkeys(("pad", *SIDES, "stride", "stride_h", "stride_w", "dilation", "dilation_h", "dilation_w"), INT),
    **dict.fromkeys(("pads", "strides", "dilations"), INTS),
    **dict.fromkeys(("legacy_pad", "global_pooling"), INT),
    "mode": ir.AttributeType.STRING,
    "order": ir.AttributeType.STRING,
    "value": ir.AttributeType.FLOAT,
}
NEUTRAL = {"stride": 1, "strides": 1, "dilation": 1, "dilations": 1, "legacy_pad": 0, "global_pooling": 0}


def match_caffe2_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises the operator with any form of amounts."""
    node = site.node
    if node.domain != "" or node.op_type != OP_TYPE or node.op_identifier() in site.scope.model.functions:
        return None
    return matched(FORM, lambda notes: Match(FORM, _replacement(node, types)))


def _replacement(node: ir.Node, types: Types) -> Replacement:
    if len(node.inputs) != 1 or (data := node.inputs[0]) is None:
        raise Unconvertible(f"it has {plural(len(node.inputs), 'input')}, expected 1")
    for name, attribute in node.attributes.items():
        if name not in ATTRIBUTES:
            raise Unconvertible(f"its attribute {name} is unknown")
        if attribute.is_ref() or attribute.type != ATTRIBUTES[name]:
            raise Unconvertible(
                f"its attribute {name} is of type {attribute.type.name}, expected {ATTRIBUTES[name].name}"
            )
        neutral = NEUTRAL.get(name.removesuffix("_h").removesuffix("_w"))
        if neutral is not None and {neutral} != set(np.atleast_1d(attribute.value).tolist()):
            raise Unconvertible(f"its attribute {name} is {attribute.value}, expected {neutral}")
    if (type_name := types.name(data, *node.outputs)) not in (None, "float"):
        raise Unconvertible(f"its data are {type_name}, and Caffe2 pads float alone")
    mode = string_attribute(node, "mode", "constant")
    if mode not in MODES:
        raise Unconvertible(f"mode '{mode}' is not one of {', '.join(MODES)} [P9]")
    order = string_attribute(node, "order", "NCHW")
    if order not in FIRST_AXIS:
        raise Unconvertible(f"order '{order}' is not one of {', '.join(FIRST_AXIS)}")
    begins, ends = np.zeros((2, 4), np.int64)
    first = FIRST_AXIS[order]
    amounts = _amounts(node)
    begins[first : first + 2], ends[first : first + 2] = amounts[:2], amounts[2:]
    value = np.float32(node.attributes["value"].value if "value" in node.attributes else 0)
    fill = None if value == 0 and not np.signbit(value) or mode != "constant" else np.array(value)
    return Replacement(OP, (data, begins, ends, fill), {"pad_mode": ir.AttrString("pad_mode", mode)})


def _amounts(node: ir.Node) -> list[int]:
    """The amounts: top, left, bottom, right."""
    given = {name: node.attributes[name].value for name in ("pads", "pad", *SIDES) if name in node.attributes}
    sides = [name for name in SIDES if name in given]
    if len(given) - len(sides) + bool(sides) > 1:
        raise Unconvertible(f"its amounts are given more than once: {', '.join(given)}")
    if "pad" in given:
        return [given["pad"]] * 4
    if sides and len(sides) < len(SIDES):
        raise Unconvertible(f"of its amounts it has {', '.join(sides)}, expected {', '.join(SIDES)}")
    amounts = [given[name] for name in SIDES] if sides else list(given.get("pads", [0] * 4))
    if len(amounts) != 4:
        raise Unconvertible(f"its attribute pads has {plural(len(amounts), 'value')}, expected 4")
    return amounts
