"""Rewrites Gathers from flattened data as Gathers along each axis.

``Gather(Reshape(data, [-1]), i)`` with ``i = (p0 * n1 + p1) * n2 + p2`` is data at ``p0, p1, p2``, where each ``p`` is
a vector of positions from 0 to ``n - 1`` of its axis. A proof of the flat form would have to divide by unknown dims;
along each axis nothing is divided. The rewritten graph fails for a position below 0 or beyond its axis. The proof must
rule such positions out; then both forms agree. A result without elements never reads its positions, which may be
anything. So that case is proved separately, with a result that has only dims.

If ``i`` is all flat positions in the data's shape, ``Reshape(Range(0, size, 1), shape)``, moved by Slice and Pad, then
the same Slices and Pads move the data. A Pad that writes -1 means the last element: the fill, which ``Concat`` has
appended.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import onnx
from onnx import helper, numpy_helper

from padops.convert.proof.believing import opset_of
from padops.convert.proof.flat_graph import FlatGraph, attribute, identity, int64_constant

BEYOND = np.iinfo(np.int64).max  # an index beyond every axis
FIRST_WITH_BROADCAST = 9  # since this opset, Where and Less broadcast


def by_axis(model: onnx.ModelProto, data: str, has_elements: bool = True) -> bool:
    """Rewrites each Gather from the flattened ``data`` in a model without branches. ``model`` is changed.

    ``has_elements`` says whether to assume that the Gathers' results have elements.

    Returns:
        Whether the rewritten graph depends on ``has_elements``.
    """
    info = next((row for row in model.graph.input if row.name == data), None)
    version = opset_of(model)
    if info is None or not info.type.tensor_type.shape.dim or version < FIRST_WITH_BROADCAST:
        return False
    writing = _Writing(FlatGraph(model, info), info.type.tensor_type.elem_type, has_elements)
    made, passed = list[onnx.NodeProto](), set[str]()
    for node in model.graph.node:
        writing.graph.passed = set()
        written = writing.written(node)
        passed |= writing.graph.passed if written else set()
        made += written or [node]
    kept = [deepcopy(node) for node in _without_unread(made, model, passed)]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return writing.is_split


def _without_unread(nodes: Sequence[onnx.NodeProto], model: onnx.ModelProto, passed: set[str]) -> list[onnx.NodeProto]:
    """The nodes without unread copies and unread matched nodes; none of these can fail."""
    read, kept = {row.name for row in model.graph.output}, list[onnx.NodeProto]()
    for node in reversed(nodes):
        is_copy = node.op_type == "Identity" and not node.domain
        if set(node.output) & read or not (is_copy or set(node.output) <= passed):
            kept.append(node)
            read.update(node.input)
    return kept[::-1]


class _Writing:
    """Writes the nodes that replace Gathers.

    Attributes:
        graph: The unchanged graph.
        is_split: Whether a replacement depends on ``has_elements``.
    """

    def __init__(self, graph: FlatGraph, dtype: int, has_elements: bool) -> None:
        self.graph, self.is_split = graph, False
        self._dtype, self._has_elements, self._count = dtype, has_elements, 0

    def written(self, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
        """The nodes that replace a Gather from the flattened data; None for any other node."""
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
        """The Slices and Pads of the flat positions, applied to the data; None if the indices have another form."""
        name, moves = node.input[1], list[onnx.NodeProto]()
        while not self.graph.is_every_position(name):
            move = self.graph.plain(name, "Slice") or self.graph.plain(name, "Pad")
            if move is None or move.op_type == "Pad" and not _fits(move, fill, self.graph):
                return None
            moves.insert(0, move)
            name = move.input[0]
        data, stem = self.graph.data, f"moved {self._count}"
        scalar, none = f"{stem} scalar", f"{stem} none"
        made = [int64_constant(none, []), helper.make_node("Reshape", [fill, none], [scalar])] if fill else []
        for number, move in enumerate(moves):
            copied = deepcopy(move)
            copied.input[0], copied.output[0], copied.name = data, f"{stem} {number}", ""
            if move.op_type == "Pad":
                copied.input[2:] = [scalar if _mode(move) == "constant" else "", *move.input[3:]]
                while not copied.input[-1]:
                    copied.input.pop()
            made.append(copied)
            data = copied.output[0]
        return [*made, identity(data, node.output[0])]

    def _chain(self, node: onnx.NodeProto, positions: Sequence[str | np.ndarray]) -> list[onnx.NodeProto]:
        """A Gather for each axis; each fails for a negative position."""
        stem, data = f"by axis {self._count}", self.graph.data
        none, beyond = f"{stem} none", f"{stem} beyond"
        made = [int64_constant(none, 0), int64_constant(beyond, BEYOND)]
        for axis, given in enumerate(positions):
            position, below, safe, shown = (f"{stem} {what} {axis}" for what in ("position", "below", "safe", "shown"))
            made.append(int64_constant(position, given) if isinstance(given, np.ndarray) else identity(given, position))
            made.append(helper.make_node("Less", [position, none], [below]))
            made.append(helper.make_node("Where", [below, beyond, position], [safe]))
            made.append(helper.make_node("Gather", [data, safe], [shown], axis=axis))
            data = shown
        return [*made, identity(data, node.output[0])]

    def _nothing(self, node: onnx.NodeProto, positions: Sequence[str | np.ndarray]) -> list[onnx.NodeProto]:
        """A result with the lengths of the positions as dims."""
        stem, made, dims = f"nothing {self._count}", list[onnx.NodeProto](), list[str]()
        for axis, given in enumerate(positions):
            position, dim = f"{stem} position {axis}", f"{stem} dim {axis}"
            made.append(int64_constant(position, given) if isinstance(given, np.ndarray) else identity(given, position))
            made.append(helper.make_node("Shape", [position], [dim]))
            dims.append(dim)
        made.append(helper.make_node("Concat", dims, [f"{stem} dims"], axis=0))
        if self._dtype == onnx.TensorProto.STRING:
            value = numpy_helper.from_array(np.array([""], object))
        else:
            value = numpy_helper.from_array(np.zeros(1, helper.tensor_dtype_to_np_dtype(self._dtype)))
        return [*made, helper.make_node("ConstantOfShape", [f"{stem} dims"], list(node.output), value=value)]


def _positions(indices: str, graph: FlatGraph) -> list[str | np.ndarray] | None:
    """The positions along each axis that flat indices stand for; None if they have another form."""
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
    """Splits ``so_far * n + position``, where n is the axis's dim, into so_far and position; None for another form."""
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
    """A known product divided by the dim of ``axis``; None if the shape or the division does not fit."""
    if product.ndim != axis + 1 or product.shape[-1] != 1:
        return None
    if not product.any():
        return product[..., 0]
    return product[..., 0] // dim if dim and not (product % dim).any() else None


def _decoded(array: np.ndarray, dims: Sequence[int | None]) -> list[np.ndarray] | None:
    """The positions along each axis that known flat indices stand for; None if they are no grid."""
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


def _mode(node: onnx.NodeProto) -> str:
    return next((row.s.decode() for row in node.attribute if row.name == "mode"), "constant")


def _fits(pad: onnx.NodeProto, fill: str, graph: FlatGraph) -> bool:
    """Whether a Pad of positions only repeats positions, or writes -1, the position of the fill."""
    if _mode(pad) != "constant":
        return True
    array = graph.known(pad.input[2]) if len(pad.input) > 2 else None
    return bool(fill) and array is not None and array.size == 1 and array.item() == -1
