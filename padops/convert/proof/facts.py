"""What is known of values: types and dims, by onnx's inference on a copy without large constants.

Declared dims of inner values are removed first: with a wrong declaration, anything could be proved.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.errors import os_errors_as
from padops.convert.model.external import check_entries
from padops.convert.proof.believing import forget_dims, infer

Dim = int | str | None  # a number of elements; a symbol (one number wherever it stands); None: unknown
Shape = tuple[Dim, ...]
Read = Callable[[], np.ndarray | None]  # returns a constant's elements; None if they are too many for memory
SMALL = 1 << 12  # bytes up to which a constant keeps its elements in the copy: amounts, axes, shapes

_INVENTED = "unk__"  # prefix of the symbols that onnx's inference makes up

# Inference may raise these for a model that it does not understand: then nothing is known.
_INFERENCE_ERRORS = (onnx.shape_inference.InferenceError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Facts:
    """The facts of a value."""

    dtype: int = 0  # the element type; 0 if unknown
    shape: Shape | None = None  # the dims; None if not even the rank is known
    read: Read | None = None  # returns the elements of a constant
    declared: Shape | None = None  # the dims that the original declares, or None. They are no fact
    name: str = ""  # the name of the value with declared dims

    def together(self, other: Facts) -> Facts:
        """The facts of one value from two sources."""
        named = self if self.declared is not None else other
        return Facts(
            self.dtype or other.dtype,
            _both(self.shape, other.shape),
            self.read or other.read,
            named.declared,
            named.name,
        )

    def trusted(self) -> Shape | None:
        """The dims, with declared numbers where none is known."""
        if self.shape is None or self.declared is None or len(self.shape) != len(self.declared):
            return self.declared if self.shape is None else self.shape
        return tuple(said if isinstance(said, int) else dim for dim, said in zip(self.shape, self.declared))


def _both(one: Shape | None, other: Shape | None) -> Shape | None:
    """Merges two descriptions of the same dims: numbers win over symbols."""
    if one is None or other is None or len(one) != len(other):
        return other if one is None else one
    return tuple(p if isinstance(p, int) or q is None or (p and isinstance(q, str)) else q for p, q in zip(one, other))


@dataclass(frozen=True)
class Inferred:
    """Two copies of a graph, node for node, with inferred types and dims."""

    known: onnx.GraphProto  # inferred from inputs and constants
    # Inferred from the declared dims of inner values as well; None if not needed
    declared: onnx.GraphProto | None = None

    def body(self, node: int, attribute: int) -> Inferred:
        """The copies of a body: the graph in an attribute of a node, both by index."""
        known = self.known.node[node].attribute[attribute].g
        return Inferred(known, self.declared and self.declared.node[node].attribute[attribute].g)


def inferred(
    model: onnx.ModelProto, folder: Path | None, overridable: set[str], trusting: bool = False, is_call: bool = False
) -> Inferred:
    """Infers types and dims of the main graph, without large constants.

    Args:
        overridable: Initializers that a caller may replace: their elements are unknown.
        trusting: Whether to infer from declared dims of inner values as well.
        is_call: Whether the model is one call of a function: its made-up symbols are not those of the model around it.
    """
    known = _inferred(model, (folder, False), overridable)
    declared = _inferred(model, (folder, True), overridable) if trusting else None
    symbols = {dim for value in model.graph.input for dim in dims_of(value.type) or () if isinstance(dim, str)}
    for graph in (known if is_call else None, declared):
        if graph is not None:
            _forget_invented(graph, symbols)
    return Inferred(known, declared)


_How = tuple[Path | None, bool]  # the folder of external data; whether declared dims are kept


def _inferred(model: onnx.ModelProto, how: _How, overridable: set[str]) -> onnx.GraphProto:
    copy = onnx.ModelProto(ir_version=model.ir_version)
    copy.opset_import.extend(model.opset_import)
    copy.functions.extend(model.functions)
    _copy_graph(model.graph, copy.graph, how, overridable)
    for value in model.graph.input:
        made = copy.graph.input.add()
        made.CopyFrom(value)
        if made.type.WhichOneof("value") != "tensor_type":  # no runtime checks the dims in a sequence or an optional
            forget_dims(made.type)
    for dim in (dim for value in copy.graph.input for dim in value.type.tensor_type.shape.dim):
        if dim.dim_value < 0:  # some exporters' dynamic dim: inference would compute with it
            dim.Clear()
    try:
        return infer(copy).graph
    except _INFERENCE_ERRORS:
        return copy.graph


def types_of(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """The types of a graph's values, by name."""
    return {value.name: value.type for values in (graph.input, graph.value_info, graph.output) for value in values}


def bare_type(kind: onnx.TypeProto) -> bytes:
    """A type without a tensor's dims, serialized."""
    bare = deepcopy(kind)
    if bare.WhichOneof("value") == "tensor_type":
        bare.tensor_type.ClearField("shape")
    return bare.SerializeToString(deterministic=True)


def dims_of(type_: onnx.TypeProto) -> tuple[Dim, ...] | None:
    """The dims of a tensor type; None if the type has none, or is no tensor type."""
    tensor = type_.tensor_type
    if type_.WhichOneof("value") != "tensor_type" or not tensor.HasField("shape"):
        return None
    return tuple(_dim(dim) for dim in tensor.shape.dim)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    """One dim; some exporters write a dynamic dim as a negative number."""
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
    """Copies a tensor: a small one with its elements, a large one as external data without a file."""
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
    """Removes the symbols that inference made up: each run counts from 0, so names of two runs mean different dims."""
    for value in (*graph.input, *graph.value_info, *graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param.startswith(_INVENTED) and dim.dim_param not in symbols:
                dim.ClearField("dim_param")
    for row in (row for node in graph.node for row in node.attribute if row.HasField("g")):
        _forget_invented(row.g, symbols)
