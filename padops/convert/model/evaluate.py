"""Evaluates values that are computed from constants alone.

Exporters write known amounts as a chain of a dozen nodes: ConstantOfShape, Concat, Reshape, Slice, Transpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeGuard

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.graphs import LARGEST_CONSTANT, Index, Scope, constant, remove_unused
from padops.convert.model.inference import ENDLESS, ENDS, STEPS, is_unsure
from padops.convert.model.types import Types

MAX_NODES = 64

# The operators of such chains.
OPERATORS = frozenset(
    (
        "Add Cast Concat ConstantOfShape Div Equal Expand Flatten Gather Greater Identity Less Max Min Mul Neg Range "
        "Reshape Shape Size Slice Split Squeeze Sub Tile Transpose Unsqueeze Where"
    ).split()
)

# Operators that can make a large output from small inputs, and the inputs that give its size.
SIZES = {"ConstantOfShape": (0,), "Expand": (1,), "Range": (0, 1, 2), "Tile": (1,)}

# The exceptions of evaluating nodes that are invalid or lack inputs.
REFUSALS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, MemoryError)


def evaluate(value: ir.Value | None, scope: Scope, types: Types) -> np.ndarray | None:
    """The elements of a small value that follows from constants and known dims; else None.

    ``scope`` is the reader's. What has been computed is remembered for the document: passes change no value that others
    read.
    """
    if value is None or (known := constant(value, scope)) is not None:
        return None if value is None else known
    if value in types.evaluated:
        return types.evaluated[value]
    if not _may_be_known(value.producer()):
        return None
    leaves: dict[ir.Value, np.ndarray] = {}
    try:
        nodes = _ancestors(value, scope, types, leaves)
        if nodes is None or any(_is_vast(node, scope, types) for node in nodes):
            return None
        if any(node.op_type == "Slice" and _is_unsure(node, leaves) for node in nodes):
            return None
        array = _run_nodes(nodes, leaves, value, scope)
    except REFUSALS:  # the nodes stay; the runtime reports the error
        return None
    if array is not None:
        types.evaluated[value] = array
    return array


def _is_unsure(node: ir.Node, leaves: dict[ir.Value, np.ndarray]) -> bool:
    """Whether runtimes may disagree on a Slice; if its ends or steps are computed, judged by the leaves."""
    if len(node.inputs) <= STEPS or node.inputs[STEPS] is None:
        return False
    known = [leaves[value] for i in (ENDS, STEPS) if (value := node.inputs[i]) in leaves]
    if len(known) == 2:
        return is_unsure(*known)
    return any(np.isin(array, ENDLESS).any() for array in leaves.values())


def remove_unread(values: Iterable[ir.Value], index: Index) -> None:
    """Removes the nodes that compute values which nothing reads any more, as far as ``evaluate`` can follow them."""
    pending = list(values)
    while pending:
        value = pending.pop()
        node = value.producer()
        if not _may_be_known(node):
            remove_unused([value], index)
        elif node.graph is not None and not any(x.is_graph_output() or index.last_uses(x) for x in node.outputs):
            read = [x for x in node.inputs if x is not None]
            node.graph.remove(node, safe=True)
            pending += read


def _may_be_known(node: ir.Node | None) -> TypeGuard[ir.Node]:
    """Whether a node is of an operator that ``evaluate`` follows."""
    return node is not None and node.domain == "" and node.op_type in OPERATORS


def _ancestors(value: ir.Value, scope: Scope, types: Types, leaves: dict[ir.Value, np.ndarray]) -> list[ir.Node] | None:
    """The nodes that compute a value, in order, down to the leaves; None if an operator or a leaf is unknown."""
    nodes: list[ir.Node] = []
    pending: list[tuple[ir.Value, ir.Node | None]] = [(value, None)]  # with its node, once the inputs of that are done
    while pending:
        this, done = pending.pop()
        node = this.producer()
        if this in leaves or node in nodes:
            continue
        if done is not None:
            nodes.append(done)
            continue
        if (array := _leaf(this, scope, types)) is not None:
            leaves[this] = array
            continue
        if not _may_be_known(node) or len(nodes) + len(pending) > MAX_NODES:
            return None
        if any(attribute.is_ref() for attribute in node.attributes.values()):
            return None
        pending.append((this, node))
        pending += [(x, None) for x in node.inputs if x is not None]
    return nodes


def _is_vast(node: ir.Node, scope: Scope, types: Types) -> bool:
    """Whether a node's output may have more than ``LARGEST_CONSTANT`` elements."""
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


def _leaf(value: ir.Value, scope: Scope, types: Types) -> np.ndarray | None:
    """The elements of a constant, or of a Shape whose dims are all known; else None."""
    array = constant(value, scope)
    if array is not None:
        return array if array.dtype.kind in "biuf" else None
    node = value.producer()
    if node is None or (node.domain, node.op_type) != ("", "Shape") or node.attributes:
        return None
    dims = types.shape(node.inputs[0])
    return None if dims is None or None in dims else np.array(dims, np.int64)


def _run_nodes(
    nodes: list[ir.Node], leaves: dict[ir.Value, np.ndarray], value: ir.Value, scope: Scope
) -> np.ndarray | None:
    """Evaluates the nodes with onnx's own evaluator."""
    from onnx.reference import ReferenceEvaluator

    names = {leaf.name: array for leaf, array in leaves.items() if leaf.name is not None}
    if scope.opset is None or len(names) < len(leaves):
        return None
    infos = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in names.items()
    ]
    output = onnx.ValueInfoProto(name=value.name)
    graph = onnx.helper.make_graph([ir.serde.serialize_node(node) for node in nodes], "known", infos, [output])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", scope.opset)])
    with np.errstate(divide="raise", invalid="raise"):
        (array,) = ReferenceEvaluator(model).run(None, names)
    return array if isinstance(array, np.ndarray) and array.size <= LARGEST_CONSTANT else None
