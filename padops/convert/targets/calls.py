"""States the types and ranks of the outputs of functions with Pads, which ONNX Runtime cannot infer.

If a Pad has no fallback, ONNX Runtime infers nothing through a function with this Pad, and does not load a model that
does not state the type of the call's output.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, walk
from padops.convert.model.types import Types
from padops.convert.targets.native import declare
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN


def declare_calls(model: ir.Model, types: Types) -> list[ir.Node]:
    """States the outputs' types and ranks for calls of functions with Pads, if inferable; returns the calls.

    Their dims stay open: nothing but the functions gives them.
    """
    if not model.functions:
        return []
    within: dict[ir.OperatorIdentifier, set[ir.OperatorIdentifier]] = {}  # by function: the operators of its body
    calls = []
    for site in walk(model):
        if isinstance(site.scope.root, ir.Function):
            within.setdefault(site.scope.root.identifier(), set()).add(site.node.op_identifier())
        elif site.node.op_identifier() in model.functions:
            calls.append(site.node)
    padding = {
        name for name, body in within.items() if any(domain in (DOMAIN, pyop_node.DOMAIN) for domain, *_ in body)
    }
    while more := {name for name, body in within.items() if name not in padding and body & padding}:
        padding |= more
    calls = [node for node in calls if node.op_identifier() in padding and node.domain != DOMAIN]
    for value in (value for node in calls for value in node.outputs):
        declare(value, None, types)
        if value.shape is not None:
            value.shape = ir.Shape([None] * len(value.shape))
    return calls


def declare_rows(sites: Iterable[NodeSite], types: Types) -> list[ir.Node]:
    """States the inferred shapes of the outputs of the Scan bodies around Pads; returns the nodes that make them.

    ONNX Runtime allocates a Scan's outputs by the shapes that its body states or lets it infer, and refuses to run a
    Scan without them. It infers shapes through a Pad of ONNX, but neither through an operator of padops nor through
    computed amounts.
    """
    bodies = {}
    for site in sites:
        scope = site.scope
        while scope.owner is not None:
            if scope.owner.node.op_identifier() == ("", "Scan", ""):
                bodies[scope.path] = scope.graph
            scope = scope.owner.scope
    changed = []
    for value in (value for body in bodies.values() for value in body.outputs):
        node, dims = value.producer(), types.shape(value)
        if node is not None and dims is not None and value.shape is None:
            value.shape = ir.Shape(dims)
            changed.append(node)
    return changed
