"""Indices into data as one long axis, as indices along each axis.

``Gather(Reshape(data, [-1]), i)`` with ``i = (p0 * n1 + p1) * n2 + p2`` is data at ``p0, p1, p2``, where each ``p`` is a
vector of positions from 0 to ``n - 1`` of its axis. Whoever decides about that would have to divide by unknown dims; along
each axis nothing is divided. What is written here fails for a position below 0 or beyond its axis: that none is, has to
be proved of it, and then both are the same. Where the result has no elements, positions are not looked at, and may be
anything: so that is looked at apart, as a result of these dims.

Where ``i`` is all positions in the shape of the data, ``Reshape(Range(0, size, 1), shape)``, moved by Slice and Pad, the
data are moved in the same way. A Pad that writes -1 means the last element: the fill, which ``Concat`` has put there.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from padops.convert.proof.flat_graph import FlatGraph, attribute

BEYOND = np.iinfo(np.int64).max  # a position that no axis has
FIRST_WITH_BROADCAST = 9  # the opset whose Where and Less repeat what is short


def by_axis(model: onnx.ModelProto, data: str, has_elements: bool = True) -> bool:
    """Rewrites each Gather of a value as one long axis by such indices.

    Returns:
        Whether that makes a difference to what has been written.
    """
    info = next((row for row in model.graph.input if row.name == data), None)
    version = next((row.version for row in model.opset_import if row.domain in ("", "ai.onnx")), 0)
    if info is None or not info.type.tensor_type.shape.dim or version < FIRST_WITH_BROADCAST:
        return False
    writing = _Writing(FlatGraph(model, info), info.type.tensor_type.elem_type, has_elements)
    made, passed = list[onnx.NodeProto](), set[str]()
    for node in model.graph.node:
        writing.graph.passed = set()
        written = writing.written(node)
        passed |= writing.graph.passed if written else set()
        made += written or [node]
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in _without_unread(made, model, passed)]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return writing.is_split


def _without_unread(nodes: Sequence[onnx.NodeProto], model: onnx.ModelProto, passed: set[str]) -> list[onnx.NodeProto]:
    """The nodes without those that were looked through and that nothing reads: none of them can fail."""
    read, kept = {row.name for row in model.graph.output}, list[onnx.NodeProto]()
    for node in reversed(nodes):
        is_copy = node.op_type == "Identity" and not node.domain
        if set(node.output) & read or not (is_copy or set(node.output) <= passed):
            kept.append(node)
            read.update(node.input)
    return kept[::-1]


class _Writing:
    """What is written in the place of Gathers.

    Attributes:
        graph: The graph as it is.
        is_split: Whether it makes a difference that results have elements.
    """

    def __init__(self, graph: FlatGraph, dtype: int, has_elements: bool) -> None:
        self.graph, self.is_split = graph, False
        self._dtype, self._has_elements, self._count = dtype, has_elements, 0

    def written(self, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
        """What stands in the place of a Gather of the data as one long axis; None for any other node."""
        if node.domain or node.op_type != "Gather" or attribute(node, "axis", 0) != 0:
            return None
        flat, joined, fill = node.input[0], self.graph.plain(node.input[0], "Concat"), ""
        if joined is not None and len(joined.input) == 2:
            flat, fill = joined.input
            if not self.graph.is_vector(fill):
                return None
        if not self.graph.is_flat(flat):
            return None
        self._count += 1
        moved = self._moved(node, fill)
        if moved is not None or fill:
            return moved
        found = _positions(node.input[1], self.graph)
        if found is None:
            return None
        self.is_split = True
        return self._chain(node, found) if self._has_elements else self._nothing(node, found)

    def _moved(self, node: onnx.NodeProto, fill: str) -> list[onnx.NodeProto] | None:
        """What has moved the positions of all elements, applied to the data."""
        name, moves = node.input[1], list[onnx.NodeProto]()
        while not self.graph.is_every_position(name):
            move = self.graph.plain(name, "Slice") or self.graph.plain(name, "Pad")
            if move is None or move.op_type == "Pad" and not _fits(move, fill, self.graph):
                return None
            moves.insert(0, move)
            name = move.input[0]
        data, stem = self.graph.data, f"moved {self._count}"
        scalar, none = f"{stem} scalar", f"{stem} none"
        made = [_constant(none, []), helper.make_node("Reshape", [fill, none], [scalar])] if fill else []
        for number, move in enumerate(moves):
            copied = onnx.NodeProto.FromString(move.SerializeToString())
            copied.input[0], copied.output[0], copied.name = data, f"{stem} {number}", ""
            if move.op_type == "Pad":
                copied.input[2:] = [scalar if _mode(move) == "constant" else "", *move.input[3:]]
                while not copied.input[-1]:
                    copied.input.pop()
            made.append(copied)
            data = copied.output[0]
        return [*made, _copy(data, node.output[0])]

    def _chain(self, node: onnx.NodeProto, positions: Sequence[str | np.ndarray]) -> list[onnx.NodeProto]:
        """A Gather for each axis, of which none takes a position from the end."""
        stem, data = f"by axis {self._count}", self.graph.data
        none, beyond = f"{stem} none", f"{stem} beyond"
        made = [_constant(none, 0), _constant(beyond, BEYOND)]
        for axis, given in enumerate(positions):
            position, below, safe, shown = (f"{stem} {what} {axis}" for what in ("position", "below", "safe", "shown"))
            made.append(_constant(position, given) if isinstance(given, np.ndarray) else _copy(given, position))
            made.append(helper.make_node("Less", [position, none], [below]))
            made.append(helper.make_node("Where", [below, beyond, position], [safe]))
            made.append(helper.make_node("Gather", [data, safe], [shown], axis=axis))
            data = shown
        return [*made, _copy(data, node.output[0])]

    def _nothing(self, node: onnx.NodeProto, positions: Sequence[str | np.ndarray]) -> list[onnx.NodeProto]:
        """A result of the dims that the positions have."""
        stem, made, dims = f"nothing {self._count}", list[onnx.NodeProto](), list[str]()
        for axis, given in enumerate(positions):
            position, dim = f"{stem} position {axis}", f"{stem} dim {axis}"
            made.append(_constant(position, given) if isinstance(given, np.ndarray) else _copy(given, position))
            made.append(helper.make_node("Shape", [position], [dim]))
            dims.append(dim)
        made.append(helper.make_node("Concat", dims, [f"{stem} dims"], axis=0))
        if self._dtype == onnx.TensorProto.STRING:
            value = numpy_helper.from_array(np.array([""], object))
        else:
            value = numpy_helper.from_array(np.zeros(1, helper.tensor_dtype_to_np_dtype(self._dtype)))
        return [*made, helper.make_node("ConstantOfShape", [f"{stem} dims"], list(node.output), value=value)]


def _positions(indices: str, graph: FlatGraph) -> list[str | np.ndarray] | None:
    """The positions along each axis that indices mean; None where they are not of this form."""
    found: list[str | np.ndarray] = []
    so_far: str | np.ndarray = indices
    for axis in reversed(range(len(graph.dims))):
        array = so_far if isinstance(so_far, np.ndarray) else graph.known(so_far)
        if array is not None:
            vectors = _decoded(array, graph.dims[: axis + 1])
            return None if vectors is None else [*vectors, *found]
        assert isinstance(so_far, str)
        step = _step(so_far, graph, axis)
        if step is None:
            return None
        so_far, position = step
        found.insert(0, position)
    start = so_far if isinstance(so_far, np.ndarray) else graph.known(so_far)
    return found if start is not None and start.shape == () and not start.item() else None


def _step(name: str, graph: FlatGraph, axis: int) -> tuple[str | np.ndarray, str] | None:
    """Of ``so_far * n + position``: so far and the position, where n is the dim of the axis."""
    total = graph.plain(name, "Add")
    for product_name, position in itertools.permutations(total.input) if total is not None else ():
        if not graph.is_vector(position):
            continue
        array = graph.known(product_name)
        if array is not None:
            before = _divided(array, graph.dims[axis], axis)
            if before is not None:
                return before, position
        product = graph.plain(product_name, "Mul")
        for longer, dim in itertools.permutations(product.input) if product is not None else ():
            if not graph.is_dim(dim, axis):
                continue
            array = graph.known(longer)
            if array is not None and array.ndim == axis + 1 and array.shape[-1] == 1:
                return array[..., 0], position
            shorter = graph.plain(longer, "Unsqueeze")
            if shorter is not None and graph.axes(shorter) == [-1]:
                return shorter.input[0], position
    return None


def _divided(product: np.ndarray, dim: int | None, axis: int) -> np.ndarray | None:
    """What has been multiplied by a dim, where all of that is known; it has an axis for each one before this one."""
    if product.ndim != axis + 1 or product.shape[-1] != 1:
        return None
    if not product.any():
        return product[..., 0]
    return product[..., 0] // dim if dim and not (product % dim).any() else None


def _decoded(array: np.ndarray, dims: Sequence[int | None]) -> list[np.ndarray] | None:
    """The positions along each axis that known indices mean, if they are the same wherever the other positions are."""
    known = [dim for dim in dims if dim is not None]
    if len(known) != len(dims) or array.ndim != len(dims) or not array.size:
        return None
    if array.min() < 0 or array.max() >= np.prod(known, dtype=object):
        return None
    vectors = [
        np.moveaxis(where, axis, 0).reshape(where.shape[axis], -1)[:, 0]
        for axis, where in enumerate(np.unravel_index(array, known))
    ]
    again = np.ravel_multi_index(np.ix_(*vectors), known)
    return [vector.astype(np.int64) for vector in vectors] if np.array_equal(again, array) else None


def _copy(name: str, output: str) -> onnx.NodeProto:
    return helper.make_node("Identity", [name], [output])


def _constant(name: str, value: int | list[int] | np.ndarray) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, np.int64)))


def _mode(node: onnx.NodeProto) -> str:
    return next((row.s.decode() for row in node.attribute if row.name == "mode"), "constant")


def _fits(pad: onnx.NodeProto, fill: str, graph: FlatGraph) -> bool:
    """Whether a Pad of positions writes none of its own, or -1, which is where the fill is."""
    if _mode(pad) != "constant":
        return True
    array = graph.known(pad.input[2]) if len(pad.input) > 2 else None
    return bool(fill) and array is not None and array.size == 1 and array.item() == -1
