"""A part of two models as two small models that take the same values.

A part ends with one value of each model, and begins with values that are proved to be the same in both. Integers that are
computed on the way, such as sizes, are no beginning: they follow from what is, and are computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from padops.convert.proof.build import TOP, Built
from padops.convert.proof.terms import ABSENT, Kind, Terms
from padops.convert.verify.alone import Cut
from padops.convert.verify.feeds import Input
from padops.spec.dtypes import by_onnx

COMPUTED = {TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL}  # types of sizes, amounts and conditions
GIVEN = "given "  # how the name of an input begins, behind which the value is called as in the original
NEAR = 32  # nodes from other beginnings to one that follows from them


class CannotCut(Exception):
    """A part that cannot be run alone; the message says why."""


@dataclass(frozen=True)
class Side:
    """One of the two models.

    Attributes:
        path: Its file.
        model: What is in it.
        built: Its terms.
    """

    path: Path
    model: onnx.ModelProto
    built: Built


def cut(terms: Terms, original: Side, converted: Side, ends: tuple[int, int]) -> tuple[Cut, Cut, list[Input]]:
    """The two small models of a part, and what both take.

    Raises:
        CannotCut: It stands in a body, or not enough is known of what it begins with.
    """
    sides = [_Walk(terms, side, end) for side, end in zip((original, converted), ends, strict=True)]
    shared = {term for term in sides[0].below & sides[1].below if not _is_computed(terms, term)}
    begins = shared & (sides[0].reach(shared)[1] | sides[1].reach(shared)[1])
    while (near := next((term for term in sorted(begins) if _follows(sides[0], term, begins)), None)) is not None:
        shared.discard(near)
        begins = shared & (sides[0].reach(shared)[1] | sides[1].reach(shared)[1])
    names = {term: sides[0].name_of(term) for term in sorted(begins)}
    inputs = [_input(terms, term, name) for term, name in names.items()]
    return sides[0].model(names, inputs), sides[1].model(names, inputs), inputs


def _is_computed(terms: Terms, term: int) -> bool:
    """Whether a value is a number that follows from others, such as a size."""
    return terms.head(term).kind is not Kind.INPUT and terms.dtype(term) in COMPUTED


def _follows(side: _Walk, term: int, begins: set[int]) -> bool:
    """Whether a beginning is a few nodes behind the others."""
    if term not in side.names or side.terms.head(term).kind is Kind.INPUT:
        return False
    nodes, stops = side.reach(begins - {term}, side.names[term])
    return len(nodes) <= NEAR and bool(stops) and stops <= begins


def _input(terms: Terms, term: int, name: str) -> Input:
    dtype = by_onnx(terms.dtype(term) or 0)
    if dtype is None:
        raise CannotCut(f"the element type of '{name}' is not known")
    return Input(name, dtype.name, terms.shape(term))


class _Walk:
    """One model, looked at from the end of a part."""

    def __init__(self, terms: Terms, side: Side, end: int) -> None:
        self.terms, self.side = terms, side
        self.whole = side.model
        self.scope = {**side.built.inputs, **side.built.scopes[TOP]}
        self.names: dict[int, str] = {}
        for name, term in self.scope.items():
            self.names.setdefault(terms.find(term), name)
        self.nodes = list(self.whole.graph.node)
        self.made = {name: node for node in self.nodes for name in node.output if name}
        self.end = self._end(end)
        self.below = {self.terms.find(self.scope[name]) for name in self._below()}

    def _end(self, end: int) -> str:
        """What the part ends with: a value that a node computes; of an input, a copy of it.

        Raises:
            CannotCut: It is neither: a constant, a value of a body, or one that a rule has made.
        """
        named = [name for name, term in self.scope.items() if term == end] or [self.names.get(self.terms.find(end), "")]
        computed = [name for name in named if name in self.made]
        if computed:
            return computed[0]
        if named[0] not in self.side.built.inputs:
            raise CannotCut("it is a constant, or no node of the graph itself computes it")
        copied = f"copy of {named[0]}"
        while copied in self.scope or copied in self.made:
            copied += "'"
        self.nodes.append(helper.make_node("Identity", [named[0]], [copied]))
        self.made[copied] = self.nodes[-1]
        self.scope[copied] = end
        return copied

    def name_of(self, term: int) -> str:
        """What the model calls a value."""
        return self.names[term]

    def _below(self) -> Iterator[str]:
        """The values that the end is made of, without itself and without constants."""
        pending, seen = list(_read(self.made[self.end])), set[str]()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                if name in self.scope:
                    yield name
                pending += _read(self.made[name]) if name in self.made else ()

    def reach(self, stops: set[int], end: str = "") -> tuple[list[onnx.NodeProto], set[int]]:
        """The nodes from an end back to some values, in order, and the values and inputs at which they begin."""
        end = end or self.end
        pending, seen, reached, wanted = [end], set[str](), set[int](), set[str]()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            term = self.terms.find(self.scope.get(name, ABSENT))
            if name != end and (term in stops or name in self.side.built.inputs):
                reached.add(term)
            elif name in self.made:
                wanted |= set(filter(None, self.made[name].output))
                pending += _read(self.made[name])
        return [node for node in self.nodes if wanted & set(node.output)], reached

    def model(self, names: Mapping[int, str], inputs: list[Input]) -> Cut:
        """The small model, whose inputs are these values by these names."""
        nodes, reached = self.reach(set(names))
        if missing := reached - set(names):
            raise CannotCut(f"it begins with '{self.name_of(min(missing))}', which the other model has not")
        graph = onnx.GraphProto(name="part")
        read = {name for node in nodes for name in _read(node)} | {self.end}
        given = {name for name in read if self.terms.find(self.scope.get(name, ABSENT)) in names and name != self.end}
        for row in inputs:
            dims = None if row.dims is None else list(row.dims)
            kind = next(
                dtype for dtype in (by_onnx(self.terms.dtype(t) or 0) for t, n in names.items() if n == row.name)
            )
            assert kind is not None, "an input has a type"
            graph.input.append(helper.make_tensor_value_info(GIVEN + row.name, kind.onnx, dims))
        for name in sorted(given):
            begin = names[self.terms.find(self.scope[name])]
            graph.node.append(helper.make_node("Identity", [GIVEN + begin], [name]))
        graph.node.extend(nodes)
        graph.initializer.extend(row for row in self.whole.graph.initializer if row.name in read - given)
        graph.sparse_initializer.extend(row for row in self.whole.graph.sparse_initializer if row.values.name in read)
        graph.output.add(name=self.end)
        choices = []
        for node in nodes:
            if node.op_type == "If" and node.domain in ("", "ai.onnx"):
                choices.append(f"choice {node.input[0]}")
                graph.node.append(helper.make_node("Identity", [node.input[0]], [choices[-1]]))
                graph.output.add(name=choices[-1])
        whole = self.whole
        model = onnx.ModelProto(ir_version=whole.ir_version, graph=graph)
        model.opset_import.extend(whole.opset_import)
        model.functions.extend(whole.functions)
        return Cut(self.side.path, model, self.end, tuple(dict.fromkeys(choices)))


def _read(node: onnx.NodeProto) -> Iterator[str]:
    """The values of its graph that a node reads, those of its bodies among them."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for graph in (attribute.g,) if attribute.HasField("g") else attribute.graphs:
            own = {value.name for value in graph.input} | {row.name for row in graph.initializer}
            own |= {name for inner in graph.node for name in inner.output}
            yield from (name for inner in graph.node for name in _read(inner) if name not in own)
            yield from (value.name for value in graph.output if value.name not in own)
