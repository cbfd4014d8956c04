"""The symmetric Pad that tf2onnx spells in ONNX, which has no such mode.

It pads every axis concerned by one element, reflects about that, and takes it out again::

    1234  ->  012340  ->  2101234043  ->  21123443

The reflection is a Pad too; a mask for each axis says what to keep: ones, but for the two places where the elements
stand, begin and -1 - end. The masks need the shape of what is reflected, so all of it hangs together in ten to thirty
nodes. They are replaced only where each of them is as tf2onnx writes it and nothing else reads what is between them.

The amounts have to be constant. As TensorFlow itself, OpenVINOPad_12 reaches n elements and refuses more (P4), where the
emulation would show the padding of the other end; so an emulation that is known to reach further is left, and so are
amounts that come at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.constants import Constants
from padops.convert.graphs import Found, Scope, constant
from padops.convert.sources import onnx_pad
from padops.convert.sources.finding import Draft, Edit, Finding, Put, string_attribute
from padops.convert.types import Types

OP = "OpenVINOPad_12"
FORM = "symmetric emulation of tf2onnx"


class _NoMatch(Exception):
    """The nodes are not the emulation."""


@dataclass
class _Emulation:
    """What has been recognised.

    Attributes:
        graph: The graph of all the nodes.
        data: What is padded.
        amounts: Of all axes, begins then ends.
        nodes: Those that go, the two Pads first, a node that reads another one after it.
        last: The node that gives the result, and becomes the operator.
    """

    graph: ir.Graph
    data: ir.Value
    amounts: np.ndarray
    nodes: list[ir.Node]
    last: ir.Node


def find(found: Found, types: Types) -> Finding | None:
    """Recognises the two Pads of an emulation; all is done with the first of them."""
    node = found.node
    if node.domain != "" or node.op_type != "Pad" or not node.inputs:
        return None
    before = _producer(node.inputs[0])
    is_second = _mode(node) == "reflect" and before is not None and before.op_type == "Pad"
    try:
        emulation = _match(before if is_second else node, found, types)
    except _NoMatch:
        return None
    reflection = emulation.nodes[1]
    plain = onnx_pad.find(Found(reflection, found.path, found.scope), types)
    if plain.draft is None:
        return None
    if is_second:
        note = f"in one with {before.name or 'the Pad before it'}"
        return Finding(FORM, Edit(OP, lambda found, constants, put: []), plain.facts, notes=(note,))
    name = emulation.last.name or emulation.last.outputs[0].name
    note = f"one operator, {name}, for {len(emulation.nodes) + 1} nodes"
    edit = Edit(OP, lambda found, constants, put: _replace(found, constants, put, emulation))
    return Finding(FORM, edit, plain.facts, notes=(note,))


def _match(first: ir.Node, found: Found, types: Types) -> _Emulation:
    """The emulation that begins with ``first``.

    Raises:
        _NoMatch: There is none.
    """
    _require(first.domain == "" and _mode(first) == "constant" and _is_plain(first))
    added = _amounts(first, found.scope)
    _require(added.size % 2 == 0 and set(added.tolist()) <= {0, 1})
    rank = added.size // 2
    axes = np.flatnonzero(added[:rank]).tolist()
    _require(axes and (added[:rank] == added[rank:]).all())
    (second,) = _readers(first.outputs[0], 1)
    _require(_is(second, "Pad") and _mode(second) == "reflect" and _is_plain(second))
    _require(second.inputs[0] is first.outputs[0])
    amounts = _amounts(second, found.scope)
    _check_amounts(amounts, axes, rank, types.shape(first.inputs[0]))
    nodes = [first, second]
    shape = next((node for node in _readers(second.outputs[0], 2) if _is(node, "Shape")), None)
    _require(shape is not None and not shape.attributes)
    (split,) = _readers(shape.outputs[0], 1)
    _require(_is(split, "Split") and _splits_evenly(split, rank, found.scope))
    nodes += [shape, split]
    value = second.outputs[0]
    left = set(axes)
    while left:
        readers = [node for node in _readers(value, None) if node is not shape]
        _require(len(readers) == 1 and _is(readers[0], "Compress") and readers[0].inputs[0] is value)
        axis = _int(readers[0], "axis", -1)
        _require(axis in left)
        left.remove(axis)
        ends = int(amounts[axis]), int(amounts[axis + rank])
        nodes += _match_mask(readers[0].inputs[1], split.outputs[axis], ends, found.scope)
        nodes.append(readers[0])
        value = readers[0].outputs[0]
    last = nodes.pop()
    graph = first.graph
    _require(all(node.graph is graph for node in (*nodes, last)))
    return _Emulation(graph, first.inputs[0], amounts, nodes, last)


def _match_mask(mask: ir.Value, dim: ir.Value, ends: tuple[int, int], scope: Scope) -> list[ir.Node]:
    """The nodes that make the mask of one axis: ones, but for the two elements that were added."""
    scatter = _producer(mask)
    _require(_is(scatter, "ScatterElements", "Scatter") and len(scatter.inputs) == 3)
    _readers(mask, 1)
    _require(_int(scatter, "axis", 0) == 0 and set(scatter.attributes) <= {"axis"})
    ones, places, marks = scatter.inputs
    _require(_equals(constant(marks, scope), np.zeros(2, bool)))
    fill = _producer(ones)
    _require(_is(fill, "ConstantOfShape") and fill.inputs[0] is dim)
    _readers(ones, 1)
    _readers(dim, 1)
    tensor = fill.attributes.get("value")
    _require(tensor is not None and tensor.type == ir.AttributeType.TENSOR and not tensor.is_ref())
    _require(_equals(tensor.value.numpy(), np.ones(1, bool)))
    begin, end = ends
    _require(_equals(constant(places, scope), np.array([begin, -1 - end])))
    return [fill, scatter]


def _check_amounts(amounts: np.ndarray, axes: Sequence[int], rank: int, shape: Sequence[int | None] | None) -> None:
    """The amounts have to be of the axes that got an element, and within the data as far as that is known."""
    _require(amounts.size == 2 * rank and (amounts >= 0).all())
    for axis in range(rank):
        most = max(amounts[axis], amounts[axis + rank])
        _require(axis in axes or most == 0)
        _require(shape is None or (len(shape) == rank and (shape[axis] is None or most <= shape[axis])))


def _replace(found: Found, constants: Constants, put: Put, emulation: _Emulation) -> list[ir.Node]:
    """Makes the last node the operator, and takes the others and their constants out of the graph."""
    last = emulation.last
    here = Found(last, found.path, found.scope)
    begins, ends = np.split(emulation.amounts.astype(np.int64), 2)
    read = [value for node in (*emulation.nodes, last) for value in node.inputs if value is not None]
    attributes = {"pad_mode": ir.AttrString("pad_mode", "symmetric")}
    put(Draft(OP, (emulation.data, begins, ends, None), attributes), here, constants)
    for node in reversed(emulation.nodes):
        if not any(_is_read(value) for value in node.outputs):
            emulation.graph.remove(node, safe=True)
    for value in read:
        _drop_constant(value, found.scope.graph)
    return [last]


def _drop_constant(value: ir.Value, graph: ir.Graph) -> None:
    """Takes an initializer or a Constant out of the graph, if nothing reads it any more."""
    if _is_read(value) or value.is_graph_input():
        return
    if graph.initializers.get(value.name) is value:
        del graph.initializers[value.name]
    node = value.producer()
    if node is not None and node.graph is not None and _is(node, "Constant"):
        node.graph.remove(node, safe=True)


def _amounts(node: ir.Node, scope: Scope) -> np.ndarray:
    """All amounts of a Pad, from the attribute or the input."""
    if "pads" in node.attributes:
        attribute = node.attributes["pads"]
        _require(not attribute.is_ref() and len(node.inputs) == 1)
        return np.array(attribute.value, np.int64)
    array = constant(node.inputs[1], scope) if len(node.inputs) > 1 else None
    _require(array is not None)
    return array.reshape(-1)


def _is_plain(node: ir.Node) -> bool:
    """Whether a Pad has nothing but data, amounts and a mode; what it would fill with is taken out again."""
    return len(node.inputs) <= 2 and set(node.attributes) <= {"mode", "pads"} and len(node.outputs) == 1


def _splits_evenly(node: ir.Node, parts: int, scope: Scope) -> bool:
    """Whether a Split gives one part for each element."""
    if len(node.outputs) != parts or _int(node, "axis", 0) != 0:
        return False
    if len(node.inputs) > 1 and node.inputs[1] is not None:
        return _equals(constant(node.inputs[1], scope), np.ones(parts))
    sizes = node.attributes.get("split")
    return sizes is None or (not sizes.is_ref() and list(sizes.value) == [1] * parts)


def _mode(node: ir.Node) -> str | None:
    return string_attribute(node, "mode", "constant")


def _int(node: ir.Node, name: str, default: int) -> int:
    attribute = node.attributes.get(name)
    if attribute is None:
        return default
    _require(attribute.type == ir.AttributeType.INT and not attribute.is_ref())
    return attribute.value


def _readers(value: ir.Value, count: int | None) -> list[ir.Node]:
    """The nodes that read a value which nothing else needs; of them there have to be ``count``."""
    readers = [use.node for use in value.uses()]
    _require(not value.is_graph_output() and (count is None or len(readers) == count))
    return readers


def _is_read(value: ir.Value) -> bool:
    return value.is_graph_output() or bool(value.uses())


def _producer(value: ir.Value | None) -> ir.Node | None:
    return None if value is None else value.producer()


def _is(node: ir.Node | None, *op_types: str) -> bool:
    return node is not None and node.domain == "" and node.op_type in op_types


def _equals(array: np.ndarray | None, expected: np.ndarray) -> bool:
    return array is not None and array.shape == expected.shape and bool((array == expected).all())


def _require(holds: object) -> None:
    if not holds:
        raise _NoMatch
