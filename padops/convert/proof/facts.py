"""What follows from the inputs and the constants of a model about its values: onnx's own inference, on a copy without data.

What the model itself declares of inner values is no fact and is taken away first: a wrong declaration would prove anything.
"""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto

from padops.convert.model.external import check_entries
from padops.convert.proof.knowledge import Dim

SMALL = 1 << 12  # bytes up to which a constant is copied with its elements: amounts, axes, shapes

# What inference may raise over a model that it does not understand: there is nothing known then.
_INFERENCE_ERRORS = (onnx.shape_inference.InferenceError, RuntimeError, ValueError)


def inferred(model: onnx.ModelProto, folder: Path | None, overridable: set[str]) -> onnx.GraphProto:
    """A copy of the graph, node for node, with types and dims of values; without large constants.

    Args:
        model: The model.
        folder: What external data are relative to.
        overridable: Initializers that a caller may replace: their elements are not known.
    """
    copy = onnx.ModelProto(ir_version=model.ir_version)
    copy.opset_import.extend(model.opset_import)
    copy.functions.extend(model.functions)
    _copy_graph(model.graph, copy.graph, folder, overridable)
    for value in model.graph.input:
        copy.graph.input.add().CopyFrom(value)
    try:
        return onnx.shape_inference.infer_shapes(copy, check_type=False, strict_mode=False, data_prop=True).graph
    except _INFERENCE_ERRORS:
        return copy.graph


def types_of(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """Of the values of one graph, by name, what an inferred copy knows."""
    return {value.name: value.type for values in (graph.input, graph.value_info, graph.output) for value in values}


def dims_of(type_: onnx.TypeProto) -> tuple[Dim, ...] | None:
    """The dims of a tensor's type; None where it has none, or is no tensor's."""
    tensor = type_.tensor_type
    if type_.WhichOneof("value") != "tensor_type" or not tensor.HasField("shape"):
        return None
    return tuple(dim.dim_value if dim.HasField("dim_value") else (dim.dim_param or None) for dim in tensor.shape.dim)


def _copy_graph(graph: onnx.GraphProto, copy: onnx.GraphProto, folder: Path | None, skipped: set[str]) -> None:
    copy.name = graph.name or "graph"
    for node in graph.node:
        _copy_node(node, copy.node.add(), folder)
    for tensor in graph.initializer:
        if tensor.name not in skipped:
            _copy_tensor(tensor, copy.initializer.add(), folder)
    for value in graph.output:
        made = copy.output.add()
        made.CopyFrom(value)
        _forget_dims(made)


def _copy_node(node: onnx.NodeProto, copy: onnx.NodeProto, folder: Path | None) -> None:
    copy.op_type, copy.domain, copy.name = node.op_type, node.domain, node.name
    copy.input.extend(node.input)
    copy.output.extend(node.output)
    for attribute in node.attribute:
        made = copy.attribute.add()
        if attribute.HasField("g"):
            made.name, made.type = attribute.name, attribute.type
            _copy_graph(attribute.g, made.g, folder, set())
            for value in attribute.g.input:
                formal = made.g.input.add()
                formal.CopyFrom(value)
                _forget_dims(formal)
        elif attribute.HasField("t"):
            made.name, made.type = attribute.name, attribute.type
            _copy_tensor(attribute.t, made.t, folder)
        else:
            made.CopyFrom(attribute)


def _copy_tensor(tensor: onnx.TensorProto, copy: onnx.TensorProto, folder: Path | None) -> None:
    """A tensor with its elements where they are few; else its type and dims, as one whose elements are elsewhere."""
    is_external = tensor.data_location == TensorProto.EXTERNAL
    if not is_external and tensor.ByteSize() <= SMALL:
        copy.CopyFrom(tensor)
        return
    copy.name, copy.data_type = tensor.name, tensor.data_type
    copy.dims.extend(tensor.dims)
    if is_external and folder is not None:
        location, offset, length = check_entries(tensor, "a constant")
        if length <= SMALL:
            with open(folder / location, "rb") as file:
                file.seek(offset)
                copy.raw_data = file.read(length)
            return
    copy.data_location = TensorProto.EXTERNAL


def _forget_dims(value: onnx.ValueInfoProto) -> None:
    if value.type.WhichOneof("value") == "tensor_type":
        value.type.tensor_type.ClearField("shape")
