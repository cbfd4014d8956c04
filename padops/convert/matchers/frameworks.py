"""Pads of other frameworks: TensorFlow, OpenVINO and nGraph, Caffe2, PyTorch.

**TensorFlow**: nodes that tf2onnx leaves untranslated at the user's request. With the option ``--custom-ops
MirrorPad:DOMAIN,PadV2:DOMAIN,Pad:DOMAIN``, tf2onnx keeps the inputs and attributes of these nodes, and writes the nodes
in the user's domain. Without ``:DOMAIN``, tf2onnx uses a domain of its own. In the branches of an If, tf2onnx
1.17.0 loses the user's domain. So if the user has named a domain, padops also accepts nodes of the default domain.
TensorFlow's nodes become OpenVINOPad_12, which accepts computed amounts of any integer type. OpenVINOPad_12 has
TensorFlow's limits (P4): on an axis of n elements, n - 1 for REFLECT and n for SYMMETRIC.

**OpenVINO**: the Pads that ``ir/`` reads from an IR. **nGraph**, OpenVINO's predecessor: Pads in the domain ``ngraph``
or in a domain that the user has named. The attributes ``padding_below`` and ``padding_above`` distinguish these Pads
from the Pads of other frameworks.

**Caffe2**'s PadImage, which Caffe2's ONNX frontend leaves in the default domain; attributes hold the amounts of two
axes. PadImage extends the uncropped data (FULL of P3) and reflects once, so it becomes OpenVINOPad_12.

**PyTorch**: operators of PyTorch's library ATen that PyTorch's exporter leaves untranslated. The exporter writes such
an operator as ``org.pytorch.aten::ATen``, with the operator's name as an attribute: with
``operator_export_type=ONNX_ATEN`` every operator, with ``ONNX_ATEN_FALLBACK`` only an operator that ONNX lacks. Before
PyTorch 1.11, this node is in the default domain. With ``ONNX_FALLTHROUGH``, the operator's name is the node's
``op_type``. The inputs are PyTorch's arguments. The amounts are in the order of ``torch.nn.functional.pad``: the last
axis first, begin and end of each axis.

``reflect``, ``replicate`` and ``symmetric`` extend the uncropped data (FULL of P3). If the rank of the data is known,
they become OpenVINOPad_12, which accepts amounts as large as PyTorch's (P4). If the rank is unknown, ``reflect`` and
``replicate`` with known amounts that crop nothing become a Pad of ONNX. ``circular`` crops first, as ONNX does, so it
becomes a Pad of ONNX. ``constant`` also becomes a Pad of ONNX.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite, attribute_value, remove_unused
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
    settle_version,
    type_of,
)
from padops.convert.pads.pad_info import Operand
from padops.convert.runtimes import FIRST_WITH_AXES, FIRST_WITH_INPUTS
from padops.plural import plural
from padops.spec.dialects import OPS
from padops.spec.dtypes import by_name

OWN_DOMAIN = "ai.onnx.converters.tensorflow"  # tf2onnx's domain of custom nodes if the user named none
MODES = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}
INPUTS = {"MirrorPad": 2, "PadV2": 3, "Pad": 2}
OF_TENSORFLOW = ("T", "Tpaddings")  # attributes that only repeat the types of the inputs
OP = "OpenVINOPad_12"
ROLES = ("pads_begin", "pads_end")
DOMAIN = "ai.intel.openvino"
VERSIONS = {"opset1": 1, "opset12": 12}  # of OpenVINO's Pad
NGRAPH_PAD = OPS["NGraphPad_0"]
AMOUNTS = ("padding_below", "padding_above", "padding_interior")  # nGraph's attributes
IMAGE_MODES = ("constant", "reflect", "edge")  # of Caffe2's PadImage
SIDES = ("pad_t", "pad_l", "pad_b", "pad_r")
FIRST_AXIS = {"NCHW": 2, "NHWC": 1}  # the first of the two padded axes
# PadImage's attributes and types. The operator also reads convolution attributes; these must have values of NEUTRAL.
INT, INTS = ir.AttributeType.INT, ir.AttributeType.INTS
IMAGE_ATTRIBUTES = {
    **dict.fromkeys(("pad", *SIDES, "stride", "stride_h", "stride_w", "dilation", "dilation_h", "dilation_w"), INT),
    **dict.fromkeys(("pads", "strides", "dilations"), INTS),
    **dict.fromkeys(("legacy_pad", "global_pooling"), INT),
    **dict.fromkeys(("mode", "order"), ir.AttributeType.STRING),
    "value": ir.AttributeType.FLOAT,
}
NEUTRAL = {"stride": 1, "strides": 1, "dilation": 1, "dilations": 1, "legacy_pad": 0, "global_pooling": 0}
ATEN_DOMAINS = ("org.pytorch.aten", "aten")
# PyTorch's name of each mode, and ONNX's; in the order of ``_pad_enum``'s numbers.
NUMBERED = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}
# PyTorch 2.13 has no symmetric mode. The proposed mode (pytorch#189480) reflects with the edge and has no number.
PYTORCH_MODES = NUMBERED | {"symmetric": "symmetric"}
EXTENDED = ("reflect", "edge", "symmetric")  # the modes that extend the uncropped data
# PyTorch's operators: the names of the inputs after the data, the mode if it is no input, and the number of axes if the
# operator always pads the same number.
OPERATORS: dict[str, tuple[tuple[str, ...], str, int | None]] = {
    **dict.fromkeys(("pad", "_pad_enum"), (("pads", "mode", "fill"), "", None)),
    "constant_pad_nd": (("pads", "fill"), "constant", None),
    "_pad_circular": (("pads",), "circular", None),
    **{f"reflection_pad{count}d": (("pads",), "reflect", count) for count in (1, 2, 3)},
    **{f"replication_pad{count}d": (("pads",), "replicate", count) for count in (1, 2, 3)},
    **{f"symmetric_pad{count}d": (("pads",), "symmetric", count) for count in (1, 2, 3)},
}


def match_tensorflow_pad(site: NodeSite, types: Types, domains: Collection[str]) -> Match | None:
    """Recognise MirrorPad, PadV2 and Pad in ``domains`` or tf2onnx's own domain, or if tf2onnx lost the domain."""
    node = site.node
    if node.op_type not in INPUTS or node.op_identifier() in site.scope.model.functions:
        return None
    if node.domain not in (*domains, OWN_DOMAIN) and not _has_lost_its_domain(site, types, domains):
        return None
    if node.op_type == "Pad" and (set(node.attributes) - set(OF_TENSORFLOW) or len(node.inputs) != 2):
        return None  # a Pad of another framework

    return matched(f"TensorFlow {node.op_type} in the domain '{node.domain}'", lambda: _of_tensorflow(site, types))


def _has_lost_its_domain(site: NodeSite, types: Types, domains: Collection[str]) -> bool:
    """Return whether a node of the default domain is TensorFlow's; False if the user has named no domain."""
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
        raise Unconvertible(f"its paddings are {array.tolist()}, and TensorFlow refuses negative paddings")

    def pad(columns: Iterable[Operand]) -> Replacement:
        return in_mode(OP, mode, node.inputs[0], *columns, *node.inputs[2:])  # PadV2 has a fill

    if array is not None:
        return pad(np.ascontiguousarray(column, np.int64) for column in array.T)

    def split(site: NodeSite, constants: Constants) -> Applied:
        """In front of the node, put two nodes that split unknown paddings into begins and ends."""
        at = [constants.add(np.array(i, np.int64), site, f"{role}_column") for i, role in enumerate(ROLES)]
        axis = [ir.AttrInt64("axis", 1)]
        made = [constants.insert("Gather", [node.inputs[1], i], site, role, axis) for i, role in zip(at, ROLES)]
        return Applied([node], site, pad(made))

    return Match("", pad(ir.Value(name=role) for role in ROLES), split)


def match_openvino_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognise a Pad layer of OpenVINO. The new node has the same inputs; the amounts need not be constant."""
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


def match_ngraph_pad(site: NodeSite, types: Types, domains: Collection[str] = ()) -> Match | None:
    """Recognise a node with nGraph's attributes, in the user's ``domains`` or the domain ``ngraph``."""
    node, op = site.node, NGRAPH_PAD
    if node.op_type != "Pad" or node.domain not in (*domains, "ngraph") or not set(AMOUNTS[:2]) & set(node.attributes):
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
    """Return the mode as a name; nGraph's own serializer writes a mode as its number in a C++ enumeration."""
    if attribute.is_ref():
        return attribute
    value = attribute.value
    if attribute.type == ir.AttributeType.INT and 0 <= value < len(NGRAPH_PAD.modes):
        return ir.AttrString(NGRAPH_PAD.mode, NGRAPH_PAD.modes[value])
    if attribute.type == ir.AttributeType.STRING and value.upper() in NGRAPH_PAD.modes:
        return ir.AttrString(NGRAPH_PAD.mode, value.upper())
    raise Unconvertible(f"{NGRAPH_PAD.mode} {value!r} is not one of {', '.join(NGRAPH_PAD.modes)} [P9]")


def match_caffe2_pad(site: NodeSite, types: Types) -> Match | None:
    node = site.node
    if node.domain != "" or node.op_type != "PadImage" or node.op_identifier() in site.scope.model.functions:
        return None
    return matched("Caffe2 PadImage", lambda: _of_image(node, types))


def _of_image(node: ir.Node, types: Types) -> Replacement:
    check_node(node, (1, 1), IMAGE_ATTRIBUTES, **IMAGE_ATTRIBUTES)
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            raise Unconvertible(f"the function's caller sets its attribute {name}")
        neutral = NEUTRAL.get(name.removesuffix("_h").removesuffix("_w"))
        if neutral is not None and {neutral} != set(np.atleast_1d(attribute.value).tolist()):
            raise Unconvertible(f"its attribute {name} is {attribute.value}, expected {neutral}")
    if (type_name := types.name(node.inputs[0], *node.outputs)) not in (None, "float"):
        raise Unconvertible(f"its data are {type_name}, and Caffe2 pads only float")
    given = {name: attribute.value for name, attribute in node.attributes.items()}
    mode, order = given.get("mode", "constant"), given.get("order", "NCHW")
    if mode not in IMAGE_MODES:
        raise Unconvertible(f"mode '{mode}' is not one of {', '.join(IMAGE_MODES)} [P9]")
    if order not in FIRST_AXIS:
        raise Unconvertible(f"order '{order}' is not one of {', '.join(FIRST_AXIS)}")
    rows = np.zeros((2, 4), np.int64)
    rows[:, FIRST_AXIS[order] :][:, :2] = np.reshape(_image_amounts(given), (2, 2))
    value = np.array(given.get("value", 0), np.float32)
    return in_mode(OP, mode, node.inputs[0], *rows, value if mode == "constant" and any(value.tobytes()) else None)


def _image_amounts(attributes: Mapping[str, Any]) -> list[int]:
    """Return the amounts: top, left, bottom, right."""
    given = {name: attributes[name] for name in ("pads", "pad", *SIDES) if name in attributes}
    sides = [name for name in SIDES if name in given]
    if len(given) - len(sides) + bool(sides) > 1:
        raise Unconvertible(f"its amounts are given more than once: {', '.join(given)}")
    if sides and len(sides) < len(SIDES):
        raise Unconvertible(f"it has only the amounts {', '.join(sides)}, expected {', '.join(SIDES)}")
    amounts = [given[name] for name in SIDES] if sides else list(given.get("pads", [given.get("pad", 0)] * 4))
    if len(amounts) != 4:
        raise Unconvertible(f"its attribute pads has {plural(len(amounts), 'value')}, expected 4")
    return amounts


def pytorch_operator(node: ir.Node) -> str | None:
    """Return the name of the PyTorch operator that a node calls; None if the node calls no such operator."""
    if node.op_type == "ATen" and node.domain in (*ATEN_DOMAINS, ""):
        name: str | None = attribute_value(node, "operator", ir.AttributeType.STRING)
        return name
    return node.op_type if node.domain in ATEN_DOMAINS else None


def match_pytorch_pad(site: NodeSite, types: Types) -> Match | None:
    name = pytorch_operator(site.node)
    if name not in OPERATORS or site.node.op_identifier() in site.scope.model.functions:
        return None
    return matched(f"PyTorch {name}", lambda: _of_pytorch(site, types, name))


def _of_pytorch(site: NodeSite, types: Types, name: str) -> Match | Replacement:
    node, (names, implied, axes) = site.node, OPERATORS[name]
    check_node(node, (2, 1 + len(names)), ("operator", "overload_name"))
    if overload := attribute_value(node, "overload_name", ir.AttributeType.STRING, ""):
        raise Unconvertible(f"its overload is '{overload}', which padops does not know")
    given = {role: value for role, value in zip(names, node.inputs[1:]) if value is not None}
    mode = PYTORCH_MODES[implied or _pytorch_mode(name, given.get("mode"), site, types)]
    pads, data = given["pads"], node.inputs[0]
    array = evaluate(pads, site.scope, types)
    count = _axes_with_amounts(array, types.shape(pads), axes)
    shape = types.shape(data)
    rank = None if shape is None else len(shape)
    if rank is not None and count > rank:
        raise Unconvertible(f"it has amounts for {plural(count, 'axis')}, but its data have rank {rank}")
    type_name = types.name(data, *node.outputs)
    if mode in EXTENDED and rank is not None:
        check_type(type_name, OPS[OP])
        op = OP
    elif mode == "symmetric" or (mode in EXTENDED and (array is None or (array < 0).any())):
        raise Unconvertible(f"the rank of its data is not known, and no ONNX Pad is equivalent in mode {mode}")
    else:
        op = settle_version(FIRST_WITH_AXES if rank is None else FIRST_WITH_INPUTS, type_name, [mode])
    fill = None
    if mode == "constant" and "fill" in given:
        fill = _pytorch_fill(evaluate(given["fill"], site.scope, types), type_name)
    # For each amount of the new Pad, begins then ends: its index in PyTorch's amounts; an index past the end means 0.
    of_axes = range(count) if rank is None else range(rank)[::-1]
    order = np.array([min(2 * i + side, 2 * count) for side in (0, 1) for i in of_axes], np.int64)
    roles = ROLES if op == OP else ("pads",)

    def made(*amounts: Operand) -> Replacement:
        named = None if rank is not None else -1 - np.arange(count, dtype=np.int64)
        return in_mode(op, mode, data, *amounts, fill, named)

    if array is not None:
        return made(*np.split(np.append(array, 0)[order].astype(np.int64), len(roles)))

    def apply(site: NodeSite, constants: Constants) -> Applied:
        """Add nodes that reorder unknown amounts; remove fill and mode (the mode's Constant may be invalid)."""
        node.resize_inputs(2)
        remove_unused([value for role, value in given.items() if role != "pads"])
        known = pads
        if rank is not None and rank > count:
            none = constants.add(np.zeros(1, np.int64), site, "no_amount")
            known = constants.insert("Concat", [pads, none], site, "amounts", [ir.AttrInt64("axis", 0)])
        gathered = []
        for role, part in zip(roles, np.split(order, len(roles))):
            at = constants.add(part, site, f"{role}_at")
            gathered.append(constants.insert("Gather", [known, at], site, role))
        return Applied([node], site, made(*gathered))

    return Match("", made(*(ir.Value(name=role) for role in roles)), apply)


def _pytorch_mode(name: str, given: ir.Value | None, site: NodeSite, types: Types) -> str:
    if given is None and name == "pad":
        return "constant"
    maker, array = given.producer() if given is not None else None, evaluate(given, site.scope, types)
    item: str | int | None = None
    if maker is not None and maker.op_type == "Constant":  # from an exporter: its ``value`` is a string, not a tensor
        item = attribute_value(maker, "value", ir.AttributeType.STRING)
    if not item and array is not None and array.size == 1:
        element = array.reshape(-1)[0]
        item = int(element) if array.dtype.kind in "iu" else str(element)
        item = element.decode(errors="replace") if isinstance(element, bytes) else item
    if item is None:
        raise Unconvertible("its mode is not constant")
    if name == "_pad_enum" and isinstance(item, int) and 0 <= item < len(NUMBERED):
        return list(NUMBERED)[item]
    if name == "pad" and isinstance(item, str) and item in PYTORCH_MODES:
        return item
    raise Unconvertible(f"mode {item!r} is not one of {', '.join(PYTORCH_MODES)} [P9]")


def _axes_with_amounts(array: np.ndarray | None, shape: list[int | None] | None, axes: int | None) -> int:
    if array is not None and array.dtype.kind not in "iu":
        raise Unconvertible(f"its amounts are of type {array.dtype.name}, expected integers")
    dims = shape if array is None else list(array.shape)
    if dims is not None and len(dims) != 1:
        raise Unconvertible(f"its amounts have shape {dims}, expected a list")
    count = dims[0] if dims is not None else None
    if count is None and axes is None:
        raise Unconvertible("the number of its amounts is not known")
    if count is not None and (count % 2 if axes is None else count != 2 * axes):
        expected = "an even number" if axes is None else str(2 * axes)
        raise Unconvertible(f"it has {plural(count, 'amount')}, expected {expected}")
    return axes if axes is not None else (count or 0) // 2


def _pytorch_fill(array: np.ndarray | None, type_name: str | None) -> np.ndarray | None:
    """Return the fill as one element of the data's type, converted as in PyTorch; None for the default fill."""
    if array is None or array.size != 1 or array.dtype.kind not in "biuf":
        raise Unconvertible("its value is not one constant number")
    value = array.reshape(-1)[0]
    if not any(value.tobytes()):
        return None
    if type_name is None:
        raise Unconvertible(f"the value {value} has to become an element of the data's type, which is not known")
    dtype = by_name(type_name).numpy
    fill: np.ndarray | None = None
    if dtype.kind == "b":
        fill = np.array(bool(value))
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)  # PyTorch truncates fractions for integers
        fill = np.array(int(value), dtype) if np.isfinite(value) and limits.min <= int(value) <= limits.max else None
    elif dtype.kind != "O":
        with np.errstate(over="ignore", invalid="ignore"):  # PyTorch converts to 16-bit floats through float
            fill = np.asarray(value).astype(np.float64 if type_name == "double" else np.float32).astype(dtype)
        fill = None if np.isinf(np.float64(fill)) and np.isfinite(value) else fill
    if fill is None:
        raise Unconvertible(f"the value {value} cannot become an element of the data's type, {type_name}")
    return fill
