"""Makes inner values outputs of a model, from any depth of branches, loops and functions.

A branch's value becomes an output of the If; the other branch gives an empty tensor. A Loop body's value goes into a
sequence that the iterations carry, because its shape may change between iterations. A Scan body's value is stacked. A
function's value becomes an output of each call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

import onnx
from onnx import TensorProto, helper

from padops.convert.model.nesting import graphs_in

Body = onnx.GraphProto | onnx.FunctionProto
Identifier = tuple[str, str, str]  # a function's domain, name, overload
LOOPS_WITH_SEQUENCES = 13  # the first opset whose Loop carries sequences


class OutOfReach(Exception):
    """A value cannot be made an output; the message says why, as the end of a sentence."""


@dataclass(frozen=True)
class Place:
    """The place of a graph in a model; equal in two models if the nodes around it have outputs of the same names."""

    function: Identifier | None = None  # its function, or None
    # The nodes around it, from the outside: an output and the attribute of each
    around: tuple[tuple[str, str], ...] = ()

    @property
    def outside(self) -> Place:
        """The graph around this one."""
        return Place(self.function, self.around[:-1])


@dataclass(frozen=True)
class Located:
    """A graph of a model, with its path for people."""

    place: Place
    path: str
    body: Body

    def labelled(self) -> Iterator[tuple[str, onnx.NodeProto]]:
        """Each node with its path, as in ``model/graphs.py``."""
        names = Counter(node.name for node in self.body.node)
        for i, node in enumerate(self.body.node):
            label = node.name or f"{node.op_type}_{i}"
            yield f"{self.path}/{label}[{i}]" if node.name and names[node.name] > 1 else f"{self.path}/{label}", node


def bodies(model: onnx.ModelProto) -> Iterator[Located]:
    """The main graph, the functions, and all graphs inside them."""
    yield from _inside(Located(Place(), "graph", model.graph))
    for function in model.functions:
        overload = f":{function.overload}" if function.overload else ""
        path = f"function {function.domain or 'ai.onnx'}::{function.name}{overload}"
        yield from _inside(Located(Place(_identifier(function)), path, function))


def _inside(located: Located) -> Iterator[Located]:
    yield located
    for path, node in located.labelled():
        for name, graph in graphs_in(node.attribute):
            step = (next(filter(None, node.output), ""), name)
            place = Place(located.place.function, (*located.place.around, step))
            yield from _inside(Located(place, f"{path}.{name}", graph))


def _identifier(function: onnx.FunctionProto | onnx.NodeProto) -> Identifier:
    name = function.op_type if isinstance(function, onnx.NodeProto) else function.name
    return function.domain, name, function.overload


class Probed:
    """A copy of a model, ``model``, that gets further outputs."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = deepcopy(model)
        self._bodies = {located.place: located.body for located in bodies(self.model)}
        self._opset = max((row.version for row in model.opset_import if row.domain in ("", "ai.onnx")), default=1)
        self._taken = {name for body in self._bodies.values() for node in body.node for name in node.output}
        self._count = 0

    def expose_shape(self, place: Place, value: str) -> list[str]:
        """Makes the dims of a value an output; [-1] stands for a value that is not computed.

        Returns:
            The names of the outputs: one, or one for each call of the value's function.

        Raises:
            OutOfReach: No output can lead out of the graphs around it.
        """
        self._check_way(place)
        dims = self._fresh()
        self._bodies[place].node.append(helper.make_node("Shape", [value], [dims]))
        absent = helper.make_tensor("absent", TensorProto.INT64, [1], [-1])
        return self._expose(place, dims, absent)

    def expose(self, place: Place, value: str, kind: int) -> list[str]:
        """Makes a value an output, as ``expose_shape`` does; an empty tensor stands for a value that is not computed.

        ``kind`` is the element type; it counts only in branches and loops.

        Raises:
            OutOfReach: No output can lead out of the graphs around it.
        """
        self._check_way(place)
        return self._expose(place, value, helper.make_tensor("absent", kind, [0], []))

    def _check_way(self, place: Place) -> None:
        """Rejects, before anything is changed, a place that no output can lead out of."""
        kinds = []
        while place.around:
            node = self._around(place)
            kinds.append(node.op_type)
            if node.domain not in ("", "ai.onnx") or node.op_type not in ("If", "Loop", "Scan"):
                raise OutOfReach(f"it stands inside of a {node.op_type}")
            place = place.outside
        if place.function is not None:
            for call, _ in self._calls(place.function):
                self._check_way(call)
                if kinds.count("Loop") and call.around:
                    raise OutOfReach("it stands in a loop of a function that branches or loops call")
        if len([kind for kind in kinds if kind != "If"]) > 1:
            raise OutOfReach("it stands in a loop inside of a loop")

    def _expose(self, place: Place, value: str, absent: TensorProto) -> list[str]:
        in_sequence = False
        while place.around:
            node = self._around(place)
            if node.op_type == "If":
                value = self._out_of_if(node, place, value, absent, in_sequence)
            elif node.op_type == "Loop" and self._opset >= LOOPS_WITH_SEQUENCES:
                value, in_sequence = self._out_of_loop(node, place, value, absent.data_type), True
            else:
                value = self._out_of_scan(node, place, value, absent.data_type)
            place = place.outside
        if place.function is not None:
            function = self._bodies[place]
            assert isinstance(function, onnx.FunctionProto), "the place says so"
            if value not in function.output:
                function.output.append(value)
            at = list(function.output).index(value)
            calls = [(call, self._output_of(node, at)) for call, node in self._calls(place.function)]
            return [name for call, output in calls for name in self._expose(call, output, absent)]
        if value not in {output.name for output in self.model.graph.output}:
            self.model.graph.output.add(name=value)
        return [value]

    def _around(self, place: Place) -> onnx.NodeProto:
        """The node around a graph."""
        output = place.around[-1][0]
        found: onnx.NodeProto = next(node for node in self._bodies[place.outside].node if output in node.output)
        return found

    def _calls(self, function: Identifier) -> list[tuple[Place, onnx.NodeProto]]:
        return [
            (place, node) for place, body in self._bodies.items() for node in body.node if _identifier(node) == function
        ]

    def _output_of(self, node: onnx.NodeProto, at: int) -> str:
        """The output of a call at an index; added if absent."""
        while len(node.output) <= at:
            node.output.append(self._fresh())
        node.output[at] = node.output[at] or self._fresh()
        return str(node.output[at])

    def _out_of_if(self, node: onnx.NodeProto, place: Place, value: str, absent: TensorProto, in_sequence: bool) -> str:
        kind = absent.data_type
        for attribute in node.attribute:
            if not attribute.HasField("g"):
                continue
            name = self._fresh()
            if attribute.name == place.around[-1][1]:
                attribute.g.node.append(helper.make_node("Identity", [value], [name]))
            elif in_sequence:
                attribute.g.node.append(helper.make_node("SequenceEmpty", [], [name], dtype=kind))
            else:
                attribute.g.node.append(helper.make_node("Constant", [], [name], value=absent))
            attribute.g.output.append(_info(name, kind, in_sequence))
        node.output.append(self._fresh())
        return str(node.output[-1])

    def _out_of_loop(self, node: onnx.NodeProto, place: Place, value: str, kind: int) -> str:
        """Collects the values of all iterations in a sequence, the last carried value."""
        body, outer = self._bodies[place], self._bodies[place.outside]
        assert isinstance(body, onnx.GraphProto), "it is inside of a node"
        begin, before, after, end = (self._fresh() for _ in range(4))
        carried = len(body.input) - 2
        outer.node.insert(0, helper.make_node("SequenceEmpty", [], [begin], dtype=kind))
        node.input.append(begin)
        body.input.append(_info(before, kind, True))
        body.node.append(helper.make_node("SequenceInsert", [before, value], [after]))
        body.output.insert(1 + carried, _info(after, kind, True))
        if len(node.output) < carried:
            self._output_of(node, carried - 1)
        node.output.insert(carried, end)
        return end

    def _out_of_scan(self, node: onnx.NodeProto, place: Place, value: str, kind: int) -> str:
        """Stacks the values of all iterations, which must have one shape."""
        body = self._bodies[place]
        assert isinstance(body, onnx.GraphProto), "it is inside of a node"
        name = self._fresh()
        body.node.append(helper.make_node("Identity", [value], [name]))
        body.output.append(_info(name, kind, False))
        for attribute in node.attribute:
            if attribute.name in ("scan_output_axes", "scan_output_directions"):
                attribute.ints.append(0)
        at = len(body.output) - (2 if node.op_type == "Loop" else 1)
        return self._output_of(node, at)

    def _fresh(self) -> str:
        """An unused name."""
        while True:
            self._count += 1
            name = f"padops verify {self._count}"
            if name not in self._taken:
                return name


def _info(name: str, kind: int, in_sequence: bool) -> onnx.ValueInfoProto:
    make = helper.make_tensor_sequence_value_info if in_sequence else helper.make_tensor_value_info
    info: onnx.ValueInfoProto = make(name, kind, None)
    return info
