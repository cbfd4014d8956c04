"""Axes of Pads of which a model does not even say that they are a list.

onnx's inference takes such axes for absent: it makes the dims of all axes in their order, or refuses the number of amounts.
Here the Pads read another value in their place, which is a list of unknown length, so that nothing is inferred from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx

from padops.convert.model.nesting import graphs_in, nodes_of

OPEN = "padops axes of unknown length"
AXES = 3  # which input of a Pad they are

Key = tuple[str, str, str]  # domain, name and overload
Listing = dict[Key, set[int]]  # by function: which of its inputs are axes of a Pad


def open_axes(model: onnx.ModelProto) -> None:
    """Makes the Pads of a model that is about to be inferred read a list where their axes are computed.

    Args:
        model: Is changed; the nodes of its graphs stay as many as they are.
    """
    listing = _listing(model.functions)
    for function in model.functions:
        _open_in_function(function, listing)
    if _open(model.graph.node, frozenset(tensor.name for tensor in model.graph.initializer), listing):
        model.graph.input.append(onnx.helper.make_tensor_value_info(OPEN, onnx.TensorProto.INT64, [None]))


def _positions(node: onnx.NodeProto, listing: Listing) -> Sequence[int]:
    """Which inputs of a node are axes."""
    if node.domain in ("", "ai.onnx") and node.op_type == "Pad":
        found: Iterable[int] = (AXES,)
    else:
        found = listing.get((node.domain, node.op_type, node.overload), ())
    return [i for i in found if i < len(node.input) and node.input[i]]


def _listing(functions: Sequence[onnx.FunctionProto]) -> Listing:
    """The inputs of functions that are axes in them, or in what they call."""
    listing: Listing = {}
    more = True
    while more:
        more = False
        for function in functions:
            places = {name: i for i, name in enumerate(function.input)}
            read = {node.input[i] for _, node in nodes_of(function.node) for i in _positions(node, listing)}
            found = {places[name] for name in read & places.keys()}
            known = listing.setdefault((function.domain, function.name, function.overload), set())
            more = more or not found <= known
            known |= found
    return listing


def _open_in_function(function: onnx.FunctionProto, listing: Listing) -> None:
    """The same in a function, which sees no values around it; its inputs are looked at where it is called."""
    if _open(function.node, frozenset(function.input), listing):
        empty = onnx.TensorProto(data_type=onnx.TensorProto.INT64, dims=[0])
        some = onnx.helper.make_node("Constant", [], [f"a tensor for {OPEN}"], value=empty)
        listed = onnx.helper.make_node("Shape", some.output, [OPEN])
        nodes = [some, listed, *function.node]
        del function.node[:]
        function.node.extend(nodes)


def _open(nodes: Sequence[onnx.NodeProto], known: frozenset[str], listing: Listing) -> bool:
    """Opens axes that are no constants, in a graph and in the graphs inside it; whether there are such."""
    made = {name: node.op_type == "Constant" for node in nodes for name in node.output}
    known = known - made.keys() | {name for name, is_constant in made.items() if is_constant}
    found = False
    for node in nodes:
        for i in _positions(node, listing):
            if node.input[i] not in known:
                node.input[i], found = OPEN, True
        for _, inner in graphs_in(node.attribute):
            there = {tensor.name for tensor in inner.initializer}
            hidden = {value.name for value in inner.input}
            found = _open(inner.node, (known - hidden) | there, listing) or found
    return found
