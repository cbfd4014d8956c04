"""Pads of other frameworks: TensorFlow's, OpenVINO's and nGraph's, Caffe2's.

**TensorFlow**: nodes that tf2onnx leaves untranslated at the user's request. ``--custom-ops
MirrorPad:DOMAIN,PadV2:DOMAIN,Pad:DOMAIN`` writes nodes with TensorFlow's inputs and attributes in the user's domain;
without ``:DOMAIN``, in a domain of tf2onnx. In the branches of an If, tf2onnx 1.17.0 loses the domain, so nodes of the
default domain are recognised as well. All become OpenVINOPad_12, which accepts amounts of any integer type at run time,
and reaches as far as TensorFlow: n - 1 elements for REFLECT and n for SYMMETRIC, where n is the size of the axis (P4).

**OpenVINO**, as ``ir/`` reads Pads from an IR, and **nGraph**, its predecessor. The attributes ``padding_below`` and
``padding_above`` distinguish nGraph's Pads from the Pads of other frameworks, in a domain that the user has named or in
the domain ``ngraph``.

**Caffe2**'s PadImage, which Caffe2's ONNX frontend leaves in the default domain; attributes hold the amounts of two
axes. It extends the uncropped data (FULL of P3) and reflects once, so it is OpenVINOPad_12.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite, attribute_value
from padops.convert.model.types import Types, evaluate
from padops.convert.pads.match import (
    Applied,
    Match,
    Replacement,
    Unconvertible,
    check_node,
    check_type,
    in_mode,
    matched,
    type_of,
)
from padops.convert.pads.pad_info import Operand
from padops.plural import plural
from padops.spec.dialects import OPS

OWN_DOMAIN = "ai.onnx.converters.tensorflow"  # tf2onnx's domain of custom nodes if the user named none
MODES = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}
INPUTS = {"MirrorPad": 2, "PadV2": 3, "Pad": 2}
OF_TENSORFLOW = ("T", "Tpaddings")  # attributes that only repeat the types of the inputs
OP = "OpenVINOPad_12"
ROLES = ("pads_begin", "pads_end")


def match_tensorflow_pad(site: NodeSite, types: Types, domains: Collection[str]) -> Match | None:
    """Recognise MirrorPad, PadV2 and Pad of the user's ``domains``, of tf2onnx's domain, and with a lost domain."""
    node = site.node
    if node.op_type not in INPUTS or node.op_identifier() in site.scope.model.functions:
        return None
    if node.domain not in (*domains, OWN_DOMAIN) and not _has_lost_its_domain(site, types, domains):
        return None
    if node.op_type == "Pad" and (set(node.attributes) - set(OF_TENSORFLOW) or len(node.inputs) != 2):
        return None  # of another framework

    return matched(f"TensorFlow {node.op_type} in the domain '{node.domain}'", lambda: _of_tensorflow(site, types))


def _has_lost_its_domain(site: NodeSite, types: Types, domains: Collection[str]) -> bool:
    """Return whether a node of the default domain is TensorFlow's, if the user has named a domain of TensorFlow."""
    node = site.node
    if node.domain != "" or not domains:
        return False
    if node.op_type != "Pad":  # ONNX has no MirrorPad and no PadV2
        return True
    shape = types.shape(node.inputs[1]) if len(node.inputs) == 2 and not node.attributes else None
    if shape is None or len(shape) != 2 or shape[1] != 2:
        return False
    return shape[0] != 1 or types.name(node.inputs[1]) == "int32"  # ONNX's amounts may be [1, 2], but only int64


def _of_tensorflow(site: NodeSite, types: Types) -> Match | Replacement:
    node, mode = site.node, "constant"
    mirrors = node.op_type == "MirrorPad"
    check_node(node, (INPUTS[node.op_type],) * 2, (*OF_TENSORFLOW, "mode") if mirrors else OF_TENSORFLOW)
    if mirrors and (mode := MODES.get(text := attribute_value(node, "mode", ir.AttributeType.STRING, ""), "")) == "":
        raise Unconvertible(f"mode {text!r} is not one of {', '.join(MODES)}")
    check_type(types.name(node.inputs[0], *node.outputs), OPS[OP])
    array, data = evaluate(node.inputs[1], site.scope, types), types.shape(node.inputs[0])
    if array is not None and array.dtype.kind not in "iu":
        raise Unconvertible(f"its input paddings is of type {type_of(array)}, expected integers")
    shape = types.shape(node.inputs[1]) if array is None else list(array.shape)
    rank = None if data is None else len(data)
    fits = shape is None or (len(shape) == 2 and shape[1] in (2, None) and (rank is None or shape[0] in (rank, None)))
    if shape is not None and not fits:
        raise Unconvertible(f"its paddings have shape {list(shape)}, expected [{'rank' if rank is None else rank}, 2]")
    if array is not None and (array < 0).any():
        raise Unconvertible(f"its paddings are {array.tolist()}, and TensorFlow takes no negative ones")
    fill = node.inputs[2] if node.op_type == "PadV2" else None

    def pad(columns: Iterable[Operand]) -> Replacement:
        return in_mode(OP, mode, node.inputs[0], *columns, fill)

    if array is not None:
        return pad(np.ascontiguousarray(column, np.int64) for column in array.T)

    def split(site: NodeSite, constants: Constants) -> Applied:
        """Split unknown paddings into begins and ends, by two nodes in front of the node."""
        at = [constants.add(np.array(i, np.int64), site, f"{role}_column") for i, role in enumerate(ROLES)]
        axis = [ir.AttrInt64("axis", 1)]
        made = [constants.insert("Gather", [node.inputs[1], i], site, role, axis) for i, role in zip(at, ROLES)]
        return Applied([node], site, pad(made))

    return Match("", pad(ir.Value(name=role) for role in ROLES), split)


DOMAIN = "ai.intel.openvino"
VERSIONS = {"opset1": 1, "opset12": 12}


def match_openvino_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognise a Pad layer. Its amounts, of any integer type, constant or not, and its fill stay unchanged."""
    node = site.node
    if node.domain != DOMAIN or node.op_type != "Pad":
        return None
    version = attribute_value(node, "version", ir.AttributeType.STRING)

    def read() -> Replacement:
        if version not in VERSIONS:
            raise Unconvertible(f"its version is '{version}', expected {' or '.join(VERSIONS)}")
        op = OPS[f"OpenVINOPad_{VERSIONS[version]}"]
        check_node(node, (3, 4), (op.mode, "version"))
        mode = attribute_value(node, op.mode, ir.AttributeType.STRING)
        if mode not in op.modes:
            raise Unconvertible(f"{op.mode} '{mode}' is not one of {', '.join(op.modes)} [P9]")
        return in_mode(op.name, mode, *node.inputs)

    return matched(f"OpenVINO Pad of {version or 'an unknown opset'}", read)


NGRAPH = "ngraph"
NGRAPH_PAD = OPS["NGraphPad_0"]
AMOUNTS = ("padding_below", "padding_above", "padding_interior")


def match_ngraph_pad(site: NodeSite, types: Types, domains: Collection[str] = ()) -> Match | None:
    """Recognise a node with nGraph's attributes, in the user's ``domains`` or the domain ``ngraph``."""
    node, op = site.node, NGRAPH_PAD
    if node.op_type != "Pad" or node.domain not in (*domains, NGRAPH) or not set(AMOUNTS[:2]) & set(node.attributes):
        return None

    def read() -> Replacement:
        check_node(node, (2, 2), (*AMOUNTS, op.mode), **dict.fromkeys(AMOUNTS, ir.AttributeType.INTS))
        for name in AMOUNTS[:2]:
            if name not in node.attributes:
                raise Unconvertible(f"it has no attribute {name}")
        check_type(types.name(*node.inputs, *node.outputs), op)
        attributes = {name: node.attributes[name] for name in AMOUNTS if name in node.attributes}
        if op.mode in node.attributes:
            attributes[op.mode] = _ngraph_mode(node.attributes[op.mode])
        return Replacement(op.name, tuple(node.inputs), attributes)

    return matched(f"nGraph Pad in the domain '{node.domain}'", read)


def _ngraph_mode(attribute: ir.Attr) -> ir.Attr:
    """Return the mode by its name; nGraph's own serializer writes its number in a C++ enumeration."""
    if attribute.is_ref():
        return attribute
    value = attribute.value
    if attribute.type == ir.AttributeType.INT and 0 <= value < len(NGRAPH_PAD.modes):
        return ir.AttrString(NGRAPH_PAD.mode, NGRAPH_PAD.modes[value])
    if attribute.type == ir.AttributeType.STRING and value.upper() in NGRAPH_PAD.modes:
        return ir.AttrString(NGRAPH_PAD.mode, value.upper())
    raise Unconvertible(f"{NGRAPH_PAD.mode} {value!r} is not one of {', '.join(NGRAPH_PAD.modes)} [P9]")


OP_TYPE = "PadImage"
IMAGE_FORM = f"Caffe2 {OP_TYPE}"
IMAGE_MODES = ("constant", "reflect", "edge")
SIDES = ("pad_t", "pad_l", "pad_b", "pad_r")
FIRST_AXIS = {"NCHW": 2, "NHWC": 1}  # the first of the two padded axes

# The attributes and their types. The operator also reads the attributes of convolutions; they must be NEUTRAL.
INT, INTS = ir.AttributeType.INT, ir.AttributeType.INTS
IMAGE_ATTRIBUTES = {
    **dict.fromkeys(("pad", *SIDES, "stride", "stride_h", "stride_w", "dilation", "dilation_h", "dilation_w"), INT),
    **dict.fromkeys(("pads", "strides", "dilations"), INTS),
    **dict.fromkeys(("legacy_pad", "global_pooling"), INT),
    **dict.fromkeys(("mode", "order"), ir.AttributeType.STRING),
    "value": ir.AttributeType.FLOAT,
}
NEUTRAL = {"stride": 1, "strides": 1, "dilation": 1, "dilations": 1, "legacy_pad": 0, "global_pooling": 0}


def match_caffe2_pad(site: NodeSite, types: Types) -> Match | None:
    node = site.node
    if node.domain != "" or node.op_type != OP_TYPE or node.op_identifier() in site.scope.model.functions:
        return None
    return matched(IMAGE_FORM, lambda: _of_image(node, types))


def _of_image(node: ir.Node, types: Types) -> Replacement:
    check_node(node, (1, 1), IMAGE_ATTRIBUTES, **IMAGE_ATTRIBUTES)
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            raise Unconvertible(f"its attribute {name} is given by the caller of the function")
        neutral = NEUTRAL.get(name.removesuffix("_h").removesuffix("_w"))
        if neutral is not None and {neutral} != set(np.atleast_1d(attribute.value).tolist()):
            raise Unconvertible(f"its attribute {name} is {attribute.value}, expected {neutral}")
    if (type_name := types.name(node.inputs[0], *node.outputs)) not in (None, "float"):
        raise Unconvertible(f"its data are {type_name}, and Caffe2 pads float alone")
    given = {name: attribute.value for name, attribute in node.attributes.items()}
    mode, order = given.get("mode", "constant"), given.get("order", "NCHW")
    if mode not in IMAGE_MODES:
        raise Unconvertible(f"mode '{mode}' is not one of {', '.join(IMAGE_MODES)} [P9]")
    if order not in FIRST_AXIS:
        raise Unconvertible(f"order '{order}' is not one of {', '.join(FIRST_AXIS)}")
    rows = np.zeros((2, 4), np.int64)
    rows[:, FIRST_AXIS[order] :][:, :2] = np.reshape(_image_amounts(given), (2, 2))
    value = np.array(given.get("value", 0), np.float32)
    fill = value if mode == "constant" and any(value.tobytes()) else None
    return in_mode(OP, mode, node.inputs[0], *rows, fill)


def _image_amounts(attributes: Mapping[str, Any]) -> list[int]:
    """Return the amounts: top, left, bottom, right."""
    given = {name: attributes[name] for name in ("pads", "pad", *SIDES) if name in attributes}
    sides = [name for name in SIDES if name in given]
    if len(given) - len(sides) + bool(sides) > 1:
        raise Unconvertible(f"its amounts are given more than once: {', '.join(given)}")
    if sides and len(sides) < len(SIDES):
        raise Unconvertible(f"of its amounts it has {', '.join(sides)}, expected {', '.join(SIDES)}")
    amounts = [given[name] for name in SIDES] if sides else list(given.get("pads", [given.get("pad", 0)] * 4))
    if len(amounts) != 4:
        raise Unconvertible(f"its attribute pads has {plural(len(amounts), 'value')}, expected 4")
    return amounts
