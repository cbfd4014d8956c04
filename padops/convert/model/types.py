"""Element types and shapes of values: what onnx infers; the graph's own word counts for types alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx
import onnx_ir as ir

from padops.convert.model.document import Document
from padops.convert.model.graphs import attribute_value, subgraphs
from padops.convert.model.inference import infer
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_onnx

Known = tuple[ir.DataType | None, list[int | None] | None]  # element type and dims
NOTHING: Known = (None, None)


class Types:
    """Answers for the values of one document. Inference runs once, when first a type or a shape is missing."""

    def __init__(self, document: Document) -> None:
        self.problem: str | None = None  # what kept types from being inferred
        self.evaluated = document.evaluated
        self._document = document
        self._inferred: dict[ir.Value, onnx.TypeProto | None] | None = None  # all values that the document had then
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

    def container(self, value: ir.Value | None) -> str | None:
        """What a value is known to be instead of a tensor: ``"sequence"`` or ``"optional"``; else None."""
        if value is None:
            return None
        kind = None if value.type is None else ir.serde.serialize_type(value.type)
        kind = self.infer().get(value) if kind is None else kind
        which = kind.WhichOneof("value") if kind is not None else None
        return None if which is None or which == "tensor_type" else which.removesuffix("_type")

    def shape(self, value: ir.Value | None) -> list[int | None] | None:
        """The dims of a value, None for each that is not known, or None if not even their number is."""
        if value is None:
            return None
        if (tensor := value.const_value) is not None:
            if id(tensor) not in self._constants:  # a tensor reads its dims from its message each time
                self._constants[id(tensor)] = tensor, tensor.shape.numpy()
            return list(self._constants[id(tensor)][1])
        is_given = value.is_graph_input() and value.graph is self._document.model.graph
        if is_given or value not in self.infer():  # of a value that padops has made, the shape is its own
            return _dims(value.shape)
        return self._lookup(value)[1]

    def infer(self) -> dict[ir.Value, onnx.TypeProto | None]:
        """Infers now, which must be before a node is added: the graph's nodes are paired with those of the message.

        What the graph says of shapes becomes what is known of them; see ``Document.settle_shapes``.
        """
        if self._inferred is None:
            self._inferred = self._infer()
            main = self._document.model.graph
            for value in self._inferred:
                is_end = value.is_graph_input() or (value.is_graph_output() and not value.uses())
                if value.shape is not None and not (is_end and value.graph is main):  # on those, callers may rely
                    value.shape = _confirmed(value.shape, self._lookup(value)[1])
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
        if value not in self._read:
            kind = self.infer().get(value)
            self._read[value] = NOTHING if kind is None else _known(kind)
        return self._read[value]

    def _infer(self) -> dict[ir.Value, onnx.TypeProto | None]:
        model = self._document.model
        graphs = [model.graph, *(function.graph for function in model.functions.values())]
        found: dict[ir.Value, onnx.TypeProto | None] = {}
        try:
            main, bodies = infer(self._document.message())
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError, RuntimeError) as error:
            self.problem = f"types and shapes could not be inferred: {error}"
            return {value: None for graph in graphs for value in _values(graph)}
        for graph, message in zip(graphs, (main, *bodies), strict=True):
            found.update(_types_of_values(graph, message))
        return found


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    """The inputs and the values that nodes give, of a graph and all graphs inside it."""
    for inner in (graph, *graph.subgraphs()):
        yield from inner.inputs
        yield from (value for node in inner for value in node.outputs)


def _types_of_values(graph: ir.Graph, message: onnx.GraphProto) -> Iterator[tuple[ir.Value, onnx.TypeProto | None]]:
    """What the message of a graph says of its inputs and of the values that its nodes give, at any depth."""
    stated = {info.name: info.type for info in (*message.input, *message.value_info, *message.output)}
    for value in (*graph.inputs, *(value for node in graph for value in node.outputs)):
        yield value, stated.get(value.name or "")
    for node, node_message in zip(graph, message.node, strict=True):
        for inner, inner_message in subgraphs(node, node_message):
            yield from _types_of_values(inner, inner_message)


def _confirmed(stated: ir.Shape, dims: list[int | None] | None) -> ir.Shape | None:
    """A shape that a graph states, with the numbers that are known instead of those that it states."""
    if dims == list(stated.dims):
        return stated
    if dims is None or len(dims) != len(stated):
        return None if dims is None else ir.Shape(dims)
    return ir.Shape([known if isinstance(dim, int) else dim for dim, known in zip(stated, dims)])


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
    if isinstance(value.type, ir.TensorType):
        return value.type.dtype
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
