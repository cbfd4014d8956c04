"""Cuts a part of two models out as two small models with the same inputs.

A part ends with one value of each model, and begins with values that are proved equal in both. Computed integers, such
as sizes, are no beginnings: the small models compute them from those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from padops.convert.model.nesting import graphs_in
from padops.convert.proof.build import TOP, Built
from padops.convert.proof.terms import ABSENT, Kind, Terms
from padops.convert.verify.feeds import Input
from padops.convert.verify.isolated import Cut
from padops.spec.dtypes import by_name, by_onnx

COMPUTED = {TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL}  # types of sizes, amounts and conditions
GIVEN = "given "  # prefix of an input's name, before the value's name in the original
NEAR = 32  # a beginning that other beginnings compute with so few nodes is computed instead


class CannotCut(Exception):
    """A part cannot be run in isolation; the message says why."""


@dataclass(frozen=True)
class Side:
    """One of the two models: its file, its content and its terms."""

    path: Path
    model: onnx.ModelProto
    built: Built


def cut(terms: Terms, original: Side, converted: Side, ends: tuple[int, int]) -> tuple[Cut, Cut, list[Input]]:
    """The two small models of the part that ends with the terms ``ends``, and their inputs.

    Raises:
        CannotCut: The part ends in a body, or a beginning's element type is not known.
    """
    sides = [_Walk(terms, side, end) for side, end in zip((original, converted), ends, strict=True)]
    shared = {term for term in sides[0].below & sides[1].below if not _is_computed(terms, term)}
    begins = shared & (sides[0].reach(shared)[1] | sides[1].reach(shared)[1])
    while (near := next((term for term in sorted(begins) if _follows(sides[0], term, begins)), None)) is not None:
        shared.discard(near)
        begins = shared & (sides[0].reach(shared)[1] | sides[1].reach(shared)[1])
    names = {term: sides[0].names[term] for term in sorted(begins)}
    inputs = [_input(terms, term, name) for term, name in names.items()]
    return sides[0].model(names, inputs), sides[1].model(names, inputs), inputs


def _is_computed(terms: Terms, term: int) -> bool:
    """Whether a value is a computed integer or bool, such as a size."""
    return terms.head(term).kind is not Kind.INPUT and terms.dtype(term) in COMPUTED


def _follows(side: _Walk, term: int, begins: set[int]) -> bool:
    """Whether the other beginnings compute this one with few nodes."""
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
    """One model, walked back from the end of a part."""

    def __init__(self, terms: Terms, side: Side, end: int) -> None:
        self.terms, self.side = terms, side
        self.scope = {**side.built.inputs, **side.built.scopes[TOP]}
        self.names: dict[int, str] = {}
        for name, term in self.scope.items():
            self.names.setdefault(terms.find(term), name)
        self.nodes = list(side.model.graph.node)
        self.made = {name: node for node in self.nodes for name in node.output if name}
        self.end = self._end(end)
        self.below = {self.terms.find(self.scope[name]) for name in self._below()}

    def _end(self, end: int) -> str:
        """The name of the part's end: a computed value; for an input, a copy of it.

        Raises:
            CannotCut: The end is a constant, a value of a body, or a term that a rule made.
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

    def _below(self) -> Iterator[str]:
        """The values that the end is computed from, without constants."""
        pending, seen = list(_read(self.made[self.end])), set[str]()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                if name in self.scope:
                    yield name
                pending += _read(self.made[name]) if name in self.made else ()

    def reach(self, stops: set[int], end: str = "") -> tuple[list[onnx.NodeProto], set[int]]:
        """The nodes between ``stops`` and an end, in order, and the stops and inputs that they begin with."""
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
        """The small model with these values as inputs."""
        nodes, reached = self.reach(set(names))
        if missing := reached - set(names):
            raise CannotCut(f"it begins with '{self.names[min(missing)]}', which the other model lacks")
        whole, graph = self.side.model, onnx.GraphProto(name="part")
        read = {name for node in nodes for name in _read(node)} | {self.end}
        given = {name for name in read if self.terms.find(self.scope.get(name, ABSENT)) in names and name != self.end}
        for row in inputs:
            dims = None if row.dims is None else list(row.dims)
            graph.input.append(helper.make_tensor_value_info(GIVEN + row.name, by_name(row.type).onnx, dims))
        for name in sorted(given):
            begin = names[self.terms.find(self.scope[name])]
            graph.node.append(helper.make_node("Identity", [GIVEN + begin], [name]))
        graph.node.extend(nodes)
        graph.initializer.extend(row for row in whole.graph.initializer if row.name in read - given)
        graph.sparse_initializer.extend(row for row in whole.graph.sparse_initializer if row.values.name in read)
        graph.output.add(name=self.end)
        choices = []
        for node in nodes:
            if node.op_type == "If" and node.domain in ("", "ai.onnx"):
                choices.append(f"choice {node.input[0]}")
                graph.node.append(helper.make_node("Identity", [node.input[0]], [choices[-1]]))
                graph.output.add(name=choices[-1])
        model = onnx.ModelProto(ir_version=whole.ir_version, graph=graph)
        model.opset_import.extend(whole.opset_import)
        model.functions.extend(whole.functions)
        return Cut(self.side.path, model, self.end, tuple(dict.fromkeys(choices)))


def _read(node: onnx.NodeProto) -> Iterator[str]:
    """The values that a node and its bodies read from the node's graph."""
    yield from filter(None, node.input)
    for _, graph in graphs_in(node.attribute):
        own = {value.name for value in graph.input} | {row.name for row in graph.initializer}
        own |= {name for inner in graph.node for name in inner.output}
        yield from (name for inner in graph.node for name in _read(inner) if name not in own)
        yield from (value.name for value in graph.output if value.name not in own)
