"""Infers, by onnx, the types of the values in a model's graphs and functions.

**Backward Slices.** If a Slice with a negative step has the largest integer as its end, the end becomes unknown before
inference. For ONNX's specification, shape inference and reference implementation, this end lies past the data, so the
Slice is empty. ONNX Runtime reads the largest integers of 32 and 64 bits as "to the end" in both directions, so its
Slice returns all elements from the start back to the first.

**Trusted declarations.** Inference trusts the initializers and the declarations of the model's inputs, which ONNX
Runtime enforces. Inference ignores the declared dims of inner values, of outputs and of the inputs of bodies. These
dims may be outdated: some tools change only a model's inputs, for another batch size or for dynamic dims. If inference
finds nothing, it uses two declared facts: the element type, without which ONNX Runtime loads no model, and the number
of dims, which such a tool does not change.

**Functions.** The types of the values in a function follow from its calls, as far as all calls agree.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.model.checks import Key, callees_first, calls_in, key_of
from padops.convert.model.nesting import Body, graphs_beside, graphs_in, graphs_of, nodes_in, nodes_of, shaped_type

ENDLESS = (2**31 - 1, 2**63 - 1)
ENDS, STEPS = 2, 4  # inputs of a Slice
NOWHERE = "padops list that nobody knows"


def is_unsure(ends: np.ndarray, steps: np.ndarray) -> bool:
    """Return whether ONNX and ONNX Runtime return different results for a Slice with these ends and steps."""
    return ends.shape == steps.shape and bool((np.isin(ends, ENDLESS) & (steps < 0)).any())


def open_backward_slices(model: onnx.ModelProto) -> None:
    """Make a Slice's ends unknown if runtimes may disagree on the result (``is_unsure``): then onnx infers no dims."""
    nodes = nodes_in(model)
    # The names of Constants and initializers with an endless number; for each name, whether all numbers are positive.
    # Several graphs may use a name: then one endless list is enough, and so is one list without only positive numbers.
    endless, forward = set[str](), dict[str, bool]()
    lists = [(tensor.name, tensor, [0]) for graph in graphs_beside(model, nodes) for tensor in graph.initializer]
    made = [node for node in nodes if node.op_type == "Constant"]
    lists += [(name, row.t, [*row.ints] or [0]) for node in made for name in node.output for row in node.attribute]
    for name, tensor, ints in lists:
        values = np.array(ints)
        if tensor.data_location != onnx.TensorProto.EXTERNAL and len(tensor.dims) == 1 and tensor.dims[0] <= 64:
            array = numpy_helper.to_array(tensor)
            values = array if array.dtype.kind in "iu" else values
        if np.isin(values, ENDLESS).any():
            endless.add(name)
        forward[name] = forward.get(name, True) and bool((values > 0).all())
    for node in nodes:
        is_slice = node.op_type == "Slice" and len(node.input) > STEPS and node.input[STEPS]
        if is_slice and node.input[ENDS] in endless and not forward.get(node.input[STEPS], False):
            node.input[ENDS] = NOWHERE


AMOUNTS, AXES = 1, 3  # inputs of a Pad


def open_axes(body: Body, around: frozenset[str] = frozenset()) -> None:
    """Make a Pad's amounts unknown and drop its axes, unless the axes are int64 constants of a graph around the Pad.

    onnx's inference ignores an ``axes`` input of unknown dims: it applies the amounts to all axes in order, or refuses
    the number of amounts. With unknown amounts, it infers only the rank. For constant int32 axes in a function, it does
    not even infer the type of the function's output.
    """
    known = around
    if isinstance(body, onnx.GraphProto):
        known -= {value.name for value in body.input}
        known |= {tensor.name for tensor in body.initializer if tensor.data_type != onnx.TensorProto.INT32}
    known -= {name for node in body.node for name in node.output}
    for node in body.node:
        is_int32 = any(row.name == "value" and row.t.data_type == onnx.TensorProto.INT32 for row in node.attribute)
        if node.op_type == "Constant" and not is_int32:
            known |= set(node.output)
    for node in body.node:
        is_pad = node.domain == "" and node.op_type == "Pad" and len(node.input) > AXES and node.input[AXES]
        if is_pad and node.input[AXES] not in known:
            node.input[AMOUNTS] = NOWHERE
            del node.input[AXES:]
        for _, inner in graphs_in(node.attribute):
            open_axes(inner, known)


# The most bytes of an initializer that inference may read (amounts, axes, shapes); larger initializers are declared.
WORTH_KEEPING = 1024
UNKNOWN = "padops.unknown"  # a domain that onnx does not know

ABSENT = b""  # an attribute that no call sets
DIFFERS = b"\xff"  # an attribute with different values in the calls, or with a graph

Types = Mapping[str, onnx.TypeProto]


def declarations(message: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model without the bulk of its data: large initializers become declarations of type and shape."""
    light = onnx.ModelProto(ir_version=message.ir_version)
    light.opset_import.extend(message.opset_import)
    light.functions.extend(message.functions)
    graph, source = light.graph, message.graph
    for name in ("node", "input", "output", "value_info"):
        getattr(graph, name).extend(getattr(source, name))
    inputs = {value.name for value in graph.input}
    for tensor in source.initializer:
        if message.ir_version >= 4 and tensor.name in inputs:
            continue  # at most a default; inference would treat it as a constant
        if tensor.data_location != onnx.TensorProto.EXTERNAL and tensor.ByteSize() <= WORTH_KEEPING:
            graph.initializer.add().CopyFrom(tensor)
        elif tensor.name not in inputs:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    for row in source.sparse_initializer:
        graph.input.append(onnx.helper.make_tensor_value_info(row.values.name, row.values.data_type, row.dims))
    return light


def infer(message: onnx.ModelProto) -> tuple[onnx.GraphProto, list[onnx.GraphProto]]:
    """Return the main graph with inferred types as declarations, and each function's body as a graph."""
    light = declarations(message)  # not with data_prop=True: it allocates tens of bytes for each element of any vector
    main = infer_graph(light)
    given = {key_of(row): _Given(row) for row in message.functions}
    _see_calls(message.graph.node, main, {}, given)
    called = {key: calls_in(row.function.node, given) for key, row in given.items()}
    order = callees_first(called)
    reached: dict[Key, set[Key]] = {}
    for key in order:
        reached[key] = set(called[key]).union(*(reached[other] for other in called[key]))
    bodies = {key: _infer_body(key, given, sorted(reached[key]), message) for key in reversed(order)}
    return main, [bodies[key] for key in given]


def infer_graph(message: onnx.ModelProto) -> onnx.GraphProto:
    """Return the graph with inferred types; its nodes may be in any order. Do not use ``message`` afterwards."""
    order = order_of(message.graph.node)
    arrange(message.graph, order)
    graph = _infer_in_order(message)
    arrange(graph, sorted(range(len(order)), key=order.__getitem__))
    return graph


def order_of(nodes: Sequence[onnx.NodeProto]) -> list[int]:
    """Return the indices of nodes in topological order; [] if the nodes are in this order already, or form a cycle."""
    makers = {name: i for i, node in enumerate(nodes) for name in node.output if name}
    read = [[name for _, inner in nodes_of([node]) for name in inner.input] for node in nodes]
    needed = {i: {makers[name] for name in names if name in makers} for i, names in enumerate(read)}
    if all(max(row, default=-1) <= i for i, row in needed.items()):
        return []
    try:
        return [*TopologicalSorter({i: row - {i} for i, row in needed.items()}).static_order()]
    except CycleError:
        return []


def arrange(graph: onnx.GraphProto, order: Sequence[int]) -> None:
    """Put a graph's nodes into ``order``, a list of indices; if ``order`` is empty, leave the nodes."""
    if order:
        nodes = [graph.node[i] for i in order]
        graph.ClearField("node")
        graph.node.extend(nodes)


def _infer_in_order(message: onnx.ModelProto) -> onnx.GraphProto:
    for info in message.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value < 0:  # some exporters' open dim, with which onnx would compute
                dim.ClearField("dim_value")
    ranks = [_take_shapes(graph, graph is not message.graph) for graph in graphs_of(message.graph)]
    open_axes(message.graph)
    for function in message.functions:
        open_axes(function)
    open_backward_slices(message)
    found = _infer_ifs(message)
    lacking = False
    for taken, graph in zip(ranks, graphs_of(found.graph), strict=True):
        known = {info.name for info in declared(graph) if info.type.tensor_type.HasField("shape")}
        for kind, count in (row for name, row in taken.items() if name not in known):
            kind.shape.SetInParent()
            kind.shape.dim.extend([onnx.TensorShapeProto.Dimension()] * count)
            lacking = True
    return _infer_ifs(message).graph if lacking else found.graph


IF_RIGHT_SINCE = 11  # the first opset for which onnx infers the common type of an If's branches
OPENED = " of an If"  # the end of an opened output's name


def _infer_ifs(message: onnx.ModelProto) -> onnx.ModelProto:
    """Infer types by onnx; before opset 11, an If's output gets only the common type of both branches.

    If the dims of one branch are unknown, onnx assigns the dims of the other branch to the If. So if the types of the
    branches differ, this function declares the common type for the outputs of both branches. It also gives these
    outputs new names, which no node computes, so that onnx infers no other types.
    """
    found = onnx.shape_inference.infer_shapes(message)
    opset = next((row.version for row in message.opset_import if row.domain in ("", "ai.onnx")), IF_RIGHT_SINCE)
    if opset >= IF_RIGHT_SINCE:
        return found
    opened = onnx.ModelProto()
    opened.CopyFrom(message)
    while _open_branches(opened.graph, found.graph):
        found = onnx.shape_inference.infer_shapes(opened)
    for graph in graphs_of(found.graph):
        known = {info.name: info.type for info in declared(graph)}
        for info in graph.output:
            info.name = info.name.removesuffix(OPENED)
            if info.name in known:
                info.type.CopyFrom(known[info.name])
    return found


def _open_branches(graph: onnx.GraphProto, found: onnx.GraphProto) -> bool:
    """Declare a common type in the first If whose branches have different types; return whether such an If exists.

    A call changes only one If, because the types of later values depend on this If.
    """
    for node, typed in zip(graph.node, found.node, strict=True):
        pairs = zip(graphs_in(node.attribute), graphs_in(typed.attribute), strict=True)
        branches = [(inner, inner_found) for (_, inner), (_, inner_found) in pairs]
        if any(_open_branches(*pair) for pair in branches):
            return True
        changed = False
        kinds = [{info.name: info.type for info in declared(inner_found)} for _, inner_found in branches]
        for infos in zip(*(inner.output for inner, _ in branches)) if node.op_type == "If" else ():
            types = [known.get(info.name, onnx.TypeProto()) for info, known in zip(infos, kinds)]
            common = _common(types[0], types[-1])
            is_opened = infos[0].name.endswith(OPENED)
            if not is_opened and (common != types[0] or common != types[-1]):
                changed = True
                kind = types[0].tensor_type.elem_type or types[-1].tensor_type.elem_type
                for info in infos:
                    info.name += OPENED
                    info.type.CopyFrom(common or onnx.helper.make_tensor_type_proto(kind, None))
        if changed:
            return True
    return False


def declared(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    return [*graph.input, *graph.value_info, *graph.output]


def _take_shapes(graph: onnx.GraphProto, is_inner: bool) -> dict[str, tuple[onnx.TypeProto.Tensor, int]]:
    """Remove declared shapes that may be wrong; return, by value name, each changed type and the removed rank."""
    named = {tensor.name for tensor in graph.initializer} | {info.name for info in graph.input if not is_inner}
    taken = {}
    for info in (*(graph.input if is_inner else ()), *graph.value_info, *graph.output):
        kind = shaped_type(info.type)
        if kind is not None and kind.HasField("shape"):
            if info.type.HasField("tensor_type") and info.name not in named:
                taken[info.name] = (kind, len(kind.shape.dim))
            kind.ClearField("shape")
    return taken


@dataclass
class _Given:
    """The types and the attributes that a function gets from its calls."""

    function: onnx.FunctionProto
    types: list[onnx.TypeProto | None] | None = None  # of its inputs, as far as all calls agree; None: no call yet
    attributes: dict[str, bytes] = field(default_factory=dict)

    def see(self, node: onnx.NodeProto, known: Types) -> None:
        """Record the call ``node``; ``known`` has the types in the graph of the call."""
        count = len(self.function.input)
        types = [known.get(name) for name in node.input] + [None] * (count - len(node.input))
        types = types if self.types is None else [_common(one, other) for one, other in zip(self.types, types)]
        attributes = dict.fromkeys(self.function.attribute, ABSENT)
        for row in (*self.function.attribute_proto, *node.attribute):
            is_value = not row.ref_attr_name and not graphs_in([row])  # a graph sees the names around the call
            attributes[row.name] = row.SerializeToString(deterministic=True) if is_value else DIFFERS
        if self.types is not None:
            attributes = {name: value if self.attributes.get(name) == value else DIFFERS
                          for name, value in attributes.items()}  # fmt: skip
        self.types, self.attributes = types, attributes


def _common(one: onnx.TypeProto | None, other: onnx.TypeProto | None) -> onnx.TypeProto | None:
    """Return the common part of two types; None if they differ, unless they are tensors of one element type."""
    if one is None or other is None or one == other:
        return one if one == other else None
    a, b = one.tensor_type, other.tensor_type
    if not one.HasField("tensor_type") or not other.HasField("tensor_type") or a.elem_type != b.elem_type:
        return None
    common = onnx.helper.make_tensor_type_proto(a.elem_type, None)
    if a.HasField("shape") and b.HasField("shape") and len(a.shape.dim) == len(b.shape.dim):
        common.tensor_type.shape.SetInParent()
        for x, y in zip(a.shape.dim, b.shape.dim):
            common.tensor_type.shape.dim.append(x if x == y else onnx.TensorShapeProto.Dimension())
    return common


def _see_calls(
    nodes: Sequence[onnx.NodeProto], found: onnx.GraphProto, around: Types, given: Mapping[Key, _Given]
) -> None:
    """Record the calls among ``nodes`` by function; ``found`` is the graph of ``nodes`` with inferred types."""
    own = {info.name: info.type for info in declared(found)}
    for tensor in found.initializer:
        own[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    known = ChainMap(own, dict(around)) if around else own
    for node, typed in zip(nodes, found.node, strict=True):
        if (to := given.get(key_of(node))) is not None:
            to.see(node, known)
        for (_, inner), (_, inner_found) in zip(graphs_in(node.attribute), graphs_in(typed.attribute), strict=True):
            _see_calls(inner.node, inner_found, known, given)


def _infer_body(
    key: Key, given: Mapping[Key, _Given], reached: Sequence[Key], message: onnx.ModelProto
) -> onnx.GraphProto:
    """Return a function's body with types from its calls; record the body's own calls of ``reached`` functions."""
    own, function = given[key], given[key].function
    nested = [given[other].function for other in reached]
    model = onnx.ModelProto(ir_version=message.ir_version, functions=nested, opset_import=function.opset_import)
    model.opset_import.add(domain=UNKNOWN, version=1)
    model.graph.node.extend(function.node)
    model.graph.value_info.extend(function.value_info)
    for name, kind in zip(function.input, own.types or ()):
        if kind is not None:
            model.graph.input.add(name=name, type=kind)
    for _, node in nodes_of(model.graph.node):
        _settle_attributes(node, own.attributes)
    written = deepcopy(model.graph)
    for _, node in nodes_of(model.graph.node):
        if any(row.ref_attr_name for row in node.attribute):
            node.domain = UNKNOWN  # onnx would treat the attribute as 0 or empty
    found = infer_graph(model)
    if own.types is not None:
        _see_calls(written.node, found, {}, given)
    return found


def _settle_attributes(node: onnx.NodeProto, attributes: Mapping[str, bytes]) -> None:
    """Replace a node's references to the function's attributes by the values on which all calls agree."""
    for i in reversed(range(len(node.attribute))):
        row = node.attribute[i]
        value = attributes.get(row.ref_attr_name, DIFFERS)  # "" is no attribute's name
        if value == ABSENT:
            del node.attribute[i]
        elif value != DIFFERS:
            name = row.name
            row.ParseFromString(value)
            row.name = name
