"""Partial evaluation of a graph: constants computed, known branches taken, known Loops unrolled.

The fallback functions branch on the mode, the rank and the amounts. Once these are known, an If is one of its branches,
and a Loop over the axes is unrolled; the rules can follow the rest. Only the operators in ``COMPUTED`` are computed:
the functions use them on integers and bools, and on floats without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from padops.convert.proof.believing import infer
from padops.convert.proof.flat_graph import constant_of, identity

MOST_TURNS = 64  # iterations of an unrolled Loop
MOST_ELEMENTS = 1 << 16  # elements of a computed constant
COMPUTED = {
    "Add", "And", "Cast", "Concat", "ConstantOfShape", "Div", "Equal", "Expand", "Gather", "GatherElements",
    "Greater", "Identity", "Less", "Max", "Min", "Mod", "Mul", "Neg", "Not", "Or", "Pad", "Range", "ReduceMax",
    "ReduceMin", "ReduceProd", "ReduceSum", "Reshape", "ScatterElements", "Shape", "Size", "Slice", "Squeeze", "Sub",
    "TfIdfVectorizer", "Tile", "Transpose", "Unsqueeze", "Where",
}  # fmt: skip
GROWING = {"ConstantOfShape", "Expand", "Pad", "Range", "Tile"}  # the output may be far larger than the inputs


class FailsAlwaysError(Exception):
    """A node that follows from constants fails; the message says how."""


class PartialEvaluation:
    """A graph under partial evaluation. ``model`` is changed; its graph must not call functions."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model
        self._known: dict[str, np.ndarray] = {row.name: numpy_helper.to_array(row) for row in model.graph.initializer}
        self._count = 0

    def write(self) -> onnx.ModelProto:
        """Evaluates the graph until nothing more is known.

        Returns:
            The model, without nodes that follow from constants.

        Raises:
            FailsAlwaysError: Such a node fails.
        """
        graph = self._model.graph
        while self._compute() or self._take(graph):
            pass
        needed = _needed(graph.node, [row.name for row in graph.output])
        known = [numpy_helper.from_array(array, name) for name, array in self._known.items() if name in needed]
        del graph.initializer[:]
        graph.initializer.extend(known)
        return self._model

    def open_condition(self) -> str | None:
        """The condition of the first If left in the graph; None if there is none."""
        nodes = self._model.graph.node
        return next((node.input[0] for node in nodes if node.op_type == "If" and not node.domain), None)

    def assuming(self, condition: str, value: bool) -> PartialEvaluation:
        """A copy in which the first If, with this condition, takes the branch of ``value``."""
        copy = deepcopy(self._model)
        made = PartialEvaluation(copy)
        made._known, made._count = dict(self._known), self._count
        graph = copy.graph
        at, node = next((at, one) for at, one in enumerate(graph.node) if one.op_type == "If" and not one.domain)
        assert node.input[0] == condition
        _replace(graph, [*graph.node[:at], *made._taken(node, value), *graph.node[at + 1 :]])
        return made

    def cone(self, name: str) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
        """The nodes, in order, and the constants that compute a value."""
        needed, nodes = {name}, []
        for node in reversed(self._model.graph.node):
            if needed & set(node.output):
                nodes.append(node)
                needed |= _needed([node], [])
        known = [numpy_helper.from_array(array, one) for one, array in self._known.items() if one in needed]
        return nodes[::-1], known

    def _compute(self) -> bool:
        """Computes every node that follows from known values. Returns whether there was one."""
        graph = self._model.graph
        dims = _known_dims(self._model, self._known)
        chosen: list[onnx.NodeProto] = []
        names = set(self._known)
        kept = []
        for node in graph.node:
            found = _plain(node, dims)
            if found is not None:
                self._known[node.output[0]] = found
                names.add(node.output[0])
            elif all(name in names for name in node.input if name) and _is_computed(node, dims, self._known):
                chosen.append(node)
                names.update(node.output)
            else:
                kept.append(node)
        if len(kept) == len(graph.node):
            return False
        given = sorted({name for node in chosen for name in node.input if name in self._known})
        self._known |= _computed(chosen, {name: self._known[name] for name in given}, self._model)
        _replace(graph, kept)
        return True

    def _take(self, graph: onnx.GraphProto) -> bool:
        """Replaces the first If of known condition by its branch, or Loop of known count by its iterations."""
        for at, node in enumerate(graph.node):
            made, condition = None, self._known.get(node.input[0]) if node.op_type == "If" else None
            if condition is not None and condition.size == 1:
                made = self._taken(node, bool(condition.item()))
            elif node.op_type == "Loop":
                made = self._turns(node)
            if made is not None:
                _replace(graph, [*graph.node[:at], *made, *graph.node[at + 1 :]])
                return True
        return False

    def _taken(self, node: onnx.NodeProto, condition: bool) -> list[onnx.NodeProto]:
        name = "then_branch" if condition else "else_branch"
        body = next(row.g for row in node.attribute if row.name == name)
        return self._written(body, {}, [row.name for row in body.output], node.output)

    def _turns(self, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
        """The iterations of a Loop of known count, without a condition and without scan outputs; else None."""
        (body,) = (row.g for row in node.attribute)
        count, going = (self._known.get(name) if name else None for name in node.input[:2])
        states = list(node.input[2:])
        endless = not node.input[1] or (going is not None and bool(going.item()))
        if count is None or count.size != 1 or not endless or len(states) != len(node.output):
            return None
        if not 0 <= count.item() <= MOST_TURNS or _origin(body, body.output[0].name) != body.input[1].name:
            return None
        made: list[onnx.NodeProto] = []
        for turn in range(int(count.item())):
            number, goes = self._fresh("turn"), self._fresh("going")
            self._known[number] = np.array(turn, np.int64)
            self._known[goes] = np.array(True)
            given = dict(zip((row.name for row in body.input), (number, goes, *states)))
            states = [self._fresh("state") for _ in states]
            made += self._written(body, given, [row.name for row in body.output[1:]], states)
        return made + [identity(state, name) for state, name in zip(states, node.output) if name]

    def _written(
        self, body: onnx.GraphProto, given: Mapping[str, str], results: Sequence[str], outputs: Sequence[str]
    ) -> list[onnx.NodeProto]:
        """The nodes of a body under new names; ``given`` maps its inputs to outer names."""
        names = dict(given)
        for row in body.initializer:
            names[row.name] = self._fresh(row.name)
            self._known[names[row.name]] = numpy_helper.to_array(row)
        for one in body.node:
            names |= {name: self._fresh(name) for name in one.output if name}
        made = [_renamed(one, names) for one in body.node]
        return made + [identity(names.get(name, name), output) for name, output in zip(results, outputs) if output]

    def _fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem} #{self._count}"


def _plain(node: onnx.NodeProto, dims: Mapping[str, tuple[int, ...]]) -> np.ndarray | None:
    """The result of a Constant, or of a Shape of known dims; else None."""
    if node.op_type == "Shape" and not (node.domain or node.attribute) and node.input[0] in dims:
        return np.array(dims[node.input[0]], np.int64)
    return constant_of(node)


def _is_computed(node: onnx.NodeProto, dims: Mapping[str, tuple[int, ...]], known: Mapping[str, np.ndarray]) -> bool:
    """Whether a node of known inputs is computed: its operator is in ``COMPUTED`` and its output small."""
    if node.domain or node.op_type not in COMPUTED or len(node.output) != 1 or not node.input:
        return False
    if node.op_type == "Squeeze" and any(name not in known or not known[name].size for name in node.input[1:]):
        return False  # with an empty list of axes, runtimes squeeze all or none
    if node.op_type in GROWING:
        found = dims.get(node.output[0])
        return found is not None and math.prod(found) <= MOST_ELEMENTS
    return True


def _computed(
    nodes: Sequence[onnx.NodeProto], given: Mapping[str, np.ndarray], model: onnx.ModelProto
) -> dict[str, np.ndarray]:
    """The results of nodes that follow from constants.

    Raises:
        FailsAlwaysError: A node fails.
    """
    if not nodes:
        return {}
    outputs = [name for node in nodes for name in node.output]
    results = [onnx.ValueInfoProto(name=name) for name in outputs]
    tensors = [numpy_helper.from_array(array, name) for name, array in given.items()]
    graph = helper.make_graph(list(nodes), "computed", [], results, tensors)
    whole = helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=model.ir_version)
    try:
        with np.errstate(all="raise", over="ignore"):
            found = ReferenceEvaluator(whole).run(None, {})
    except Exception as error:  # onnx's reference raises any type
        raise FailsAlwaysError(f"it fails: {error}") from error
    return dict(zip(outputs, map(np.asarray, found)))


def _known_dims(model: onnx.ModelProto, known: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    """The dims of the values whose dims are all known."""
    copy = deepcopy(model)
    del copy.graph.initializer[:]
    copy.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in known.items())
    for row in copy.graph.output:
        row.type.tensor_type.ClearField("shape")
    found = infer(copy).graph
    dims: dict[str, tuple[int, ...]] = {name: array.shape for name, array in known.items()}
    for row in (*found.input, *found.value_info, *found.output):
        tensor = row.type.tensor_type
        if tensor.HasField("shape") and all(dim.HasField("dim_value") for dim in tensor.shape.dim):
            dims[row.name] = tuple(dim.dim_value for dim in tensor.shape.dim)
    return dims


def _replace(graph: onnx.GraphProto, nodes: Sequence[onnx.NodeProto]) -> None:
    kept = [deepcopy(node) for node in nodes]
    del graph.node[:]
    graph.node.extend(kept)


def _renamed(node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
    """A node under new names, which its bodies use as well."""
    made = deepcopy(node)
    made.ClearField("name")  # names of nodes are unique
    made.input[:] = [names.get(name, name) for name in node.input]
    made.output[:] = [names.get(name, name) for name in node.output]
    for row in made.attribute:
        if row.HasField("g"):
            own = {one.name for one in row.g.input} | {one.name for one in row.g.initializer}
            own |= {name for one in row.g.node for name in one.output}
            seen = {name: other for name, other in names.items() if name not in own}
            nodes = [_renamed(one, seen) for one in row.g.node]
            del row.g.node[:]
            row.g.node.extend(nodes)
            for one in row.g.output:
                one.name = seen.get(one.name, one.name)
    return made


def _origin(body: onnx.GraphProto, name: str) -> str:
    """The value that a body's value is a copy of, through Identity nodes."""
    copies = {node.output[0]: node.input[0] for node in body.node if node.op_type == "Identity" and not node.domain}
    while name in copies:
        name = copies[name]
    return name


def _needed(nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]) -> set[str]:
    """The names that nodes, their bodies or the results read."""
    found = set(outputs)
    for node in nodes:
        found.update(node.input)
        for row in node.attribute:
            found |= _needed(row.g.node, [one.name for one in row.g.output])
    return found
