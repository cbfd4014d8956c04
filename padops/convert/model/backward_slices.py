"""What shape inference must not see as it stands: Slices that go backward to the largest integer, and open axes.

By ONNX's words such an end of a Slice is behind the data, so nothing is left; ONNX's inference and reference say so.
ONNX Runtime takes the largest integers of 32 and 64 bits for "to the end" in both directions, and gives everything
before the start. Nobody can tell which of the two a model means, so nothing that follows from such a Slice is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.model.nesting import graphs_in, nodes_of

ENDLESS = (2**31 - 1, 2**63 - 1)
ENDS, STEPS = 2, 4  # inputs of a Slice
NOWHERE = "padops ends that nobody knows"


def is_unsure(ends: np.ndarray, steps: np.ndarray) -> bool:
    """Whether ONNX and ONNX Runtime give a Slice with such ends and steps different results."""
    return ends.shape == steps.shape and bool((np.isin(ends, ENDLESS) & (steps < 0)).any())


def open_backward_slices(model: onnx.ModelProto) -> None:
    """Gives such Slices unknown ends before shape inference, so that no dims are inferred. ``model`` is changed."""
    whole = [model.graph.node, *(function.node for function in model.functions)]
    nodes = [node for body in whole for _, node in nodes_of(body)]
    slices = [node for node in nodes if node.op_type == "Slice" and len(node.input) > STEPS and node.input[STEPS]]
    if not slices:
        return
    graphs = [model.graph, *(inner for node in nodes for _, inner in graphs_in(node.attribute))]
    lists = [(tensor.name, _integers(tensor)) for graph in graphs for tensor in graph.initializer]
    lists += [(node.output[0], _constant(node)) for node in nodes if node.op_type == "Constant" and node.output]
    # Several graphs may use one name: one endless list is enough, and so is one that does not go forward.
    endless = {name for name, values in lists if np.isin(values, ENDLESS).any()}
    forward = {name for name, _ in lists} - {name for name, values in lists if not (values > 0).all()}
    for node in slices:
        if node.input[ENDS] in endless and node.input[STEPS] not in forward:
            node.input[ENDS] = NOWHERE


def _constant(node: onnx.NodeProto) -> np.ndarray:
    """The elements of a Constant, as ``_integers``."""
    for row in node.attribute:
        if row.name == "value_ints":
            return np.array(row.ints)
        if row.HasField("t"):
            return _integers(row.t)
    return np.array([0])


def _integers(tensor: onnx.TensorProto) -> np.ndarray:
    """The elements of a small list of integers; for other tensors [0], which is neither endless nor positive."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or len(tensor.dims) != 1 or tensor.dims[0] > 64:
        return np.array([0])
    array = numpy_helper.to_array(tensor)
    return array if array.dtype.kind in "iu" else np.array([0])


OPEN = "padops list of unknown length"
AMOUNTS, AXES = 1, 3  # inputs of a Pad

Key = tuple[str, str, str]  # domain, name and overload
Listing = dict[Key, set[int]]  # by function: the positions of its inputs that are axes of a Pad


def open_axes(model: onnx.ModelProto) -> None:
    """Gives Pads open amounts for all axes, if the model does not state their axes as a list; ``model`` is changed.

    onnx's inference takes such axes for absent: it makes the dims of all axes in their order, or refuses the number of
    amounts. Of open amounts it makes the rank. The graphs keep their numbers of nodes; functions get two more.
    """
    listing = _listing(model.functions)
    for function in model.functions:
        _open_in_function(function, listing)
    if _open(model.graph.node, _known(model.graph), listing):
        model.graph.input.append(onnx.helper.make_tensor_value_info(OPEN, onnx.TensorProto.INT64, [None]))


def _positions(node: onnx.NodeProto, listing: Listing) -> Sequence[int]:
    """The positions of a node's inputs that are axes."""
    if node.domain == "" and node.op_type == "Pad":
        found: Iterable[int] = (AXES,)
    else:
        found = listing.get((node.domain, node.op_type, node.overload), ())
    return [i for i in found if i < len(node.input) and node.input[i]]


def _listing(functions: Sequence[onnx.FunctionProto]) -> Listing:
    """By function: the inputs that are axes in its body, or in functions that it calls."""
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
    """Opens the axes in a function, which sees no outer values; axes that are its inputs are opened at its calls."""
    if _open(function.node, frozenset(function.input), listing):
        empty = onnx.TensorProto(data_type=onnx.TensorProto.INT64, dims=[0])
        some = onnx.helper.make_node("Constant", [], [f"a tensor for {OPEN}"], value=empty)
        listed = onnx.helper.make_node("Shape", some.output, [OPEN])
        nodes = [some, listed, *function.node]
        del function.node[:]
        function.node.extend(nodes)


def _known(graph: onnx.GraphProto) -> frozenset[str]:
    return frozenset(tensor.name for tensor in graph.initializer if tensor.data_type != onnx.TensorProto.INT32)


def _is_int32(node: onnx.NodeProto) -> bool:
    return any(row.name == "value" and row.t.data_type == onnx.TensorProto.INT32 for row in node.attribute)


def _open(nodes: Sequence[onnx.NodeProto], known: frozenset[str], listing: Listing) -> bool:
    """Opens axes that are no constants of int64, in a graph and the graphs inside it. Returns whether there are any.

    From constant axes of int32 in a function, onnx infers not even the type of the function's output.
    """
    made = {name: node.op_type == "Constant" and not _is_int32(node) for node in nodes for name in node.output}
    known = known - made.keys() | {name for name, is_constant in made.items() if is_constant}
    found = False
    for node in nodes:
        for i in _positions(node, listing):
            if node.input[i] not in known:
                found = True
                if node.op_type == "Pad" and node.domain == "":
                    node.input[AMOUNTS] = OPEN
                    del node.input[AXES:]
                else:
                    node.input[i] = OPEN
        for _, inner in graphs_in(node.attribute):
            hidden = {value.name for value in inner.input}
            found = _open(inner.node, (known - hidden) | _known(inner), listing) or found
    return found
