"""Graphs inside nodes, at any depth: the one place that knows where a message holds them.

``scan.py`` alone looks further, at every message inside a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx


def graphs_in(attributes: Iterable[onnx.AttributeProto]) -> list[tuple[str, onnx.GraphProto]]:
    """The graphs in attributes of a node, each with its name there: ``body``, or ``bodies[1]`` of a list.

    An attribute that refers to one of the function around has none.

    Args:
        attributes: Of the node, all or some.
    """
    found: list[tuple[str, onnx.GraphProto]] = []  # no generator, which takes longer than most nodes' attributes
    for attribute in attributes:
        if attribute.HasField("g"):
            found.append((attribute.name, attribute.g))
        elif attribute.graphs:
            found += [(f"{attribute.name}[{i}]", graph) for i, graph in enumerate(attribute.graphs)]
    return found


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """A graph and all graphs inside it, each before those inside it.

    Args:
        graph: Is the first of them.
    """
    yield graph
    for node in graph.node:
        for _, inner in graphs_in(node.attribute):
            yield from graphs_of(inner)


def nodes_of(nodes: Iterable[onnx.NodeProto], path: str = "") -> Iterator[tuple[str, onnx.NodeProto]]:
    """Nodes and all nodes inside them, each before those inside it, with its path.

    Args:
        nodes: Of a graph or a function.
        path: Of it, such as ``graph``; that of a node is then ``graph.node[3].body.node[0]``.
    """
    for i, node in enumerate(nodes):
        place = f"{path}.node[{i}]"
        yield place, node
        for name, inner in graphs_in(node.attribute):
            yield from nodes_of(inner.node, f"{place}.{name}")
