"""Topological order of nodes: runtimes take files in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

import onnx

from padops.convert.errors import PadopsError


def in_order(nodes: Sequence[onnx.NodeProto]) -> list[int]:
    """The indices of a graph's nodes in topological order.

    Raises:
        PadopsError: The graph has a cycle.
    """
    made = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    reads = [{made[name] for name in _read(node) if name in made} for node in nodes]
    if all(not places or max(places) < place for place, places in enumerate(reads)):
        return list(range(len(nodes)))
    try:
        return list(TopologicalSorter(dict(enumerate(reads))).static_order())
    except CycleError as error:
        label = nodes[error.args[1][0]].name or nodes[error.args[1][0]].op_type
        raise PadopsError(f"node '{label}' reads what is computed from its own result") from None


def _read(node: onnx.NodeProto) -> Iterator[str]:
    """The values that a node and its bodies read from the graph around the node."""
    yield from node.input
    for attribute in node.attribute:
        if attribute.HasField("g"):
            own = {name for inner in attribute.g.node for name in inner.output}
            own |= {value.name for value in attribute.g.input} | {row.name for row in attribute.g.initializer}
            names = [name for inner in attribute.g.node for name in _read(inner)]
            yield from (name for name in (*names, *(row.name for row in attribute.g.output)) if name not in own)
