"""Maps from output positions to source positions, for nodes that only move data and for chains of such nodes.

The nodes that emulate a Pad only copy. So along the padded axis each node is a map from its own positions to positions
of the data, and the maps of successive nodes compose to one map. ``find_pad`` finds the Pad of one axis that equals a
map, for every size that the axis may have:

- **The size is known.** ``find_pad`` writes the map out and compares it with the Pad's map (P2), position by position.
- **The size is unknown.** If all bounds of a map are within ``reach`` of either end, then from size 2 reach on, one
  more element only adds one element to the map's middle, and to the middle of the Pad's map. So two sizes beyond 2
  reach decide all longer sizes. Every shorter size, including 0, is compared separately. Sizes for which the nodes fail
  need no comparison: Expand refuses an axis without an edge, as Pad does.
- **Some sizes are too short.** There a Slice returns fewer elements, while a Pad repeats elements or refuses. So
  circular and mirrored data of any size are Pads with amounts of at most n and n - 1, and are compared in the same way.

Only nodes that keep every other axis count: a Slice of two axes ends the chain. If an Expand, a Tile or a block of fill
changes another axis, Concat refuses the result, because its other inputs have the dims of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, Scope, attribute_value, constant
from padops.convert.model.types import Types, evaluate
from padops.spec.plan import AxisPlan, Mode, source_index

FILL = -1  # in a map: a position that shows no data
LONGEST = 1 << 20  # the most elements of an axis for which maps are written out
UNBOUNDED = 1 << 59  # longer than any axis (P10): as a bound of a Slice, the end of the axis
MOST_SIZES = 128  # the largest reach for which all sizes are compared


class Fails(Exception):
    """The nodes fail for this size, or make far more elements than a Pad."""


@dataclass(frozen=True)
class Map:
    """A map along one axis."""

    # The position of the data that each element shows, or ``FILL``, for data of a size; raises ``Fails``.
    positions: Callable[[int], np.ndarray]
    # The distance from either end of the data within which all bounds lie; None without such a distance. A bound of
    # Slice counts from one end or the other. So from size 2 reach on, no bound is clamped and no two bounds cross.
    reach: int | None

    def then(self, show: Callable[[np.ndarray], np.ndarray], more: int | None = 0) -> Map:
        """Apply a node to the elements; the node's bounds add ``more`` to the reach (None: no reach)."""
        reach = None if self.reach is None or more is None else self.reach + more
        return Map(lambda size: show(self.positions(size)), reach)


DATA = Map(np.arange, 0)


def filled(size: int) -> Map:
    return Map(lambda _: np.full(_checked(size), FILL), 0)


def joined(parts: Sequence[Map]) -> Map:
    known = [part.reach for part in parts if part.reach is not None]
    reach = sum(known) if len(known) == len(parts) else None
    return Map(lambda size: np.concatenate([part.positions(size) for part in parts]), reach)


def sliced(of: Map, start: int, end: int, step: int) -> Map:
    """Return a Slice of a map. A backward Slice begins at the first element or later in ONNX, unlike in Python."""
    reach = sum(abs(bound) for bound in (start, end) if abs(bound) < UNBOUNDED)
    return of.then(lambda inner: inner[max(start, -len(inner)) : end : step], reach if step in (1, -1) else None)


def taken(of: Map, indices: Sequence[int]) -> Map:

    def show(inner: np.ndarray) -> np.ndarray:
        try:
            return np.asarray(inner[np.array(indices, np.int64)])
        except IndexError:
            raise Fails from None

    return of.then(show, max(map(abs, indices), default=0) + 1)


def expanded(of: Map, size: int) -> Map:

    def show(inner: np.ndarray) -> np.ndarray:
        if len(inner) == 1:
            return np.repeat(inner, _checked(size))
        if _checked(size) not in (1, len(inner)):
            raise Fails
        return inner

    return of.then(show)


def tiled(of: Map, times: int) -> Map:

    def show(inner: np.ndarray) -> np.ndarray:
        _checked(len(inner) * times)
        return np.tile(inner, times)

    return of.then(show)


def _checked(size: int) -> int:
    if not 0 <= size <= LONGEST:
        raise Fails
    return size


# If several modes show the same elements, the first mode counts.
MODES = (Mode.WRAP, Mode.REFLECT, Mode.EDGE, Mode.SYMMETRIC)


@dataclass(frozen=True)
class AxisPad:
    """A Pad of one axis."""

    mode: Mode
    begin: int
    end: int
    # The largest size for which the nodes differ from the Pad; None without one.
    differs: int | None = None
    # With ``differs``: 0 or 1 if, for any size n, the nodes equal the Pad with amounts of at most n - spared; else
    # None.
    spared: int | None = None

    def of_size(self, size: int, spared: int) -> AxisPad:
        """Return the same Pad with amounts of at most ``size - spared``."""
        most = max(size - spared, 0)
        return AxisPad(self.mode, min(self.begin, most), min(self.end, most))


def find_pad(shown: Map, size: int | None) -> AxisPad | None:
    """Return the Pad with the same map for the axis's ``size``, or from some size on if ``size`` is None; else None."""
    probe = size
    if probe is None:
        if shown.reach is None or shown.reach > MOST_SIZES:
            return None
        probe = 4 * shown.reach + 8
    if probe > LONGEST:
        return None
    try:
        found = shown.positions(probe)
    except Fails:
        return None
    pad = next((pad for pad in _candidates(found, probe) if _is(pad, found, probe)), None)
    if pad is None or size is not None:
        return pad
    if not _is_or_fails(pad, shown, probe + 1):
        return None
    differs = next((fewer for fewer in range(probe - 1, -1, -1) if not _is_or_fails(pad, shown, fewer)), None)
    if differs is None:
        return pad
    sizes = range(probe + 2)
    spared = next((k for k in (0, 1) if all(_is_or_fails(pad.of_size(n, k), shown, n) for n in sizes)), None)
    return AxisPad(pad.mode, pad.begin, pad.end, differs, spared)


def _candidates(found: np.ndarray, size: int) -> Iterator[AxisPad]:
    """Yield the Pads whose data stand where the map first shows all data."""
    added = len(found) - size
    if size == 0 or added <= 0:
        return
    starts = np.flatnonzero(found[: added + 1] == 0)
    begin = next((int(i) for i in starts if (found[i : i + size] == np.arange(size)).all()), None)
    if begin is None:
        return
    modes = (Mode.CONSTANT,) if (found == FILL).any() else MODES
    yield from (AxisPad(mode, begin, added - begin) for mode in modes)


def _is(pad: AxisPad, found: np.ndarray, size: int) -> bool:
    """Return whether the Pad has the map ``found`` for one size."""
    if len(found) != pad.begin + size + pad.end or (found[pad.begin : pad.begin + size] != np.arange(size)).any():
        return False
    if pad.mode is not Mode.CONSTANT and size == 0 < len(found):
        return False  # P5
    if pad.mode is Mode.SYMMETRIC and max(pad.begin, pad.end) > size:
        return False  # P4: OpenVINOPad_12 has this mode
    plan = AxisPlan(size, 0, size, pad.begin, 0, len(found))
    added = (*range(pad.begin), *range(pad.begin + size, len(found)))
    wanted = (source_index(plan, pad.mode, position) for position in added)
    return all(found[position] == (FILL if source is None else source) for position, source in zip(added, wanted))


def _is_or_fails(pad: AxisPad, shown: Map, size: int) -> bool:
    try:
        return _is(pad, shown.positions(size), size)
    except Fails:
        return True


# The operators of a step from a value to its source. (A Gather precedes an Unsqueeze.)
COPIES = ("Identity", "Slice", "Gather", "Unsqueeze", "Expand", "Tile")
INT_MAX = (2**31 - 1, 2**63 - 1)  # as the end of a Slice: the end of the data
LARGEST_FILL = 1 << 22  # the most elements of a block of fill that are compared


@dataclass(frozen=True)
class Step:
    """One node, or a Gather and its Unsqueeze, between a value and its source."""

    value: ir.Value
    nodes: tuple[ir.Node, ...]
    wrap: Callable[[Map], Map]  # turns the source's map into the value's map
    keeps: bool = True  # whether the nodes keep every other axis for any inputs
    rank: int = 0  # the least rank of the result


@dataclass(frozen=True)
class Block:
    """A value whose elements are all the same."""

    map: Map  # its length along the axis
    element: np.ndarray  # one of its elements, of rank 0
    # The dims of a constant; None for a computed block, whose other dims follow from the data.
    dims: Sequence[int] | None
    nodes: tuple[ir.Node, ...]


@dataclass(frozen=True)
class Reader:
    """Reads the nodes of one graph along one axis."""

    site: NodeSite  # a node of the graph
    types: Types
    axis: int  # not negative if the rank is known; else as the nodes write it
    rank: int | None  # the rank of the data; None if unknown

    def step(self, value: ir.Value) -> Step | None:
        """Return the step from a value to its source; None if the value is no copy along the axis."""
        node = value.producer()
        if node is None or node.domain != "" or node.graph is not self.site.node.graph or not node.inputs:
            return None
        readers: dict[str, Callable[[ir.Node, ir.Value], Step | None]] = {
            "Identity": lambda node, data: Step(data, (node,), lambda of: of),
            "Slice": self._slice,
            "Gather": self._gather,
            "Unsqueeze": self._unsqueeze,
            "Expand": partial(self._repeated, expanded),
            "Tile": partial(self._repeated, tiled),
        }
        data = node.inputs[0]
        return None if data is None or node.op_type not in readers else readers[node.op_type](node, data)

    def block(self, value: ir.Value) -> Block | None:
        node = value.producer()
        if node is None or (node.domain, node.op_type) == ("", "Constant"):
            return self._constant_block(value)
        if node.domain != "" or node.graph is not self.site.node.graph:
            return None
        element = None
        if node.op_type == "ConstantOfShape":
            element, shape = _fill_of(node), node.inputs[0]
        elif node.op_type == "Expand" and len(node.inputs) == 2:
            element, shape = constant(node.inputs[0], self.scope), node.inputs[1]
        size = None if element is None or element.size != 1 else self._entry(self._parts(shape))
        if element is None or size is None or size >= LONGEST:
            return None
        return Block(filled(size), element.reshape(()), None, (node,))

    @property
    def scope(self) -> Scope:
        return self.site.scope

    def same_axis(self, axis: int) -> bool | None:
        """Return whether an axis is the reader's; None if unknown."""
        if self.rank is not None:
            return -self.rank <= axis < self.rank and axis % self.rank == self.axis
        return axis == self.axis if (axis < 0) == (self.axis < 0) else None

    def _slice(self, node: ir.Node, data: ir.Value) -> Step | None:
        starts, ends, axes, steps = (self._integers(node, i) for i in range(1, 5))
        axes = list(range(len(starts or ()))) if _input(node, 3) is None else axes
        steps = [1] * len(starts or ()) if _input(node, 4) is None else steps
        if starts is None or ends is None or axes is None or steps is None or 0 in steps:
            return None
        if not len(starts) == len(ends) == len(axes) == len(steps):
            return None
        mine = None
        for axis, row in zip(axes, zip(starts, ends, steps)):
            same = self.same_axis(axis)
            if same is None or (same and mine is not None):
                return None
            if same:
                mine = row
            elif row[0] != 0 or (row[1] < UNBOUNDED and row[1] not in INT_MAX) or row[2] != 1:
                return None  # a part of another axis
        start, end, step = mine or (0, UNBOUNDED, 1)
        if end in INT_MAX:
            if step < 0:
                return None  # in ONNX the slice is empty; ONNX Runtime reads all up to the first element
            end = UNBOUNDED
        return Step(data, (node,), lambda of: sliced(of, start, end, step))

    def _taken(self, node: ir.Node, rank: int) -> list[int] | None:
        """Return the constant indices of a Gather along the axis; ``rank`` is the rank of the indices."""
        indices = evaluate(_input(node, 1), self.scope, self.types)
        if indices is None or indices.dtype.kind not in "iu" or indices.ndim != rank:
            return None
        return indices.reshape(-1).tolist() if self.same_axis(_int(node, "axis", 0)) else None

    def _gather(self, node: ir.Node, data: ir.Value) -> Step | None:
        indices = self._taken(node, 1)
        return None if indices is None else Step(data, (node,), lambda of: taken(of, indices))

    def _unsqueeze(self, node: ir.Node, data: ir.Value) -> Step | None:
        """Return the step of Gather and Unsqueeze, which select one element of an axis: ``x[..., 0].unsqueeze(-1)``."""
        axes = self._integers(node, 1)
        if "axes" in node.attributes:
            axes = attribute_value(node, "axes", ir.AttributeType.INTS)
        before = data.producer()
        if axes is None or len(axes) != 1 or not self.same_axis(axes[0]) or before is None:
            return None
        if (before.domain, before.op_type) != ("", "Gather") or before.graph is not node.graph:
            return None
        indices, source = self._taken(before, 0), before.inputs[0]
        if indices is None or source is None:
            return None
        return Step(source, (before, node), lambda of: taken(of, indices))

    def _repeated(self, made: Callable[[Map, int], Map], node: ir.Node, data: ir.Value) -> Step | None:
        """Return the step of an Expand or a Tile, whose second input has a number for each axis."""
        numbers = self._parts(node.inputs[1]) if len(node.inputs) == 2 else None
        count = self._entry(numbers)
        if numbers is None or count is None:
            return None
        return Step(data, (node,), lambda of: made(of, count), keeps=False, rank=len(numbers))

    def _entry(self, parts: list[int | None] | None) -> int | None:
        """Return the axis's entry in a vector with one number per axis; 1 if the vector is too short."""
        if parts is None or (self.rank is None and self.axis >= 0):
            return None  # such vectors are aligned to the last axis
        position = self.axis if self.rank is None else self.axis - self.rank
        return parts[position] if -position <= len(parts) else 1

    def _parts(self, shape: ir.Value | None, joined: bool = True) -> list[int | None] | None:
        """Return the elements of a vector, with None for each unknown element; None if their number is unknown."""
        array = evaluate(shape, self.scope, self.types)
        if array is not None:
            return array.tolist() if array.ndim == 1 and array.dtype.kind in "iu" else None
        node = None if shape is None else shape.producer()
        if joined and node is not None and (node.domain, node.op_type) == ("", "Concat"):
            parts = [self._parts(value, joined=False) for value in node.inputs]
            known = [part for part in parts if part is not None]
            return [entry for part in known for entry in part] if len(known) == len(parts) else None
        dims = self.types.shape(shape)
        return [None] * dims[0] if dims is not None and len(dims) == 1 and dims[0] is not None else None

    def _constant_block(self, value: ir.Value) -> Block | None:
        array = constant(value, self.scope, LARGEST_FILL)
        if array is None or array.size == 0 or array.ndim == 0:
            return None
        if self.rank is not None and array.ndim != self.rank or not -array.ndim <= self.axis < array.ndim:
            return None
        flat = array.reshape(-1)
        content = flat if flat.dtype.kind == "O" else np.ascontiguousarray(flat).view(np.uint8).reshape(flat.size, -1)
        if not (content == content[0]).all():
            return None
        return Block(filled(array.shape[self.axis]), flat[0:1].reshape(()), array.shape, ())

    def _integers(self, node: ir.Node, i: int) -> list[int] | None:
        array = evaluate(_input(node, i), self.scope, self.types)
        return array.reshape(-1).tolist() if array is not None and array.dtype.kind in "iu" else None


def _input(node: ir.Node, i: int) -> ir.Value | None:
    return node.inputs[i] if len(node.inputs) > i else None


def _fill_of(node: ir.Node) -> np.ndarray | None:
    if "value" not in node.attributes:
        return np.zeros(1, np.float32)
    tensor = attribute_value(node, "value", ir.AttributeType.TENSOR)
    return None if tensor is None else tensor.numpy()


def _int(node: ir.Node, name: str, default: int) -> int:
    """Return an integer attribute or its default; UNBOUNDED, which is no axis, if a function's caller sets it."""
    if name not in node.attributes:
        return default
    value = attribute_value(node, name, ir.AttributeType.INT)
    return UNBOUNDED if value is None else value
