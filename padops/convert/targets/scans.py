"""States the shapes of the outputs of Scan bodies with Pads.

ONNX Runtime allocates a Scan's outputs by the shapes that its body states or lets it infer, and refuses to run a Scan
without them. It infers shapes through a Pad of ONNX, but neither through an operator of padops nor through computed
amounts.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types


def declare_rows(sites: Iterable[NodeSite], types: Types) -> list[ir.Node]:
    """States the inferred shapes of the outputs of the Scan bodies around Pads.

    Returns:
        The nodes whose outputs got a shape.
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
