"""Indices into data as one long axis, as indices along each axis.

``Gather(Reshape(data, [-1]), i)`` with ``i = (p0 * n1 + p1) * n2 + p2`` is data at ``p0, p1, p2``, where each ``p`` is a
vector of positions from 0 to ``n - 1`` of its axis. Whoever decides about that would have to divide by unknown dims; along
each axis nothing is divided. What is written here fails for a position below 0 or beyond its axis: that none is, has to
be proved of it, and then both are the same.

Where ``i`` is all positions in the shape of the data, ``Reshape(Range(0, size, 1), shape)``, moved by Slice and Pad, the
data are moved in the same way. A Pad that writes -1 means the last element: the fill, which ``Concat`` has put there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

BEYOND = np.iinfo(np.int64).max  # a position that no axis has
FIRST_WITH_BROADCAST = 9  # the opset whose Where and Less repeat what is short


Nodes = Mapping[str, onnx.NodeProto]
Known = Mapping[str, np.ndarray]


def by_axis(model: onnx.ModelProto, data: str) -> onnx.ModelProto:
    """Rewrites each Gather of a value as one long axis by such indices, in a graph and its branches.

    Args:
        model: The model. It is changed.
        data: The value.

    Returns:
        The model.
    """
    info = next((row for row in model.graph.input if row.name == data), None)
    version = next((row.version for row in model.opset_import if row.domain in ("", "ai.onnx")), 0)
    if info is not None and _rank(info) and version >= FIRST_WITH_BROADCAST:
        _Rewriting(info, model).rewrite(model.graph, {}, {})
    return model


def _rank(value: onnx.ValueInfoProto) -> int | None:
    tensor = value.type.tensor_type
    return len(tensor.shape.dim) if tensor.HasField("shape") else None


class _Rewriting:
    """The rewriting of one model."""

    def __init__(self, data: onnx.ValueInfoProto, model: onnx.ModelProto) -> None:
        self._data = data.name
        self._dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in data.type.tensor_type.shape.dim]
        self._rank = len(self._dims)
        self._vectors = _vectors(model)
        self._count = 0

    def rewrite(self, graph: onnx.GraphProto, nodes: Nodes, known: Known) -> None:
        """Rewrites a graph; ``nodes`` and ``known`` are what the graphs around it compute and hold."""
        nodes = {**nodes, **{name: node for node in graph.node for name in node.output}}
        known = {**known, **{row.name: numpy_helper.to_array(row) for row in graph.initializer}}
        for node in graph.node:
            if node.op_type == "Constant" and not node.domain and node.attribute[0].name == "value":
                known[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        made: list[onnx.NodeProto] = []
        for node in list(graph.node):
            for row in node.attribute:
                if row.HasField("g"):
                    self.rewrite(row.g, nodes, known)
            made += self._written(node, nodes, known) or [node]
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in made]
        del graph.node[:]
        graph.node.extend(copies)

    def _written(self, node: onnx.NodeProto, nodes: Nodes, known: Known) -> list[onnx.NodeProto] | None:
        """What stands in the place of a Gather of the data as one long axis; None for any other node."""
        if node.domain or node.op_type != "Gather" or _attribute(node, "axis", 0) != 0:
            return None
        flat, fill = _plain(node.input[0], nodes), ""
        if flat is not None and flat.op_type == "Concat" and len(flat.input) == 2:
            fill = flat.input[1]  # vectors have one axis to be joined along
            flat = _plain(flat.input[0], nodes)
        if flat is None or not self._is_flat(flat, known, nodes):
            return None
        moved = self._moved(node, fill, nodes, known)
        positions = None if moved or fill else self._positions(node.input[1], nodes, known)
        return moved if positions is None else self._chain(node, positions)

    def _is_flat(self, node: onnx.NodeProto, known: Known, nodes: Nodes) -> bool:
        shape = known.get(node.input[1]) if node.op_type == "Reshape" else None
        return shape is not None and shape.tolist() == [-1] and _source(node.input[0], nodes) == self._data

    def _moved(self, node: onnx.NodeProto, fill: str, nodes: Nodes, known: Known) -> list[onnx.NodeProto] | None:
        """What has moved the positions of all elements, applied to the data."""
        name, moves = _source(node.input[1], nodes), list[onnx.NodeProto]()
        while not self._is_all(name, nodes, known):
            move = _plain(name, nodes)
            if move is None or move.op_type not in ("Slice", "Pad"):
                return None
            if move.op_type == "Pad" and not _fits(move, fill, known):
                return None
            moves.insert(0, move)
            name = _source(move.input[0], nodes)
        self._count += 1
        made, data, stem = list[onnx.NodeProto](), self._data, f"moved {self._count}"
        scalar, none = f"{stem} scalar", f"{stem} none"
        if fill:
            made += [_constant(none, []), helper.make_node("Reshape", [fill, none], [scalar])]
        for number, move in enumerate(moves):
            copied = onnx.NodeProto.FromString(move.SerializeToString())
            copied.input[0], copied.output[0], copied.name = data, f"{stem} {number}", ""
            if move.op_type == "Pad":
                copied.input[2:] = [scalar if _mode(move) == "constant" else "", *move.input[3:]]
                while not copied.input[-1]:
                    copied.input.pop()
            made.append(copied)
            data = copied.output[0]
        return [*made, helper.make_node("Identity", [data], list(node.output))]

    def _is_all(self, name: str, nodes: Nodes, known: Known) -> bool:
        """Whether a value is the position of each element, in the shape of the data."""
        array = known.get(name)
        if array is not None:
            return list(array.shape) == self._dims and array.reshape(-1).tolist() == list(range(array.size))
        shaped = _plain(name, nodes)
        if shaped is None or shaped.op_type != "Reshape" or not self._is_shape(shaped.input[1], nodes, known):
            return False
        numbers = _plain(shaped.input[0], nodes)
        if numbers is None or numbers.op_type != "Range":
            return False
        first, limit, step = (known.get(_source(one, nodes)) for one in numbers.input)
        if first is None or step is None or (first.item(), step.item()) != (0, 1):
            return False
        if limit is not None:
            dims = [dim for dim in self._dims if dim is not None]
            return len(dims) == self._rank and limit.item() == math.prod(dims)
        size = _plain(numbers.input[1], nodes)
        is_size = size is not None and size.op_type == "ReduceProd" and _attribute(size, "axes", None) is None
        return is_size and size is not None and len(size.input) == 1 and self._is_shape(size.input[0], nodes, known)

    def _is_shape(self, name: str, nodes: Nodes, known: Known) -> bool:
        """Whether a value is the shape of the data."""
        array, node = known.get(_source(name, nodes)), _plain(name, nodes)
        if array is not None:
            return bool(array.tolist() == self._dims)
        if node is None or node.op_type != "Shape" or node.attribute:
            return False
        return _source(node.input[0], nodes) == self._data

    def _positions(self, indices: str, nodes: Nodes, known: Known) -> list[str] | None:
        """The positions along each axis that indices mean; None where they are not of this form."""
        found: list[str] = []
        name = _source(indices, nodes)
        while len(found) < self._rank:
            step = self._step(name, nodes, known, self._rank - 1 - len(found))
            if step is None:
                return None
            name, position = step
            found.insert(0, position)
        start = known.get(name)
        return found if start is not None and start.shape == () and not start.item() else None

    def _step(self, name: str, nodes: Nodes, known: Known, axis: int) -> tuple[str, str] | None:
        """Of ``so_far * n + position``: so far and the position, where n is the dim of the axis."""
        total = _plain(name, nodes)
        if total is None or total.op_type != "Add":
            return None
        for product_name, position in (total.input, tuple(reversed(total.input))):
            product = _plain(product_name, nodes)
            if product is None or product.op_type != "Mul" or _source(position, nodes) not in self._vectors:
                continue
            for longer, dim in (product.input, tuple(reversed(product.input))):
                before = _plain(longer, nodes)
                if before is None or before.op_type != "Unsqueeze" or not self._is_dim(dim, nodes, known, axis):
                    continue
                if _axes(before, known) == [-1]:
                    return _source(before.input[0], nodes), position
        return None

    def _is_dim(self, name: str, nodes: Nodes, known: Known, axis: int) -> bool:
        """Whether a value is the dim of an axis of the data."""
        number = known.get(_source(name, nodes))
        if number is not None:
            return number.size == 1 and number.ndim <= 1 and number.item() == self._dims[axis]
        node = _plain(name, nodes)
        if node is None or node.op_type != "Gather" or _attribute(node, "axis", 0) != 0:
            return False
        which = known.get(_source(node.input[1], nodes))
        if which is None or which.shape != () or which.item() not in (axis, axis - self._rank):
            return False
        return self._is_shape(node.input[0], nodes, known)

    def _chain(self, node: onnx.NodeProto, positions: list[str]) -> list[onnx.NodeProto]:
        """A Gather for each axis, of which none takes a position from the end."""
        self._count += 1
        stem, data = f"by axis {self._count}", self._data
        none, beyond = f"{stem} none", f"{stem} beyond"
        made = [_constant(none, 0), _constant(beyond, BEYOND)]
        for axis, position in enumerate(positions):
            below, safe, shown = (f"{stem} {what} {axis}" for what in ("below", "safe", "shown"))
            made.append(helper.make_node("Less", [position, none], [below]))
            made.append(helper.make_node("Where", [below, beyond, position], [safe]))
            made.append(helper.make_node("Gather", [data, safe], [shown], axis=axis))
            data = shown
        return [*made, helper.make_node("Identity", [data], list(node.output))]


def _constant(name: str, value: int | list[int]) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, np.int64)))


def _mode(node: onnx.NodeProto) -> str:
    return next((row.s.decode() for row in node.attribute if row.name == "mode"), "constant")


def _fits(pad: onnx.NodeProto, fill: str, known: Known) -> bool:
    """Whether a Pad of positions writes none of its own, or -1, which is where the fill is."""
    if _mode(pad) != "constant":
        return True
    array = known.get(pad.input[2]) if len(pad.input) > 2 else None
    return bool(fill) and array is not None and array.size == 1 and array.item() == -1


def _plain(name: str, nodes: Nodes) -> onnx.NodeProto | None:
    """The node of ONNX that computes a value, behind Identities."""
    node = nodes.get(_source(name, nodes))
    return None if node is None or node.domain else node


def _source(name: str, nodes: Nodes) -> str:
    """What a value is a copy of."""
    while name in nodes and nodes[name].op_type == "Identity" and not nodes[name].domain:
        name = nodes[name].input[0]
    return name


def _attribute(node: onnx.NodeProto, name: str, default: int | None) -> int | None:
    return next((row.i for row in node.attribute if row.name == name), default)


def _axes(node: onnx.NodeProto, known: Known) -> list[int] | None:
    """The axes of an Unsqueeze: an input from opset 13 on, an attribute before."""
    if len(node.input) > 1:
        given = known.get(node.input[1])
        return None if given is None else [int(axis) for axis in given.reshape(-1)]
    return next((list(row.ints) for row in node.attribute if row.name == "axes"), None)


def _vectors(model: onnx.ModelProto) -> set[str]:
    """The values of a graph and of its branches that inference knows to be vectors."""
    ranks: dict[str, set[int | None]] = {}
    todo = [onnx.shape_inference.infer_shapes(model, data_prop=True).graph]
    while todo:
        graph = todo.pop()
        for row in (*graph.input, *graph.value_info):
            ranks.setdefault(row.name, set()).add(_rank(row))
        for tensor in graph.initializer:
            ranks.setdefault(tensor.name, set()).add(len(tensor.dims))
        todo += [row.g for node in graph.node for row in node.attribute if row.HasField("g")]
    return {name for name, found in ranks.items() if found == {1}}
