"""The order of a graph's nodes, a model's imports, and its functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

import onnx

from padops.convert.errors import PadopsError
from padops.convert.model.nesting import graphs_in
from padops.convert.verify.schemas import OPERATORS, PADOPS, plain_domain

Key = tuple[str, str, str]  # a function's domain, name and overload


def imports_of(message: onnx.ModelProto | onnx.FunctionProto) -> dict[str, int]:
    """The imported version of each domain."""
    return {plain_domain(row.domain): row.version for row in message.opset_import}


def is_fallback(function: onnx.FunctionProto) -> bool:
    """Whether a function is a fallback: it runs in place of an operator of padops if the library is absent."""
    return function.domain == PADOPS and function.name in OPERATORS


def own_functions(model: onnx.ModelProto) -> dict[Key, onnx.FunctionProto]:
    """The functions of a model that are no fallbacks.

    Raises:
        PadopsError: A function calls itself.
    """
    found = {(row.domain, row.name, row.overload): row for row in model.functions if not is_fallback(row)}
    try:
        TopologicalSorter({key: list(_calls(function.node)) for key, function in found.items()}).prepare()
    except CycleError as error:
        domain, name, _ = error.args[1][0]
        raise PadopsError(f"the function '{name}' of the domain '{domain}' calls itself") from None
    return found


def _calls(nodes: Sequence[onnx.NodeProto]) -> Iterator[Key]:
    for node in nodes:
        yield node.domain, node.op_type, node.overload
        for _, graph in graphs_in(node.attribute):
            yield from _calls(graph.node)


def in_order(nodes: Sequence[onnx.NodeProto]) -> list[int]:
    """The indices of a graph's nodes in topological order.

    Raises:
        PadopsError: The graph has a cycle.
    """
    made = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    reads = [{made[name] for name in names_read(node) if name in made} for node in nodes]
    if all(not places or max(places) < place for place, places in enumerate(reads)):
        return list(range(len(nodes)))
    try:
        return list(TopologicalSorter(dict(enumerate(reads))).static_order())
    except CycleError as error:
        label = nodes[error.args[1][0]].name or nodes[error.args[1][0]].op_type
        raise PadopsError(f"node '{label}' reads what is computed from its own result") from None


def names_read(node: onnx.NodeProto) -> Iterator[str]:
    """The values that a node and its bodies read from the graph around the node."""
    yield from filter(None, node.input)
    for _, graph in graphs_in(node.attribute):
        own = {name for inner in graph.node for name in inner.output}
        own |= {value.name for value in graph.input} | {row.name for row in graph.initializer}
        names = [name for inner in graph.node for name in names_read(inner)]
        yield from (name for name in (*names, *(row.name for row in graph.output)) if name not in own)
