"""Rewrites layers in the form that onnxifier's rules and ONNX take, and converts layers that need no rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES
from padops.convert.readers.openvino_ir.tables import INPUTS, OWN, SAME
from padops.convert.readers.openvino_ir.values import Values, amounts, attributes_of

OF_INDICES = ("axis", "index_element_type")  # attributes of MaxPool that concern only its second output


def prepare(message: onnx.ModelProto, values: Values) -> None:
    """Changes layers in place: those of ``SAME`` and ``OWN`` become ONNX nodes, others get inputs and attributes."""
    nodes: list[onnx.NodeProto] = []
    read = {name for node in message.graph.node for name in node.input} | {out.name for out in message.graph.output}
    for node in message.graph.node:
        if node.domain != DOMAIN or node.op_type == "Pad":
            nodes.append(node)
            continue
        added = _new_inputs(node, values)
        for new in added:
            if new.op_type == "Constant":  # onnxifier wants a declaration of each value
                tensor = new.attribute[0].t
                info = helper.make_tensor_value_info(new.output[0], tensor.data_type, tensor.dims)
                message.graph.value_info.append(info)
        _write_amounts_out(node, values)
        if node.op_type == "MaxPool" and len(node.output) > 1 and node.output[1] not in read:
            node.output.pop()  # the indices; ONNX Runtime is slower with them
            _set_attributes(node, {k: v for k, v in attributes_of(node).items() if k not in OF_INDICES})
        nodes += [*added, *(_onnx_nodes(node, values) if node.op_type in SAME or node.op_type in OWN else [node])]
    replace_nodes(message, nodes)


def replace_nodes(message: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> None:
    """Gives a model other nodes; they may be some of its own."""
    kept = onnx.GraphProto(node=nodes)
    del message.graph.node[:]
    message.graph.node.extend(kept.node)


def _constant(name: str, array: np.ndarray) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], name=name, value=numpy_helper.from_array(array))


def _new_inputs(node: onnx.NodeProto, values: Values) -> list[onnx.NodeProto]:
    """Nodes that convert inputs to the required form."""
    nodes = []
    for at, wanted in INPUTS.get(node.op_type, {}).items():
        if at >= len(node.input):
            continue
        source, name = node.input[at], f"{node.name}/{at}"
        array = values.constant(source)
        if array is not None:
            shaped = _shaped(array, wanted)
            if (shaped.dtype, shaped.shape) != (array.dtype, array.shape):
                node.input[at] = name
                nodes.append(_constant(name, shaped))
        elif wanted == "int64" and values.types[source] != TensorProto.INT64:
            node.input[at] = name
            nodes.append(helper.make_node("Cast", [source], [name], name=name, to=TensorProto.INT64))
    return nodes


def _shaped(array: np.ndarray, wanted: str) -> np.ndarray:
    if wanted == "int64" or (wanted == "constant int64" and array.dtype.kind in "iu"):
        return array.astype(np.int64)
    if wanted == "list":
        return array.reshape(-1)
    return array.reshape(()) if wanted == "scalar" and array.size == 1 else array


def _write_amounts_out(node: onnx.NodeProto, values: Values) -> None:
    """Amounts in place of auto_pad, if the shape is known (S1): ONNX Runtime gets SAME with dilations wrong."""
    attributes = attributes_of(node)
    if not attributes.get("auto_pad", "").startswith("same_") or (pads := amounts(node, values)) is None:
        return
    attributes["auto_pad"] = "explicit"
    attributes["pads_begin"], attributes["pads_end"] = (",".join(map(str, side)) for side in zip(*pads))
    _set_attributes(node, attributes)


def _set_attributes(node: onnx.NodeProto, attributes: dict[str, str]) -> None:
    node.ClearField("attribute")
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())


def _onnx_nodes(node: onnx.NodeProto, values: Values) -> list[onnx.NodeProto]:
    """The operators that a layer of ``SAME`` or ``OWN`` is."""
    kind, attributes = node.op_type, attributes_of(node)
    if kind == "Convert":
        return [_node("Cast", node, to=ELEMENT_TYPES[attributes["destination_type"]])]
    if kind == "Transpose":
        perm = values.constant(node.input[1])
        assert perm is not None, "checks.py refuses others"
        return [helper.make_node("Transpose", node.input[:1], node.output, node.name, perm=perm.tolist())]
    if kind == "ShapeOf":
        return _shape_of(node, values, attributes.get("output_type", "i64"))
    if kind == "MVN":
        return _normalized(node, values, attributes)
    return [_node(SAME[kind], node)]


def _node(op_type: str, layer: onnx.NodeProto, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, layer.input, layer.output, layer.name, **attributes)


def _shape_of(node: onnx.NodeProto, values: Values, type_name: str) -> list[onnx.NodeProto]:
    """A constant where the shape is known; onnxifier casts the data where the result is to be int32."""
    type = ELEMENT_TYPES[type_name]
    dims = values.static(node.input[0])
    if dims is not None:
        value = numpy_helper.from_array(np.array(dims, helper.tensor_dtype_to_np_dtype(type)))
        return [helper.make_node("Constant", [], node.output, node.name, value=value)]
    if type == TensorProto.INT64:
        return [_node("Shape", node)]
    name = f"{node.name}/int64"
    shape = helper.make_node("Shape", node.input, [name], name)
    return [shape, helper.make_node("Cast", [name], node.output, node.name, to=type)]


def _normalized(node: onnx.NodeProto, values: Values, attributes: dict[str, str]) -> list[onnx.NodeProto]:
    """MVN: (x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps), or without the division."""
    data, axes = node.input[0], node.input[1]
    nodes: list[onnx.NodeProto] = []

    def add(op_type: str, *inputs: str, last: bool = False, **more: Any) -> str:
        """Adds a node and gives the name of its output."""
        name = node.name if last else f"{node.name}/{op_type}_{len(nodes)}"
        nodes.append(helper.make_node(op_type, inputs, node.output if last else [name], name, **more))
        return name

    mean = add("ReduceMean", data, axes, keepdims=1)
    if attributes["normalize_variance"] != "true":
        add("Sub", data, mean, last=True)
        return nodes
    centred = add("Sub", data, mean)
    spread = add("ReduceMean", add("Mul", centred, centred), axes, keepdims=1)
    eps = np.array(float(attributes["eps"])).astype(helper.tensor_dtype_to_np_dtype(values.types[data]))
    nodes.append(_constant(f"{node.name}/eps", eps))
    if attributes["eps_mode"].lower() == "inside_sqrt":
        spread = add("Sqrt", add("Add", spread, f"{node.name}/eps"))
    else:
        spread = add("Add", add("Sqrt", spread), f"{node.name}/eps")
    add("Div", centred, spread, last=True)
    return nodes


def name_all_axes(message: onnx.ModelProto, values: Values) -> None:
    """Gives each Resize the sizes or scales of all axes, where that is known.

    ONNX Runtime (1.32) moves Transposes past those with ``axes``, and leaves the axes, or the list, as they were.
    """
    constants = {node.output[0]: node.attribute[0].t for node in message.graph.node if node.op_type == "Constant"}
    nodes: list[onnx.NodeProto] = []
    for node in message.graph.node:
        axes = next((attribute for attribute in node.attribute if attribute.name == "axes"), None)
        if node.op_type == "Resize" and node.domain == "" and axes is not None:
            at = len(node.input) - 1  # 2 for scales, 3 for sizes
            dims, given = values.dims.get(node.output[0]), constants.get(node.input[at])
            scales = None if dims is None else [1.0] * len(dims)
            others = values.static(node.output[0]) if at == 3 else scales
            if others is not None and given is not None:
                full = np.array(others, np.int64 if at == 3 else np.float32)
                full[list(axes.ints)] = numpy_helper.to_array(given)
                nodes.append(_constant(f"{node.name}/all_axes", full))
                node.input[at] = nodes[-1].output[0]
                node.attribute.remove(axes)
        nodes.append(node)
    replace_nodes(message, nodes)
