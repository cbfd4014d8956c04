"""Bodies of Scan with Pads in them: the shape of what they give is stated.

ONNX Runtime allocates a Scan's outputs by the shapes that its body states or lets it infer, and refuses to run it where there
are none. It infers them through a Pad, but neither through an operator of padops nor through amounts that are computed.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types


def declare_rows(sites: Iterable[NodeSite], types: Types) -> list[ir.Node]:
    """States the shapes of what the bodies of Scan around Pads give, as far as they can be inferred.

    Args:
        sites: The Pads.
        types: Of the model, which has inferred before a node was added.

    Returns:
        The nodes whose outputs have got a shape.
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
