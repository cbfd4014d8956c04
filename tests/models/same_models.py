"""Models written in another way that compute the same, whatever they are fed: what a proof has to see through.

Each way changes what is no part of a computation: names, the order of nodes, where a constant stands, what is declared,
how a tensor is stored.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from onnx import helper


def graphs(message: Any) -> Iterator[Any]:
    """Every graph and function of a model, or those within a graph, itself included."""
    roots = [message.graph, *message.functions] if isinstance(message, onnx.ModelProto) else [message]
    while roots:
        root = roots.pop()
        yield root
        rows = [row for node in root.node for row in node.attribute]
        roots += [one for row in rows for one in (*row.graphs, *[row.g] * row.HasField("g"))]


def renamed(model: onnx.ModelProto) -> onnx.ModelProto:
    """Each inner value and each node has another name."""
    made = copy.deepcopy(model)
    kept = {row.name for row in (*made.graph.input, *made.graph.output)} | {""}

    def other(name: str) -> str:
        return name if name in kept else f"other_{name}"

    for graph in graphs(made):
        is_function = isinstance(graph, onnx.FunctionProto)
        for row in () if is_function else (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            row.name = other(row.name)
        for number, node in enumerate(graph.node):
            node.name = f"node_{number}"
        for one in (*graph.node, *[graph] * is_function):
            one.input[:], one.output[:] = list(map(other, one.input)), list(map(other, one.output))
    return made


def reordered(model: onnx.ModelProto) -> onnx.ModelProto:
    """The nodes of each graph in another order in which they can run: the last ones that can come first."""
    made = copy.deepcopy(model)
    for graph in graphs(made):
        nodes, own = [copy.deepcopy(node) for node in graph.node], {name for node in graph.node for name in node.output}
        done: set[str] = set()
        del graph.node[:]
        while nodes:
            at = next(i for i in reversed(range(len(nodes))) if not (_reads(nodes[i]) & own) - done)
            done.update(nodes[at].output)
            graph.node.append(nodes.pop(at))
    return made


def _reads(node: onnx.NodeProto) -> set[str]:
    inner = {name for row in node.attribute if row.HasField("g") for one in row.g.node for name in _reads(one)}
    given = {one.name for row in node.attribute if row.HasField("g") for one in row.g.output}
    return {*node.input, *inner, *given} - {""}


def initializers_as_constants(model: onnx.ModelProto) -> onnx.ModelProto:
    """Each initializer that is no input is a Constant."""
    made = copy.deepcopy(model)
    for graph in graphs(made):
        if isinstance(graph, onnx.FunctionProto):
            continue
        given = {row.name for row in graph.input} | {row.name for row in graph.output}
        for at, row in enumerate([row for row in graph.initializer if row.name not in given]):
            graph.node.insert(at, helper.make_node("Constant", [], [row.name], value=row))
            graph.initializer.remove(row)
    return made


def undeclared(model: onnx.ModelProto) -> onnx.ModelProto:
    """Nothing says of inner values what they are; attributes stand in another order."""
    made = copy.deepcopy(model)
    del made.graph.value_info[:]
    for graph in graphs(made):
        for node in graph.node:
            rows = [copy.deepcopy(row) for row in reversed(node.attribute)]
            node.doc_string = "another text"
            del node.attribute[:]
            node.attribute.extend(rows)
    return made


def declared(model: onnx.ModelProto) -> onnx.ModelProto:
    """Declares the inner values with the types that onnx infers; those of an If before opset 11 may be wrong."""
    has_if = any(node.op_type == "If" for graph in graphs(model) for node in graph.node)
    if has_if and any(row.domain == "" and row.version < 11 for row in model.opset_import):
        return copy.deepcopy(model)
    return onnx.shape_inference.infer_shapes(model)


def copied(model: onnx.ModelProto) -> onnx.ModelProto:
    """Each result passes through an Identity, and another Identity is read by nothing."""
    made = copy.deepcopy(model)
    outputs = {row.name for row in made.graph.output}
    holders = [node for node in made.graph.node if any(row.HasField("g") for row in node.attribute)]
    if any(outputs & _reads(node) for node in holders):
        return made
    del made.graph.node[:]
    for node in model.graph.node:
        one = made.graph.node.add()
        one.CopyFrom(node)
        one.output[:] = [f"before_{name}" if name in outputs else name for name in node.output]
        one.input[:] = [f"before_{name}" if name in outputs else name for name in node.input]
        for name in outputs & set(node.output):
            for copy_of_it in (name, f"unread_{name}"):
                made.graph.node.append(helper.make_node("Identity", [f"before_{name}"], [copy_of_it]))
    return made


def external(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save_model(copy.deepcopy(model), path, save_as_external_data=True, location="data.bin", size_threshold=0)
    return path


WAYS = {way.__name__: way for way in (renamed, reordered, initializers_as_constants, undeclared, declared, copied)}
