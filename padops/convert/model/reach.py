"""The values of a model that depend on given nodes."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from padops.convert.model.graphs import walk


def values_behind(model: ir.Model, nodes: Iterable[ir.Node]) -> frozenset[str]:
    """The names of the values that depend on one of these nodes, in any graph.

    For a node in a body or a function, its owner (such as an If) or all calls depend on it too.
    """
    pending = list(nodes)
    if not pending:
        return frozenset()
    sites = {site.node: site for site in walk(model)}
    behind: set[ir.Node] = set()
    while pending:
        node = pending.pop()
        if node in behind or node not in sites:
            continue
        behind.add(node)
        scope = sites[node].scope
        pending += [reader for value in node.outputs for reader, _ in value.uses()]
        if scope.owner is not None:
            pending.append(scope.owner.node)
        elif isinstance(scope.root, ir.Function):
            pending += [call.node for call in scope.index.calls(scope.root)]
    return frozenset(value.name for node in behind for value in node.outputs if value.name)
