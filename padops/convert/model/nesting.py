"""Graphs inside nodes, at any depth: the one module, apart from ``scan.py``, that knows where a message holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx

Body = onnx.GraphProto | onnx.FunctionProto


def graphs_in(attributes: Iterable[onnx.AttributeProto]) -> list[tuple[str, onnx.GraphProto]]:
    """Return the graphs in a node's attributes, each with its name: ``body``, or ``bodies[1]`` in a list."""
    found: list[tuple[str, onnx.GraphProto]] = []  # a generator would take longer than most nodes' attributes
    for attribute in attributes:
        if attribute.HasField("g"):
            found.append((attribute.name, attribute.g))
        elif attribute.graphs:
            found += [(f"{attribute.name}[{i}]", graph) for i, graph in enumerate(attribute.graphs)]
    return found


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and all graphs inside it, each before the graphs inside it."""
    yield graph
    for node in graph.node:
        for _, inner in graphs_in(node.attribute):
            yield from graphs_of(inner)


def nodes_of(nodes: Iterable[onnx.NodeProto], path: str = "") -> Iterator[tuple[str, onnx.NodeProto]]:
    """Yield each node with its path, such as ``graph.node[3].body.node[0]``, before the nodes inside it."""
    for i, node in enumerate(nodes):
        place = f"{path}.node[{i}]"
        yield place, node
        for name, inner in graphs_in(node.attribute):
            yield from nodes_of(inner.node, f"{place}.{name}")


def nodes_in(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """Return the nodes of a model, of its functions and of all graphs inside."""
    bodies: Sequence[Body] = (model.graph, *model.functions)
    return [node for body in bodies for _, node in nodes_of(body.node)]


def graphs_beside(model: onnx.ModelProto, nodes: Iterable[onnx.NodeProto]) -> list[onnx.GraphProto]:
    """Return the main graph and the graphs of ``nodes_in`` the model."""
    return [model.graph, *(inner for node in nodes for _, inner in graphs_in(node.attribute))]


def shaped_type(kind: onnx.TypeProto) -> onnx.TypeProto.Tensor | None:
    """Return the type that may have a shape: a tensor's type, or a tensor's type within a sequence or an optional."""
    while (which := kind.WhichOneof("value")) in ("sequence_type", "optional_type"):
        kind = getattr(kind, which).elem_type
    return kind.tensor_type if which == "tensor_type" else None
