"""Rewrites layers in the form that onnxifier's rules and ONNX take."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.readers.openvino_ir.tables import INPUTS
from padops.convert.readers.openvino_ir.values import Values, amounts, attributes_of

OF_INDICES = ("axis", "index_element_type")  # attributes of MaxPool that concern only its second output


def prepare(node: onnx.NodeProto, values: Values, read: Collection[str]) -> list[onnx.NodeProto]:
    """Changes a layer in place: its inputs and attributes become those that its rule takes.

    Args:
        read: The values that other layers or outputs of the model read.

    Returns:
        The nodes that make the new inputs.
    """
    nodes = _new_inputs(node, values)
    _write_amounts_out(node, values)
    if node.op_type == "MaxPool" and len(node.output) > 1 and node.output[1] not in read:
        node.output.pop()  # the indices; ONNX Runtime is slower with them
        _set_attributes(node, {k: v for k, v in attributes_of(node).items() if k not in OF_INDICES})
    return nodes


def replace_nodes(message: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> None:
    """Gives a model other nodes; they may be some of its own."""
    kept = onnx.GraphProto(node=nodes)
    del message.graph.node[:]
    message.graph.node.extend(kept.node)


def _new_inputs(node: onnx.NodeProto, values: Values) -> list[onnx.NodeProto]:
    """Nodes that convert inputs to the required form."""
    nodes = []
    for at, wanted in INPUTS.get(node.op_type, {}).items():
        if at >= len(node.input):
            continue
        source = node.input[at]
        array = values.constant(source)
        if array is not None:
            shaped = _shaped(array, wanted)
            if (shaped.dtype, shaped.shape) != (array.dtype, array.shape):
                name = node.input[at] = values.fresh(f"{node.name}/{at}")
                tensor = numpy_helper.from_array(shaped, name)
                values.add(tensor)
                nodes.append(helper.make_node("Constant", [], [name], name=name, value=tensor))
        elif wanted == "int64" and values.types[source] != TensorProto.INT64:
            name = node.input[at] = values.fresh(f"{node.name}/{at}")
            values.types[name], values.dims[name] = TensorProto.INT64, values.dims[source]
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


def name_all_axes(nodes: list[onnx.NodeProto], values: Values) -> list[onnx.NodeProto]:
    """Gives a Resize among the nodes of a layer the sizes or scales of all axes, where that is known.

    ONNX Runtime (1.32) moves Transposes past those with ``axes``, and leaves the axes, or the list, as they were.
    """
    resize = next((node for node in nodes if node.op_type == "Resize"), None)
    axes = next((attribute for attribute in resize.attribute if attribute.name == "axes"), None) if resize else None
    if resize is None or axes is None:
        return nodes
    at = len(resize.input) - 1  # 2 for scales, 3 for sizes
    given = next((node.attribute[0].t for node in nodes if resize.input[at] in node.output), None)
    array = values.array(resize.input[at]) if given is None else numpy_helper.to_array(given)
    dims = values.dims.get(resize.output[0])
    others = values.static(resize.output[0]) if at == 3 else None if dims is None else [1.0] * len(dims)
    if others is None or array is None:
        return nodes
    full = np.array(others, np.int64 if at == 3 else np.float32)
    try:
        full[list(axes.ints)] = array
    except (IndexError, ValueError):  # of a damaged IR, which the check of its shapes refuses
        return nodes
    name = resize.input[at] = values.fresh(f"{resize.name}/all_axes")
    resize.attribute.remove(axes)
    return [helper.make_node("Constant", [], [name], name=name, value=numpy_helper.from_array(full)), *nodes]
