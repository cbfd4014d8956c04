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
from typing import Any

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
from padops.convert.pads.match import Applied, Match, Replacement
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

    def require_constant(self, value: ir.Value | None, expected: Sequence[object]) -> None:
        array = constant(value, self.scope)
        _require(array is not None and array.shape == (len(expected),) and (array == np.array(expected)).all())

    def take(self, node: ir.Node | None, *op_types: str) -> ir.Node:
        """Collect a node, which must be one of these operators."""
        if node is None or node.domain != "" or node.op_type not in op_types:
            raise _NoMatch
        self.nodes.append(node)
        return node

    def take_split(self, rank: int) -> Sequence[ir.Value]:
        """Collect the reflection's Transpose, if there is one, and the nodes that split its shape into dims.

        Return the dims in the result's order.
        """
        reflection = self.nodes[-1].outputs[0]
        if (transpose := _reading(reflection, "Transpose")) is not None:
            self.order = list(_value(self.take(transpose, "Transpose"), "perm", ir.AttributeType.INTS))
            _require(sorted(self.order) == list(range(rank)))
        shape = _reading(reflection, "Shape") or _reading(self.nodes[-1].outputs[0], "Shape")
        _require(not self.take(shape, "Shape").attributes)
        split = _reader(self.nodes[-1].outputs[0])
        if self.order is not None and self.nodes[-1].inputs[0] is reflection:
            self.take(split, "Gather")
            _require(split.inputs[0] is self.nodes[-2].outputs[0] and _int(split, "axis", 0) == 0)
            self.require_constant(split.inputs[1], self.order)
            split = _reader(split.outputs[0])
        self.take(split, "Split")
        _require(len(split.outputs) == rank and _int(split, "axis", 0) == 0)
        sizes = split.attributes.get("split")
        if len(split.inputs) > 1 and split.inputs[1] is not None:
            self.require_constant(split.inputs[1], [1] * rank)
        else:
            _require(sizes is None or (not sizes.is_ref() and list(sizes.value) == [1] * rank))
        return split.outputs

    def take_compress(self, dims: Sequence[ir.Value], result: ir.Value) -> int:
        """Collect the nodes that remove the added elements of one axis of ``result``; return the axis of the data."""
        compress = next((node for node in _readers(result) if node not in self.nodes), None)
        scatter = _maker(compress, 1)
        fill = self.take(_maker(scatter, 0), "ConstantOfShape")
        scatter, compress = self.take(scatter, "ScatterElements", "Scatter"), self.take(compress, "Compress")
        position: int = _int(compress, "axis", -1)
        _require(compress.inputs[0] is result and 0 <= position < len(dims))
        axis = position if self.order is None else self.order[position]
        _require(len(scatter.inputs) == 3 and _int(scatter, "axis", 0) == 0 and set(scatter.attributes) <= {"axis"})
        self.require_constant(scatter.inputs[1], [self.amounts[axis], -1 - self.amounts[axis + len(dims)]])
        self.require_constant(scatter.inputs[2], [False, False])
        filled = _value(fill, "value", ir.AttributeType.TENSOR).numpy()
        _require(fill.inputs[0] is dims[position] and filled.shape == (1,) and filled == [True])
        return axis


def match_symmetric_emulation(site: NodeSite, types: Types) -> Match | None:
    """Recognise the two Pads of an emulation; the rewrite of the first Pad replaces all nodes."""
    node = site.node
    if not _is_pad(node):
        return None
    before = _maker(node, 0)
    first = before if before is not None and _is_pad(before) and _mode(node) == "reflect" else node
    try:
        emulation = _recognise(first, site.scope, types)
    except _NoMatch:
        return None
    second = NodeSite(emulation.nodes[1], site.path, site.scope)
    plain = onnx_pad.match_onnx_pad(second, types)
    if plain is None or plain.pad is None or plain.apply is not None:
        return None
    last = emulation.nodes[-1]
    note = f"one operator for the {len(emulation.nodes)} nodes up to {last.name or last.outputs[0].name}"
    apply: Callable[[NodeSite, Constants], Applied] = partial(_apply, emulation=emulation)
    if first is not node:
        note, apply = f"in one with {first.name or 'the Pad before it'}", lambda site, constants: Applied([])
    return Match(FORM, _replacement(emulation), apply, plain.runs_as, (plain.pad, second), notes=(note,))


def _recognise(first: ir.Node, scope: Scope, types: Types) -> _Emulation:
    """Return the emulation that begins with ``first``; raise _NoMatch if there is none."""
    _require(_mode(first) == "constant")
    added = _amounts(first, scope)
    _require(added.size % 2 == 0 and set(added.tolist()) <= {0, 1})
    rank = added.size // 2
    axes = np.flatnonzero(added[:rank]).tolist()
    _require(axes and (added[:rank] == added[rank:]).all())
    second = _reader(first.outputs[0])
    _require(_is_pad(second) and _mode(second) == "reflect")
    for node in (first, second):  # only data, amounts and a mode; the fill does not matter, because it is removed again
        _require(len(node.inputs) <= 2 and set(node.attributes) <= {"mode", "pads"} and len(node.outputs) == 1)
    _require(first.inputs[0] is not None and second.inputs[0] is first.outputs[0])
    amounts, shape = _amounts(second, scope), types.shape(first.inputs[0])
    _require(amounts.size == 2 * rank and (amounts >= 0).all() and (shape is None or len(shape) == rank))
    for axis in range(rank):  # only axes that got an element have amounts; known sizes are at least the amounts
        most, size = max(amounts[axis], amounts[axis + rank]), None if shape is None else shape[axis]
        _require((axis in axes or most == 0) and (size is None or most <= size))
    found = _Emulation(scope, [first, second], amounts)
    dims = found.take_split(rank)
    result = (second if found.order is None else found.nodes[2]).outputs[0]
    left = set(axes)
    while left:
        axis = found.take_compress(dims, result)
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
        _require(len(node.inputs) == 1)
        return np.array(_value(node, "pads", ir.AttributeType.INTS), np.int64)
    array = constant(node.inputs[1], scope) if len(node.inputs) > 1 else None
    if array is None:
        raise _NoMatch
    return array.reshape(-1)


def _is_pad(node: ir.Node) -> bool:
    return (node.domain, node.op_type) == ("", "Pad")


def _mode(node: ir.Node) -> Any:
    return attribute_value(node, "mode", ir.AttributeType.STRING, "constant")


def _int(node: ir.Node, name: str, default: int) -> Any:
    return attribute_value(node, name, ir.AttributeType.INT, default)


def _readers(value: ir.Value) -> list[ir.Node]:
    """Return the nodes that read a value; the value must not be an output of the graph."""
    _require(not value.is_graph_output())
    return list(dict.fromkeys(use.node for use in value.uses()))


def _reader(value: ir.Value) -> ir.Node:
    readers = _readers(value)
    _require(len(readers) == 1)
    return readers[0]


def _maker(node: ir.Node | None, i: int) -> ir.Node | None:
    """Return the node that makes an input; None without one."""
    value = node.inputs[i] if node is not None and i < len(node.inputs) else None
    return None if value is None else value.producer()


def _reading(value: ir.Value, op_type: str) -> ir.Node | None:
    return next((node for node in _readers(value) if (node.domain, node.op_type) == ("", op_type)), None)


def _value(node: ir.Node, name: str, kind: ir.AttributeType) -> Any:
    """Return the value of an attribute, which must be present and of this type."""
    value = attribute_value(node, name, kind)
    _require(value is not None)
    return value


def _require(holds: object) -> None:
    if not holds:
        raise _NoMatch
