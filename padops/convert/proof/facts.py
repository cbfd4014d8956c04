"""What follows from the inputs and the constants of a model about its values: onnx's own inference, on a copy without data.

What the model itself declares of inner values is no fact and is taken away first: a wrong declaration would prove anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import TensorProto

from padops.convert.errors import os_errors_as
from padops.convert.model.external import check_entries
from padops.convert.proof.believing import forget_dims, infer
from padops.convert.proof.knowledge import Dim

SMALL = 1 << 12  # bytes up to which a constant is copied with its elements: amounts, axes, shapes

_INVENTED = "unk__"  # how the symbols begin that onnx makes up

# What inference may raise over a model that it does not understand: there is nothing known then.
_INFERENCE_ERRORS = (onnx.shape_inference.InferenceError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Inferred:
    """A graph, node for node, with what is known of its values, and with what follows once its declarations are right.

    Attributes:
        known: With the types and dims that follow from the inputs and constants.
        declared: With those that follow from what is declared of inner values as well; None where nobody asks.
    """

    known: onnx.GraphProto
    declared: onnx.GraphProto | None = None

    def body(self, node: int, attribute: int) -> Inferred:
        """The graph that a node holds."""
        known = self.known.node[node].attribute[attribute].g
        return Inferred(known, self.declared and self.declared.node[node].attribute[attribute].g)


def inferred(
    model: onnx.ModelProto, folder: Path | None, overridable: set[str], trusting: bool = False, is_call: bool = False
) -> Inferred:
    """Copies of the graph, node for node, with types and dims of values; without large constants."""
    known = _inferred(model, (folder, False), overridable)
    declared = _inferred(model, (folder, True), overridable) if trusting else None
    symbols = {dim for value in model.graph.input for dim in dims_of(value.type) or () if isinstance(dim, str)}
    for graph in (known if is_call else None, declared):
        if graph is not None:
            _forget_invented(graph, symbols)
    return Inferred(known, declared)


_How = tuple[Path | None, bool]  # what external data are relative to; whether declared dims are kept


def _inferred(model: onnx.ModelProto, how: _How, overridable: set[str]) -> onnx.GraphProto:
    copy = onnx.ModelProto(ir_version=model.ir_version)
    copy.opset_import.extend(model.opset_import)
    copy.functions.extend(model.functions)
    _copy_graph(model.graph, copy.graph, how, overridable)
    for value in model.graph.input:
        made = copy.graph.input.add()
        made.CopyFrom(value)
        if made.type.WhichOneof("value") != "tensor_type":  # no runtime looks at the dims within such an input
            forget_dims(made.type)
    for dim in (dim for value in copy.graph.input for dim in value.type.tensor_type.shape.dim):
        if dim.dim_value < 0:  # open: inference would compute with it
            dim.Clear()
    try:
        return infer(copy).graph
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
    return tuple(_dim(dim) for dim in tensor.shape.dim)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    """One dim; a negative number is how some exporters write one that is open."""
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None


def _copy_graph(graph: onnx.GraphProto, copy: onnx.GraphProto, how: _How, skipped: set[str]) -> None:
    copy.name = graph.name or "graph"
    for node in graph.node:
        _copy_node(node, copy.node.add(), how)
    for tensor in graph.initializer:
        if tensor.name not in skipped:
            _copy_tensor(tensor, copy.initializer.add(), how[0])
    for value in graph.output:
        made = copy.output.add()
        made.CopyFrom(value)
        if not how[1]:
            forget_dims(made.type)
    if how[1]:
        copy.value_info.extend(graph.value_info)


def _copy_node(node: onnx.NodeProto, copy: onnx.NodeProto, how: _How) -> None:
    copy.op_type, copy.domain, copy.name = node.op_type, node.domain, node.name
    copy.overload = node.overload
    copy.input.extend(node.input)
    copy.output.extend(node.output)
    for attribute in node.attribute:
        made = copy.attribute.add()
        if attribute.HasField("g"):
            made.name, made.type = attribute.name, attribute.type
            _copy_graph(attribute.g, made.g, how, set())
            for value in attribute.g.input:
                formal = made.g.input.add()
                formal.CopyFrom(value)
                if not how[1]:
                    forget_dims(formal.type)
        elif attribute.HasField("t"):
            made.name, made.type = attribute.name, attribute.type
            _copy_tensor(attribute.t, made.t, how[0])
        else:
            made.CopyFrom(attribute)
            if made.HasField("tp"):
                forget_dims(made.tp)


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
            with os_errors_as("cannot read", folder / location), open(folder / location, "rb") as file:
                file.seek(offset)
                copy.raw_data = file.read(length)
            return
    copy.data_location = TensorProto.EXTERNAL


def _forget_invented(graph: onnx.GraphProto, symbols: set[str]) -> None:
    """Takes away the symbols that inference made up: it counts from 0 each time, so that others have the same names."""
    for value in (*graph.input, *graph.value_info, *graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param.startswith(_INVENTED) and dim.dim_param not in symbols:
                dim.ClearField("dim_param")
    for row in (row for node in graph.node for row in node.attribute if row.HasField("g")):
        _forget_invented(row.g, symbols)
