"""The operators around a Pad that ONNX Runtime's optimizers look at before they change it (fusions.md of the tests).

The answers may report too much, never too little: whether the operators between a Pad and a pooling change anything is
not decided here, and ONNX Runtime may inline a branch or a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, Scope, constant

POOLINGS = frozenset({("", "MaxPool"), ("", "AveragePool")})

# Operators because of which ONNX Runtime moves Transposes through a model: it adds some around quantized convolutions.
TRANSPOSING = frozenset(
    {("", "Transpose"), ("", "QLinearConv"), ("", "QuantizeLinear"), ("com.microsoft", "QLinearConv")}
)

LOOKED_AT = 64  # the most operators to look at, behind a Pad or before a condition; beyond them, the worst is assumed

SHAPES = frozenset({("", "Shape"), ("", "Size")})  # their results are constant for constant shapes, whatever the data

# Operators that may change nothing. ONNX Runtime removes such a node before it folds Pads.
_PASSING = frozenset({"Identity", "Dropout", "Cast", "CastLike", "Transpose", "Slice", "Expand", "Pad"})
_PASSING_WITH = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}  # with this constant operand


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of a Pad."""

    # A MaxPool or AveragePool that may become the direct reader of the padded data, in words; "" for none.
    pooling: str = ""
    transposing: bool = False  # whether Transposes may be moved through the Pad
    # The number of Ifs around the Pad whose conditions may be constant, so that ONNX Runtime moves their nodes out of
    # them. One more if the Pad follows from a value within these Ifs but outside its own graph.
    folding: int = 0
    operators: frozenset[str] = frozenset()  # the types of all operators of the model
    in_body: bool | None = False  # whether the Pad stands in a branch or another body; None if the body may be inlined


ALONE = Surroundings()


def look_around(site: NodeSite) -> Surroundings:
    """The surroundings of a Pad's node."""
    operators = site.scope.index.operators
    pooling = next(_poolings(site), "") if operators & POOLINGS else ""
    folding = _folding(site.scope, site.node.inputs, {}) if ("", "If") in operators else 0
    types = frozenset(name for _, name in operators)
    return Surroundings(pooling, bool(operators & TRANSPOSING), folding, types, _is_in_body(site.scope))


def _is_in_body(scope: Scope) -> bool | None:
    """Whether a graph is a body, or of a function that only bodies call; None if constant Ifs may inline it."""
    owner: NodeSite | None = scope.owner
    answer: bool | None = False
    while owner is not None:
        node, scope = owner.node, owner.scope
        if (node.domain, node.op_type) != ("", "If") or not _may_be_constant(node.inputs[:1], scope.root):
            return True
        owner, answer = scope.owner, None
    if isinstance(scope.root, ir.Function) and (calls := scope.index.calls(scope.root)):
        answers = {_is_in_body(call.scope) for call in calls}
        return answer if answers == {False} else True if answers == {True} else None
    return answer


def _folding(scope: Scope, reads: Sequence[ir.Value | None], known: dict[ir.Graph | ir.Function, int]) -> int:
    """The number of possibly constant Ifs around a node that reads these values, or around its function's calls.

    One more if the node follows from a value of a graph between its own and the outermost such If: in the lowered Pad,
    an If or a Loop would read this value from within an If or a Loop that is moved.
    """
    ifs, inside, moved = 0, [scope.graph], 0
    owner = scope.owner
    while owner is not None:
        node, around = owner.node, owner.scope
        if (node.domain, node.op_type) == ("", "If") and _may_be_constant(node.inputs[:1], around.root):
            ifs, moved = ifs + 1, len(inside)
        inside.append(around.graph)
        owner = around.owner
    between = _follows_from(reads, inside[0], inside[1:moved])
    root = scope.root
    if isinstance(root, ir.Function):
        if root not in known:
            calls = scope.index.calls(root)
            known[root] = max((_folding(call.scope, call.node.inputs, known) for call in calls), default=0)
        ifs += known[root]
        between = between or (known[root] > 0 and len(inside) > 1)
    return ifs + between


def _follows_from(
    reads: Iterable[ir.Value | None], own: ir.Graph | ir.Function, others: Sequence[ir.Graph | ir.Function]
) -> bool:
    """Whether values belong to one of the ``others``, or nodes of the ``own`` graph compute them from such values.

    The nodes in between do not help: ONNX Runtime removes an Identity, and moves a Transpose to behind the Pad.
    """
    pending, seen = list(reads) if others else [], set(reads)
    while pending:
        value = pending.pop()
        if value is None:
            continue
        if value.graph in others or len(seen) > LOOKED_AT:
            return True
        producer = value.producer() if value.graph is own else None
        new = set(producer.inputs) - seen if producer is not None else set()
        seen |= new
        pending += new
    return False


def _may_be_constant(values: Sequence[ir.Value | None], root: ir.Graph | ir.Function) -> bool:
    """Whether ONNX Runtime may compute values while it loads the model: they follow from constants and shapes alone."""
    pending, seen = list(values), set(values)
    while pending and len(seen) <= LOOKED_AT:
        value = pending.pop()
        if value is None or value.const_value is not None:
            continue
        node = value.producer()
        if node is None and not (isinstance(root, ir.Function) and value.graph is root.graph):
            return False  # an input of the model or of a Loop; a call may give a function's input as a constant
        if node is not None and (node.domain, node.op_type) not in SHAPES:
            fresh = [read for read in node.inputs if read not in seen]
            seen.update(fresh)
            pending += fresh
    return True


def _poolings(site: NodeSite) -> Iterator[str]:
    """The poolings that may become direct readers of the node's output."""
    pending, seen = [site.node.outputs[0]], {site.node}
    main = site.scope.model.graph
    while pending:
        value = pending.pop()
        producer = value.producer()
        if value.is_graph_output() and producer is not None and producer.graph is not main:
            yield "a pooling outside of its graph"
        for node in (use.node for use in value.uses() if use.idx == 0 or _passes(use.node, site)):
            if (node.domain, node.op_type) in POOLINGS:
                yield f"{node.op_type} {node.name or node.outputs[0].name}"
            elif node.op_identifier() in site.scope.model.functions:
                yield "a pooling in a function"
            elif len(seen) > LOOKED_AT:
                yield "a pooling behind many operators"
            elif node not in seen and _passes(node, site):
                seen.add(node)
                pending.append(node.outputs[0])


def _passes(node: ir.Node, site: NodeSite) -> bool:
    """Whether a node may change nothing."""
    if node.domain != "":
        return False
    if node.op_type in _PASSING_WITH:
        arrays = [constant(value, site.scope) for value in node.inputs]
        return any(array is not None and bool(np.all(array == _PASSING_WITH[node.op_type])) for array in arrays)
    return node.op_type in _PASSING
