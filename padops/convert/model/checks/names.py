"""Whether each value is made once, before it is read, and by no cycle of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx

from padops.convert.errors import PadopsError
from padops.convert.model.nesting import graphs_in

SHOWN = 6  # nodes of a cycle that a message names


def check_names(graph: onnx.GraphProto | onnx.FunctionProto, path: str, sorted_nodes: bool = True) -> None:
    """Refuses a graph or function whose nodes cannot be put into an order, and all graphs inside it; ``path`` names it.

    With ``sorted_nodes``, they must be in that order already: ONNX Runtime sorts the nodes of the main graph alone.

    Raises:
        PadopsError: A name is made twice, or read and made by nothing; or nodes form a cycle.
    """
    for name, reader in _free_names(graph, path, sorted_nodes).items():
        raise PadopsError(f"{reader} reads '{name}', which is no input, no initializer and no output of a node")


def _free_names(graph: onnx.GraphProto | onnx.FunctionProto, path: str, sorted_nodes: bool = True) -> dict[str, str]:
    """The names that come from around a graph, each with who reads it first."""
    known = _given(graph, path)
    makers = _makers(graph.node, known, path)
    free: dict[str, str] = {}
    needs: list[set[int]] = []  # of each node, the numbers of those that make what it reads
    in_order = True
    for i, node in enumerate(graph.node):
        needs.append(set())
        for name, reader in _reads(node, _label(node, i, path), f"{path}.node[{i}]"):
            if name in makers:
                maker = makers[name]
                needs[i].add(maker)
                if maker >= i and sorted_nodes:
                    maker_label = _label(graph.node[maker], maker, path)
                    raise PadopsError(f"{reader} reads '{name}' before {maker_label} makes it")
                in_order = in_order and maker < i
            elif name not in known:
                free.setdefault(name, reader)
    if not in_order:
        _refuse_cycles(graph.node, needs, path)
    for name in _names(graph.output):
        if name not in known and name not in makers:
            free.setdefault(name, f"the output of {path}")
    return free


def _names(values: Iterable[str | onnx.ValueInfoProto]) -> list[str]:
    """The names of the inputs or outputs of a function, which has names alone, or of a graph, which declares them."""
    return [value if isinstance(value, str) else value.name for value in values]


def _given(graph: onnx.GraphProto | onnx.FunctionProto, path: str) -> set[str]:
    """The names of inputs and initializers; those of an input and its default are one."""
    known: set[str] = set()
    for i, name in enumerate(_names(graph.input)):
        if not name:
            raise PadopsError(f"{path}.input[{i}] has no name")
        if name in known:
            raise PadopsError(f"{path} has two inputs with the name '{name}'")
        known.add(name)
    if isinstance(graph, onnx.GraphProto):
        known.update(tensor.name for tensor in graph.initializer)
        known.update(row.values.name for row in graph.sparse_initializer)
    return known | {""}  # the name of an input that is left out


def _makers(nodes: Sequence[onnx.NodeProto], known: set[str], path: str) -> dict[str, int]:
    """The number of the node that makes each name."""
    makers: dict[str, int] = {}
    for i, node in enumerate(nodes):
        for name in node.output:
            if not name:
                continue
            if name in makers:
                first = _label(nodes[makers[name]], makers[name], path)
                raise PadopsError(f"{_label(node, i, path)} makes '{name}', and so does {first}")
            if name in known:
                raise PadopsError(
                    f"{_label(node, i, path)} makes '{name}', which is an input or an initializer of {path}"
                )
            makers[name] = i
    return makers


def _reads(node: onnx.NodeProto, label: str, path: str) -> Iterator[tuple[str, str]]:
    """The names that a node and the graphs inside it read, each with the reader."""
    for name in node.input:
        yield name, label
    for name, graph in graphs_in(node.attribute):
        yield from _free_names(graph, f"{path}.{name}").items()


def _refuse_cycles(nodes: Sequence[onnx.NodeProto], needs: Sequence[set[int]], path: str) -> None:
    """Refuses nodes of which some wait for each other; ``needs`` has the numbers that each of them waits for."""
    readers: dict[int, list[int]] = {}
    for i, makers in enumerate(needs):
        for maker in makers:
            readers.setdefault(maker, []).append(i)
    left = {i: len(makers) for i, makers in enumerate(needs)}
    ready = [i for i, count in left.items() if not count]
    while ready:
        done = ready.pop()
        del left[done]
        for reader in readers.get(done, ()):
            left[reader] -= 1
            if not left[reader]:
                ready.append(reader)
    if not left:
        return
    place: dict[int, int] = {}  # of the nodes on the way, in order
    node = min(left)
    while node not in place:
        place[node] = len(place)
        node = min(needs[node] & left.keys())
    cycle = list(place)[place[node] :]
    shown = ", ".join(_label(nodes[i], i, path) for i in cycle[:SHOWN])
    more = f" and {len(cycle) - SHOWN} more" if len(cycle) > SHOWN else ""
    raise PadopsError(
        f"{path} has a cycle of {len(cycle)} nodes, each of which reads what the next one makes: {shown}{more}"
    )


def _label(node: onnx.NodeProto, number: int, path: str) -> str:
    return f"node '{node.name}' ({path}.node[{number}], {node.op_type})"
