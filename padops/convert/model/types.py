"""Element types and shapes of values: what the graph says, and where it says nothing, what onnx infers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

import onnx
import onnx_ir as ir

from padops.convert.model.backward_slices import open_axes, open_backward_slices
from padops.convert.model.document import Document
from padops.convert.model.graphs import attribute_value, subgraphs
from padops.convert.model.nesting import graphs_of
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_onnx

Known = tuple[ir.DataType | None, list[int | None] | None]  # element type and dims

# Bytes of an initializer that inference may want to look into (amounts, axes, shapes); larger ones are only declared.
WORTH_KEEPING = 1024


class Types:
    """Answers for the values of one document. Inference runs once, when first a type or a shape is missing."""

    def __init__(self, document: Document) -> None:
        self.problem: str | None = None  # what kept types from being inferred
        self.evaluated = document.evaluated
        self._document = document
        self._inferred: dict[ir.Value, onnx.TypeProto] | None = None
        self._read: dict[ir.Value, Known] = {}  # of what has been inferred, what has been asked for
        self._constants: dict[int, tuple[ir.TensorProtocol, Sequence[int]]] = {}  # by id
        self._behind: dict[ir.Value, ir.Value] = {}  # by the output of a Pad: the data of the first Pad in its chain

    def name(self, *values: ir.Value | None) -> str | None:
        """The element type of the first value whose type is known, by its name in ONNX, such as ``"float"``."""
        present = [self._behind_pads(value) for value in values if value is not None]
        for ask in (_stated_dtype, lambda value: self._lookup(value)[0]):  # of all values, before anything is inferred
            for value in present:
                dtype = ask(value)
                if dtype is not None and dtype != ir.DataType.UNDEFINED:
                    row = by_onnx(int(dtype))
                    return row.name if row else dtype.name.lower()
        return None

    def shape(self, value: ir.Value | None) -> list[int | None] | None:
        """The dims of a value, None for each that is not known, or None if not even their number is."""
        if value is None:
            return None
        if (tensor := value.const_value) is not None:
            if id(tensor) not in self._constants:  # a tensor reads its dims from its message each time
                self._constants[id(tensor)] = tensor, tensor.shape.numpy()
            return list(self._constants[id(tensor)][1])
        stated = _dims(value.shape)
        if value.is_graph_input() or (self._inferred is None and stated is not None and None not in stated):
            return stated
        _, inferred = self._lookup(value)
        if stated is None or inferred is None:
            return inferred if stated is None else stated
        if len(stated) != len(inferred):
            return inferred  # from the nodes; see _inferred
        return [one if one is not None else other for one, other in zip(inferred, stated)]

    @property
    def settled(self) -> bool:
        """Whether inference has run."""
        return self._inferred is not None

    def infer(self) -> dict[ir.Value, onnx.TypeProto]:
        """Infers now, which must be before a node is added: the graph's nodes are paired with those of the message."""
        if self._inferred is None:
            self._inferred = self._infer()
        return self._inferred

    def invalidate(self, value: ir.Value | None = None) -> None:
        """Forgets what stands behind a padded value, or behind all of them: a pass has changed it."""
        if value is None:
            self._behind.clear()
        else:
            self._behind.pop(value, None)

    def _behind_pads(self, value: ir.Value) -> ir.Value:
        """The value that was padded, of the same type: onnx's inference knows no operators of padops.

        What has been found is remembered for every Pad on the way, so that a chain of them is walked once.
        """
        walked: set[ir.Value] = set()
        while value not in walked and (node := value.producer()) is not None:
            if node.domain not in (DOMAIN, pyop_node.DOMAIN) or not node.inputs or (data := node.inputs[0]) is None:
                break
            walked.add(value)
            known = self._behind.get(value)
            maker = None if known is None else known.producer()
            value = data if known is None or (maker is not None and maker.graph is None) else known
        self._behind.update(dict.fromkeys(walked, value))
        return value

    def _lookup(self, value: ir.Value) -> Known:
        inferred = self.infer()
        if value not in inferred:
            return None, None
        if value not in self._read:
            self._read[value] = _known(inferred[value])
        return self._read[value]

    def _infer(self) -> dict[ir.Value, onnx.TypeProto]:
        try:
            # Not with data_prop=True, which allocates tens of bytes for each element of any vector.
            light = declarations(self._document.message())
            _open_negative_dims(light.graph)
            open_axes(light)
            open_backward_slices(light)
            message = _inferred(light)
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError, RuntimeError) as error:
            self.problem = f"types and shapes could not be inferred: {error}"
            return {}
        return dict(_types_of_outputs(self._document.model.graph, message.graph))


def _types_of_outputs(graph: ir.Graph, message: onnx.GraphProto) -> Iterator[tuple[ir.Value, onnx.TypeProto]]:
    """What the message of a graph says of the values that its nodes give, at any depth."""
    stated = {info.name: info for info in (*message.value_info, *message.output)}
    for node, node_message in zip(graph, message.node, strict=True):
        for value in node.outputs:
            if value.name in stated and stated[value.name].HasField("type"):
                yield value, stated[value.name].type
        for inner, inner_message in subgraphs(node, node_message):
            yield from _types_of_outputs(inner, inner_message)


def _known(message: onnx.TypeProto) -> Known:
    """The element type and the dims that a type says."""
    if not message.HasField("tensor_type"):
        return None, _dims(ir.serde.deserialize_type_proto_for_shape(message))
    tensor = message.tensor_type
    dims = [_size(dim.dim_value if dim.HasField("dim_value") else None) for dim in tensor.shape.dim]
    return ir.DataType(tensor.elem_type), dims if tensor.HasField("shape") else None


def _dims(shape: ir.Shape | None) -> list[int | None] | None:
    return None if shape is None else [_size(dim) for dim in shape]


def _size(dim: object) -> int | None:
    """The size that a dim states; None for a symbol, and for -1, which some exporters write for a dim that is open."""
    return dim if isinstance(dim, int) and dim >= 0 else None


def _stated_dtype(value: ir.Value) -> ir.DataType | None:
    """What the graph says by itself: a declaration, an initializer, or the Constant or Cast that makes the value."""
    if value.dtype is not None:
        return value.dtype
    if value.const_value is not None:
        return value.const_value.dtype
    node = value.producer()
    if node is not None and node.domain == "" and node.op_type == "Constant":
        tensor: ir.TensorProtocol | None = attribute_value(node, "value", ir.AttributeType.TENSOR)
        return None if tensor is None else tensor.dtype
    if node is not None and node.domain == "" and node.op_type == "Cast":
        to = attribute_value(node, "to", ir.AttributeType.INT)
        return ir.DataType(to) if to is not None and by_onnx(to) else None
    return None


def declarations(message: onnx.ModelProto) -> onnx.ModelProto:
    """The model without the bulk of its data: large initializers become declarations of type and shape."""
    light = onnx.ModelProto(ir_version=message.ir_version)
    light.opset_import.extend(message.opset_import)
    light.functions.extend(message.functions)
    graph, source = light.graph, message.graph
    for field in ("node", "input", "output", "value_info"):
        getattr(graph, field).extend(getattr(source, field))
    inputs = {value.name for value in graph.input}
    for tensor in source.initializer:
        if message.ir_version >= 4 and tensor.name in inputs:
            continue  # at most a default; inference would take it for a constant
        if tensor.data_location != onnx.TensorProto.EXTERNAL and tensor.ByteSize() <= WORTH_KEEPING:
            graph.initializer.add().CopyFrom(tensor)
        elif tensor.name not in inputs:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return light


def _inferred(message: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types and shapes that onnx infers.

    Where a stated shape contradicts what the nodes give, the nodes are right, as in ONNX Runtime: such a statement is
    left over where somebody has changed the inputs alone, for another batch size. A stated shape counts where the nodes
    say less.
    """
    stated = [_stated_shapes(graph) for graph in graphs_of(message.graph)]
    if not any(stated):
        return onnx.shape_inference.infer_shapes(message)
    shapes = [{name: deepcopy(tensor.shape) for name, tensor in tensors.items()} for tensors in stated]
    for tensors in stated:
        for tensor in tensors.values():
            tensor.ClearField("shape")
    given = onnx.shape_inference.infer_shapes(message)
    says_more = False
    for tensors, former, graph in zip(stated, shapes, graphs_of(given.graph), strict=True):
        found = _stated_shapes(graph)
        for name, tensor in tensors.items():
            if name not in found or _agree(former[name], found[name].shape):
                tensor.shape.CopyFrom(former[name])
                says_more = says_more or name not in found or _says_more(former[name], found[name].shape)
    return onnx.shape_inference.infer_shapes(message) if says_more else given


def _open_negative_dims(message: onnx.GraphProto) -> None:
    """Takes away what onnx would compute with: a pad of 2 makes 1 of -1, see ``_size``."""
    for graph in graphs_of(message):
        for info in (*graph.input, *graph.value_info, *graph.output):
            for dim in info.type.tensor_type.shape.dim:
                if dim.dim_value < 0:
                    dim.ClearField("dim_value")


def _stated_shapes(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto.Tensor]:
    """What a graph says of the values that its nodes give, where it says a shape."""
    infos = (*graph.value_info, *graph.output)
    return {info.name: info.type.tensor_type for info in infos if info.type.tensor_type.HasField("shape")}


def _agree(one: onnx.TensorShapeProto, other: onnx.TensorShapeProto) -> bool:
    """Whether two shapes can be those of one tensor."""
    return len(one.dim) == len(other.dim) and all(
        a.dim_value == b.dim_value
        for a, b in zip(one.dim, other.dim)
        if a.HasField("dim_value") and b.HasField("dim_value")
    )


def _says_more(one: onnx.TensorShapeProto, other: onnx.TensorShapeProto) -> bool:
    """Whether a shape has a number where another of the same tensor has none."""
    return any(a.HasField("dim_value") and not b.HasField("dim_value") for a, b in zip(one.dim, other.dim))
