"""What a value always is, where it is computed from constants alone.

Exporters write amounts that they know as a chain of a dozen nodes: ConstantOfShape, Concat, Reshape, Slice, Transpose.
"""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.graphs import LARGEST_CONSTANT, Scope, constant
from padops.convert.model.types import Types

MAX_NODES = 64

# The operators of such chains. Those that can make a large output of small inputs are in ``_is_vast``.
OPERATORS = frozenset(
    [
        "Add",
        "Cast",
        "Concat",
        "ConstantOfShape",
        "Div",
        "Equal",
        "Expand",
        "Flatten",
        "Gather",
        "Greater",
        "Identity",
        "Less",
        "Max",
        "Min",
        "Mul",
        "Neg",
        "Range",
        "Reshape",
        "Shape",
        "Size",
        "Slice",
        "Split",
        "Squeeze",
        "Sub",
        "Tile",
        "Transpose",
        "Unsqueeze",
        "Where",
    ]
)


def evaluate(value: ir.Value | None, scope: Scope, types: Types) -> np.ndarray | None:
    """The elements of a small value that follows from constants, and from dims that are known; else None.

    Args:
        value: The value; None gives None.
        scope: Where it is read.
        types: Of the model, for the dims of other values.
    """
    if value is None or (known := constant(value, scope)) is not None:
        return None if value is None else known
    leaves: dict[ir.Value, np.ndarray] = {}
    nodes = _ancestors(value, scope, types, leaves)
    if nodes is None or any(_is_vast(node, types) for node in nodes):
        return None
    return _run_nodes(nodes, leaves, value, scope)


def _ancestors(value: ir.Value, scope: Scope, types: Types, leaves: dict[ir.Value, np.ndarray]) -> list[ir.Node] | None:
    """The nodes that make a value, in order, down to the leaves; None where one of them is not known."""
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
        if node is None or node.domain != "" or node.op_type not in OPERATORS or len(nodes) + len(pending) > MAX_NODES:
            return None
        if any(attribute.is_ref() for attribute in node.attributes.values()):
            return None
        pending.append((this, node))
        pending += [(x, None) for x in node.inputs if x is not None]
    return nodes


def _is_vast(node: ir.Node, types: Types) -> bool:
    """Whether a node is known to make more of its inputs than anything here is worth."""
    if node.op_type not in ("ConstantOfShape", "Expand", "Range", "Tile"):
        return False
    dims = types.shape(node.outputs[0])
    return dims is not None and prod(dim for dim in dims if dim is not None) > LARGEST_CONSTANT


def _leaf(value: ir.Value, scope: Scope, types: Types) -> np.ndarray | None:
    """A constant, or the dims of a value where all of them are known."""
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
    """What the nodes make of the leaves, in onnx's own evaluator."""
    from onnx.reference import ReferenceEvaluator

    names = {leaf.name: array for leaf, array in leaves.items() if leaf.name is not None}
    if scope.opset is None or len(names) < len(leaves):
        return None
    infos = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in names.items()
    ]
    output = onnx.ValueInfoProto(name=value.name)
    try:
        graph = onnx.helper.make_graph([ir.serde.serialize_node(node) for node in nodes], "known", infos, [output])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", scope.opset)])
        (array,) = ReferenceEvaluator(model).run(None, names)
    except (RuntimeError, TypeError, ValueError, LookupError, MemoryError):  # it is left to the runtime, as it was
        return None
    return array if isinstance(array, np.ndarray) and array.size <= LARGEST_CONSTANT else None
