"""The symmetric Pad as tf2onnx emulates it, because ONNX has no such mode.

The nodes pad every affected axis by one element, reflect about this element, and remove it again::

    1234  ->  012340  ->  2101234043  ->  21123443

The reflection is a Pad, too. For each axis, a mask states which elements to keep: ones, except at the two added
elements, begin and -1 - end. The masks need the shape of the reflected data, so the emulation is one cluster of seven
or more nodes. The converter replaces them only if each node is as tf2onnx writes it and nothing else reads the values
between them.

If the data come from a convolution, tf2onnx has moved the convolution's Transpose to channels last behind the
reflection. This Transpose stays, behind the operator.

The amounts must be constant. Like TensorFlow, OpenVINOPad_12 reaches n elements and refuses to reach further (P4); the
emulation would show the padding of the other end. So an emulation stays if it is known to reach further, or if its
amounts are known only at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import numpy as np
import onnx_ir as ir

from padops.convert.matchers import onnx_pad
from padops.convert.model.graphs import (
    Constants,
    NodeSite,
    Scope,
    attribute_value,
    constant,
    remove_unused,
    replace_in_place,
    take_out,
)
from padops.convert.model.types import Types
from padops.convert.pads.match import Applied, Match, Replacement, string_attribute
from padops.convert.pads.pad_info import describe
from padops.convert.runtimes import judge, needs, runs
from padops.spec.dialects import DOMAIN

OP = "OpenVINOPad_12"
FORM = "symmetric emulation of tf2onnx"


class _NoMatch(Exception):
    """The nodes are not the emulation."""


@dataclass
class _Emulation:
    """An emulation during its recognition."""

    scope: Scope
    nodes: list[ir.Node]  # all nodes in topological order, first the two Pads, last the node that makes the result
    amounts: np.ndarray  # the amounts of all axes of the data, begins then ends
    order: list[int] | None = None  # the axes of the result, if a Transpose stands behind the reflection; else None

    def is_constant(self, value: ir.Value | None, expected: Sequence[object]) -> bool:
        array = constant(value, self.scope)
        return array is not None and array.shape == (len(expected),) and bool((array == np.array(expected)).all())

    def take_transpose(self, rank: int) -> None:
        """Collect the reflection's Transpose, if there is one, and its permutation of the axes."""
        transpose = next((node for node in _readers(self.nodes[-1].outputs[0]) if _is(node, "Transpose")), None)
        if transpose is not None:
            self.order = list(_value(transpose, "perm", ir.AttributeType.INTS))
            _require(sorted(self.order) == list(range(rank)))
            self.nodes.append(transpose)

    def take_split(self, rank: int) -> Sequence[ir.Value]:
        """Collect the nodes that split the reflection's shape into dims; return the dims in the result's order."""
        readers = [reader for node in self.nodes[1:] for reader in _readers(node.outputs[0])]
        shape = _expect(next((node for node in readers if _is(node, "Shape")), None), "Shape")
        _require(not shape.attributes)
        self.nodes.append(shape)
        split = _reader(shape.outputs[0])
        if self.order is not None and shape.inputs[0] is self.nodes[1].outputs[0]:
            _require(_is(split, "Gather") and split.inputs[0] is shape.outputs[0] and _int(split, "axis", 0) == 0)
            _require(self.is_constant(split.inputs[1], self.order))
            self.nodes.append(split)
            split = _reader(split.outputs[0])
        _require(_is(split, "Split") and len(split.outputs) == rank and _int(split, "axis", 0) == 0)
        sizes = split.attributes.get("split")
        if len(split.inputs) > 1 and split.inputs[1] is not None:
            _require(self.is_constant(split.inputs[1], [1] * rank))
        else:
            _require(sizes is None or (not sizes.is_ref() and list(sizes.value) == [1] * rank))
        self.nodes.append(split)
        return split.outputs

    def take_compress(self, value: ir.Value, dims: Sequence[ir.Value]) -> int:
        """Collect the nodes that remove the added elements of one axis of ``value``; return the axis of the data."""
        compress = _expect(next((node for node in _readers(value) if node not in self.nodes), None), "Compress")
        _require(compress.inputs[0] is value)
        position = _int(compress, "axis", -1)
        _require(0 <= position < len(dims))
        axis = position if self.order is None else self.order[position]
        scatter = _expect(_producer(compress.inputs[1]), "ScatterElements", "Scatter")
        _require(len(scatter.inputs) == 3)
        _require(_int(scatter, "axis", 0) == 0 and set(scatter.attributes) <= {"axis"})
        ones, places, marks = scatter.inputs
        _require(self.is_constant(marks, [False, False]))
        _require(self.is_constant(places, [self.amounts[axis], -1 - self.amounts[axis + len(dims)]]))
        fill = _expect(_producer(ones), "ConstantOfShape")
        _require(fill.inputs[0] is dims[position])
        filled = _value(fill, "value", ir.AttributeType.TENSOR).numpy()
        _require(filled.shape == (1,) and filled == [True])
        self.nodes += [fill, scatter, compress]
        return axis


def match_symmetric_emulation(site: NodeSite, types: Types) -> Match | None:
    """Recognise the two Pads of an emulation; the rewrite of the first Pad replaces all nodes."""
    node = site.node
    if not _is(node, "Pad") or not node.inputs:
        return None
    before = _producer(node.inputs[0])
    first = before if _mode(node) == "reflect" and _is(before, "Pad") else node
    try:
        emulation = _recognise(first, site.scope, types)
    except _NoMatch:
        return None
    second = NodeSite(emulation.nodes[1], site.path, site.scope)
    plain = onnx_pad.match_onnx_pad(second, types)
    if plain is None or plain.pad is None or plain.apply is not None:
        return None
    pad = describe(plain.pad, second, types)
    needed, as_it_is, found = needs(pad, plain.runs_as), runs(pad), plain.runs_as
    judged = partial(judge, pad, found) if found else None
    made = _replacement(emulation)
    last = emulation.nodes[-1]
    apply: Callable[[NodeSite, Constants], Applied] = partial(_apply, emulation=emulation)
    note = f"one operator for the {len(emulation.nodes)} nodes up to {last.name or last.outputs[0].name}"
    if first is not node:
        note, apply = f"in one with {first.name or 'the Pad before it'}", lambda site, constants: Applied([])
    return Match(FORM, made, apply, found, notes=(note,), needed=needed, runs=as_it_is, judge=judged)


def _recognise(first: ir.Node, scope: Scope, types: Types) -> _Emulation:
    """Return the emulation that begins with ``first``; raise _NoMatch if there is none."""
    _require(_mode(first) == "constant")
    added = _amounts(first, scope)
    _require(added.size % 2 == 0 and set(added.tolist()) <= {0, 1})
    rank = added.size // 2
    axes = np.flatnonzero(added[:rank]).tolist()
    _require(axes and (added[:rank] == added[rank:]).all())
    _require(len({reader for reader, _ in scope.index.last_uses(first.outputs[0])}) == 1)
    second = _expect(_reader(first.outputs[0]), "Pad")
    _require(_mode(second) == "reflect")
    for node in (first, second):  # only data, amounts and a mode; the fill does not matter, because it is removed again
        _require(len(node.inputs) <= 2 and set(node.attributes) <= {"mode", "pads"} and len(node.outputs) == 1)
    _require(first.inputs[0] is not None and second.inputs[0] is first.outputs[0])
    amounts, shape = _amounts(second, scope), types.shape(first.inputs[0])
    _require(amounts.size == 2 * rank and (amounts >= 0).all() and (shape is None or len(shape) == rank))
    for axis in range(rank):  # only axes that got an element have amounts; known sizes are at least the amounts
        most, size = max(amounts[axis], amounts[axis + rank]), None if shape is None else shape[axis]
        _require((axis in axes or most == 0) and (size is None or most <= size))
    found = _Emulation(scope, [first, second], amounts)
    found.take_transpose(rank)
    result = found.nodes[-1].outputs[0]
    dims = found.take_split(rank)
    left = set(axes)
    while left:
        axis = found.take_compress(result, dims)
        _require(axis in left)
        left.remove(axis)
        result = found.nodes[-1].outputs[0]
    # All nodes are of one graph, and nothing else reads the values between them.
    _require(all(node.graph is first.graph for node in found.nodes))
    inner = (value for node in found.nodes[:-1] for value in node.outputs)
    _require(all(reader in found.nodes for value in inner for reader in _readers(value)))
    return found


def _apply(site: NodeSite, constants: Constants, emulation: _Emulation) -> Applied:
    """Turn the last node into the operator, or into the Transpose behind it, and remove the other nodes."""
    made = _replacement(emulation)
    *others, last = emulation.nodes
    read = [value for node in emulation.nodes for value in node.inputs if value is not None]
    data, operator = others[0].inputs[0], last
    if emulation.order is not None:
        padded = ir.Value(name=constants.fresh(f"{last.outputs[0].name}_padded"))
        operator = ir.Node(DOMAIN, OP, [data], outputs=[padded], name=padded.name)
        last.prepend(operator)
        replace_in_place(last, "", "Transpose", [padded], [ir.AttrInt64s("perm", emulation.order)])
    else:
        replace_in_place(last, DOMAIN, OP, [data])
    for node in reversed(others):
        take_out(node)
    remove_unused(read, site.scope.index)
    return Applied([last], NodeSite(operator, site.path, site.scope), made)


def _replacement(emulation: _Emulation) -> Replacement:
    begins, ends = np.split(emulation.amounts.astype(np.int64), 2)
    attributes = {"pad_mode": ir.AttrString("pad_mode", "symmetric")}
    return Replacement(OP, (emulation.nodes[0].inputs[0], begins, ends, None), attributes)


def _amounts(node: ir.Node, scope: Scope) -> np.ndarray:
    if "pads" in node.attributes:
        attribute = node.attributes["pads"]
        _require(not attribute.is_ref() and len(node.inputs) == 1)
        return np.array(attribute.value, np.int64)
    array = constant(node.inputs[1], scope) if len(node.inputs) > 1 else None
    if array is None:
        raise _NoMatch
    return array.reshape(-1)


def _mode(node: ir.Node) -> str | None:
    return string_attribute(node, "mode", "constant")


def _int(node: ir.Node, name: str, default: int) -> int:
    value: int = _value(node, name, ir.AttributeType.INT) if name in node.attributes else default
    return value


def _readers(value: ir.Value) -> list[ir.Node]:
    """Return the nodes that read a value; the value must not be an output of the graph."""
    _require(not value.is_graph_output())
    return list(dict.fromkeys(use.node for use in value.uses()))


def _reader(value: ir.Value) -> ir.Node:
    readers = _readers(value)
    _require(len(readers) == 1)
    return readers[0]


def _producer(value: ir.Value | None) -> ir.Node | None:
    return None if value is None else value.producer()


def _is(node: ir.Node | None, *op_types: str) -> TypeGuard[ir.Node]:
    return node is not None and node.domain == "" and node.op_type in op_types


def _expect(node: ir.Node | None, *op_types: str) -> ir.Node:
    if not _is(node, *op_types):
        raise _NoMatch
    return node


def _value(node: ir.Node, name: str, kind: ir.AttributeType) -> Any:
    """Return the value of an attribute, which must be present and of this type."""
    value = attribute_value(node, name, kind)
    _require(value is not None)
    return value


def _require(holds: object) -> None:
    if not holds:
        raise _NoMatch
