"""Whether the model's functions can be written out: no recursion, no call of too many inputs, no growth without end."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from padops.convert.errors import PadopsError
from padops.convert.model.nesting import nodes_of
from padops.spec.dialects import DOMAIN

# Nodes that the calls of a model stand for once all are written out. onnx infers the types of half as many in 3 s, and
# inlines them in 2; ONNX Runtime 1.31.1 takes 24 s to load an eighth of them.
MAX_NODES = 1 << 16

SHOWN = 6  # functions of a recursion that a message names

Key = tuple[str, str, str]  # domain, name and overload


def check_calls(model: onnx.ModelProto) -> None:
    """Refuses functions that call themselves or grow without bounds, and calls that a function cannot take.

    Raises:
        PadopsError: Names the functions, or the node that calls.
    """
    functions = {key_of(function.domain, function.name, function.overload): function for function in model.functions}
    if not functions:
        return
    calls: dict[Key, list[Key]] = {}
    own: dict[Key, int] = {}
    for key, function in functions.items():
        nodes = list(nodes_of(function.node, f"function '{function.name}'"))
        calls[key] = [called for place, node in nodes if (called := _called(node, place, functions)) is not None]
        own[key] = 1 if key[0] == DOMAIN else len(nodes)  # fallback functions are never written out
    order = callees_first(calls)
    size: dict[Key, int] = {}
    for key in order:
        size[key] = own[key] + sum(size[called] for called in calls[key])
    whole = [_called(node, place, functions) for place, node in nodes_of(model.graph.node, "graph")]
    if (total := sum(size[key] for key in whole if key is not None)) > MAX_NODES:
        largest = max((key for key in whole if key is not None), key=size.__getitem__)
        raise PadopsError(
            f"the calls of functions in the model stand for {_rounded(total)} nodes, of which those of "
            f"{_name(largest)} are {_rounded(size[largest])}; padops takes up to {MAX_NODES}"
        )


def key_of(domain: str, name: str, overload: str) -> Key:
    """The key of a function, or of a node that may call one."""
    return domain, name, overload


def _name(key: Key) -> str:
    domain, name, overload = key
    return f"function '{domain or 'ai.onnx'}::{name}{':' if overload else ''}{overload}'"


def _rounded(count: int) -> str:
    """A count for a message, which has no room for that of 2^1000 nodes."""
    return str(count) if count < 10**18 else f"about 2^{count.bit_length() - 1}"


def _called(node: onnx.NodeProto, place: str, functions: dict[Key, onnx.FunctionProto]) -> Key | None:
    """The function that a node calls, which takes its inputs and outputs, or None."""
    key = key_of(node.domain, node.op_type, node.overload)
    function = functions.get(key)
    if function is None:
        return None
    for what in ("input", "output"):
        given, taken = len(getattr(node, what)), len(getattr(function, what))
        if given > taken:
            label = f"node '{node.name}' ({place}, {node.op_type})"
            raise PadopsError(f"{label} calls {_name(key)} with {given} {what}s; it has {taken}")
    return key


def callees_first(calls: dict[Key, list[Key]]) -> list[Key]:
    """The functions, each behind all that it calls.

    Raises:
        PadopsError: A function calls itself, over any number of others.
    """
    order: list[Key] = []
    done: set[Key] = set()
    for first in calls:
        chain: dict[Key, Iterator[Key]] = {first: iter(calls[first])} if first not in done else {}
        while chain:
            key = next(reversed(chain))
            called = next((other for other in chain[key] if other not in done), None)
            if called is None:
                del chain[key]
                done.add(key)
                order.append(key)
            elif called in chain:
                names = list(chain)
                names = names[names.index(called) :]
                shown = "".join(f"{_name(name)} calls " for name in names[:SHOWN])
                more = f"… (of {len(names)} functions) calls " if len(names) > SHOWN else ""
                raise PadopsError(f"{shown}{more}{_name(called)}: a function cannot call itself")
            else:
                chain[called] = iter(calls[called])
    return order
