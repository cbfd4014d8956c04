"""Element types, shapes and elements of values: inferred by onnx, or computed from constants alone.

Exporters write known amounts as a chain of a dozen nodes: ConstantOfShape, Concat, Reshape, Slice, Transpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeGuard

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model import graphs
from padops.convert.model.document import Document
from padops.convert.model.graphs import LARGEST_CONSTANT, Scope, attribute_value, constant, paired_graphs, values_of
from padops.convert.model.inference import ENDLESS, ENDS, STEPS, declared, infer, is_unsure
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_onnx

Leaves = dict[ir.Value, np.ndarray]  # known values
Known = tuple[ir.DataType | None, list[int | None] | None]  # element type and dims


class Types:
    """Types and shapes of a document's values. Inference runs once, when a type or a shape is first missing."""

    def __init__(self, document: Document) -> None:
        self.problem: str | None = None  # the reason why inference failed
        self.evaluated = document.evaluated
        self._document = document
        self._inferred: dict[ir.Value, onnx.TypeProto | None] = {}  # of the document's values at inference
        self._behind: dict[ir.Value, ir.Value] = {}  # by the output of a Pad: the data of the first Pad in its chain

    def name(self, *values: ir.Value | None) -> str | None:
        """Return ONNX's name, such as ``"float"``, for the element type of the first value whose type is known."""
        present = [self._behind_pads(value) for value in values if value is not None]
        for ask in (_stated_dtype, lambda value: self._lookup(value)[0]):  # the stated types of all values first
            for value in present:
                dtype = ask(value)
                if dtype is not None and dtype != ir.DataType.UNDEFINED:
                    row = by_onnx(int(dtype))
                    return row.name if row else dtype.name.lower()
        return None

    def container(self, value: ir.Value | None) -> str | None:
        """Return ``"sequence"`` or ``"optional"`` for a value of this kind; None for a tensor or an unknown kind."""
        if value is None:
            return None
        kind = self.infer().get(value) if value.type is None else ir.serde.serialize_type(value.type)
        which = None if kind is None else kind.WhichOneof("value")
        return None if which is None or which == "tensor_type" else which.removesuffix("_type")

    def shape(self, value: ir.Value | None) -> list[int | None] | None:
        """Return the dims of a value, with None for each unknown dim; None if the rank is unknown."""
        if value is None:
            return None
        if (tensor := value.const_value) is not None:
            return list(tensor.shape.numpy())
        is_given = value.is_graph_input() and value.graph is self._document.model.graph
        if is_given or value not in self.infer():  # a value that padops created states its own shape
            return _dims(value.shape)
        return self._lookup(value)[1]

    def infer(self) -> dict[ir.Value, onnx.TypeProto | None]:
        """Infer types now. Call this before adding a node: inference pairs the graph's nodes with the message's nodes.

        The inferred shapes replace the shapes that the graph states; see ``Document.settle_shapes``.
        """
        if self._inferred:
            return self._inferred
        model = self._document.model
        roots = [model.graph, *(function.graph for function in model.functions.values())]
        try:
            main, bodies = infer(self._document.proto)
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError, RuntimeError) as error:
            self.problem = f"types and shapes could not be inferred: {error}"
            for graph in roots:
                for inner in (graph, *graph.subgraphs()):
                    self._inferred.update(dict.fromkeys(values_of(inner)))
        else:
            for body, found in zip(roots, (main, *bodies), strict=True):
                for part, message in paired_graphs(body, found):
                    kinds = {info.name: info.type for info in declared(message)}
                    self._inferred.update((value, kinds.get(value.name or "")) for value in values_of(part))
        for value in self._inferred:
            is_end = value.is_graph_input() or (value.is_graph_output() and not value.uses())
            if value.shape is not None and not (is_end and value.graph is model.graph):  # callers may rely on its shape
                dims, stated = self._lookup(value)[1], value.shape
                if dims is None or len(dims) != len(stated):
                    value.shape = None if dims is None else ir.Shape(dims)
                elif dims != list(stated.dims):  # names of open dims stay
                    value.shape = ir.Shape([known if isinstance(dim, int) else dim for dim, known in zip(stated, dims)])
        return self._inferred

    def _behind_pads(self, value: ir.Value) -> ir.Value:
        """Follow padops' Pads back to their data, which have the same type; onnx infers no type through these Pads."""
        walked: set[ir.Value] = set()
        while value not in walked and (node := value.producer()) is not None:
            if node.domain not in (DOMAIN, pyop_node.DOMAIN) or not node.inputs or (data := node.inputs[0]) is None:
                break
            walked.add(value)
            value = self._behind.get(value, data)
        self._behind.update(dict.fromkeys(walked, value))
        return value

    def _lookup(self, value: ir.Value) -> Known:
        kind = self.infer().get(value)
        if kind is None:
            return None, None
        dims = _dims(ir.serde.deserialize_type_proto_for_shape(kind))
        return ir.DataType(kind.tensor_type.elem_type) if kind.HasField("tensor_type") else None, dims


def _dims(shape: ir.Shape | None) -> list[int | None] | None:
    """Return the sizes; None for a symbol, and for -1, which some exporters write for an open dim."""
    return None if shape is None else [dim if isinstance(dim, int) and dim >= 0 else None for dim in shape]


def _stated_dtype(value: ir.Value) -> ir.DataType | None:
    """Return the type that the graph states: in a declaration, an initializer, or the value's Constant or Cast."""
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


MAX_NODES = 64  # of a chain

# The operators of chains that compute amounts.
OPERATORS = (
    "Add Cast Concat ConstantOfShape Div Equal Expand Flatten Gather Greater Identity Less Max Min Mul Neg Range "
    "Reshape Shape Size Slice Split Squeeze Sub Tile Transpose Unsqueeze Where"
).split()

# Operators that can make a large output from small inputs, and the inputs that determine its size.
SIZES = {"ConstantOfShape": (0,), "Expand": (1,), "Range": (0, 1, 2), "Tile": (1,)}

# The exceptions from evaluating nodes that are invalid or lack inputs.
REFUSALS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, MemoryError)


def evaluate(value: ir.Value | None, scope: Scope, types: Types) -> np.ndarray | None:
    """Return the elements of a small value that follows from constants and known dims; else None.

    ``scope`` is the scope of the node that reads the value. The document caches the elements, which stay valid:
    passes change no value that other nodes read.
    """
    if value is None or (known := constant(value, scope)) is not None:
        return None if value is None else known
    if value in types.evaluated:
        return types.evaluated[value]
    if not _may_be_known(value.producer()):
        return None
    leaves: Leaves = {}
    nodes: list[ir.Node] = []
    try:
        if not collect(value, scope, types, leaves, nodes) or any(_is_vast(node, scope, types) for node in nodes):
            return None
        slices = [node for node in nodes if node.op_type == "Slice" and len(node.inputs) > STEPS and node.inputs[STEPS]]
        for node in slices:  # runtimes may disagree on a Slice; if nodes compute its ends or steps, check the leaves
            bounds = [leaves[x] for i in (ENDS, STEPS) if (x := node.inputs[i]) in leaves]
            endless = any(np.isin(array, ENDLESS).any() for array in leaves.values())
            if is_unsure(*bounds) if len(bounds) == 2 else endless:
                return None
        array = run_nodes(nodes, leaves, value, scope.opset)
    except REFUSALS:  # the nodes stay; the runtime reports the error
        return None
    if array is None or array.size > LARGEST_CONSTANT:
        return None
    types.evaluated[value] = array
    return array


def remove_unread(values: Iterable[ir.Value]) -> None:
    """Remove unread ``values``, and the initializers, Constants and ``OPERATORS`` nodes that only these values need."""
    pending = list(values)
    while pending:
        value = pending.pop()
        node = value.producer()
        if not _may_be_known(node):
            graphs.remove_unused([value])
        elif node.graph is not None and not any(x.is_graph_output() or x.uses() for x in node.outputs):
            read = [x for x in node.inputs if x is not None]
            node.graph.remove(node, safe=True)
            pending += read


def _may_be_known(node: ir.Node | None) -> TypeGuard[ir.Node]:
    return node is not None and node.domain == "" and node.op_type in OPERATORS


def collect(value: ir.Value, scope: Scope, types: Types, leaves: Leaves, nodes: list[ir.Node], depth: int = 0) -> bool:
    """Collect the nodes that compute a value, in order, and their constant ``leaves``; return whether this succeeds."""
    node, array = value.producer(), constant(value, scope)
    if value in leaves or node in nodes:
        return True
    if array is None and node is not None and (node.domain, node.op_type) == ("", "Shape") and not node.attributes:
        dims = types.shape(node.inputs[0])
        array = None if dims is None or None in dims else np.array(dims, np.int64)
    if array is not None and array.dtype.kind in "biuf":
        leaves[value] = array
        return True
    if not _may_be_known(node) or max(depth, len(nodes)) > MAX_NODES:
        return False
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        return False
    if not all(x is None or collect(x, scope, types, leaves, nodes, depth + 1) for x in reversed(node.inputs)):
        return False
    nodes.append(node)
    return True


def _is_vast(node: ir.Node, scope: Scope, types: Types) -> bool:
    """Return whether a node's output may have more than ``LARGEST_CONSTANT`` elements."""
    if node.op_type not in SIZES:
        return False
    dims = types.shape(node.outputs[0])
    if dims is None or None in dims:
        asked = [evaluate(node.inputs[i], scope, types) for i in SIZES[node.op_type] if i < len(node.inputs)]
        sizes = [x for x in asked if x is not None]
        if len(sizes) < len(asked):
            return True
        if node.op_type == "Range":
            start, limit, delta = (x.item() for x in sizes)
            dims = [max(math.ceil((limit - start) / delta), 0)] if delta else []
        else:
            dims = sizes[0].reshape(-1).tolist() if sizes else []
    return math.prod([dim for dim in dims if dim is not None]) > LARGEST_CONSTANT


def run_nodes(nodes: Sequence[ir.Node], leaves: Leaves, value: ir.Value, opset: int | None) -> np.ndarray | None:
    """Return the value that nodes compute from named leaves, or None; raise ``REFUSALS`` if the evaluation fails."""
    from onnx.reference import ReferenceEvaluator

    names = {leaf.name: array for leaf, array in leaves.items() if leaf.name is not None}
    if opset is None or len(names) < len(leaves):
        return None
    infos = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in names.items()
    ]
    output = onnx.ValueInfoProto(name=value.name)
    graph = onnx.helper.make_graph([ir.serde.serialize_node(node) for node in nodes], "known", infos, [output])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    with np.errstate(divide="raise", invalid="raise"):
        (array,) = ReferenceEvaluator(model).run(None, names)
    return array if isinstance(array, np.ndarray) else None
