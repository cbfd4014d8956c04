"""Axes extended by Slice, Concat, Expand and Tile alone: what execution providers run on their devices.

No node of these computes a shape, and none reads indices, so that nothing runs on the processor and nothing is copied
between it and the device. A part is turned round by a Slice of its own, of all of it: WebGPU's (1.27.0) is wrong where
a Slice with a negative step begins elsewhere than at the last element. QNN's HTP (2.7.0) has no Gather.

An axis of any size n is extended by known amounts without a look at n. As many of its elements as the amount reaches
make one period of the extension, or are more than the amount needs; repeated often enough, for n = 1, the amount is cut
off it:

* wrap by b in front: the last b elements, or the n that there are; b times; the last b of that.
* reflect by b in front: the first b + 1, u; then those between its ends, turned round; b times; the last b of that.

Of an axis that turns out to be empty nothing is made, where Pad fails (P5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand
from padops.convert.standard.axes import Work
from padops.convert.standard.graph_builder import here
from padops.convert.standard.numbers import FIRST_SLICE_OF_INPUTS, emit, ints, part, too_old, with_axis
from padops.spec.dtypes import by_name
from padops.spec.plan import AxisPlan, Mode

# Where a Slice ends that goes as far as there are elements: forward, and backward.
TO_THE_END = 2**63 - 1
TO_THE_BEGIN = -TO_THE_END

FLOATS = ("float", "float16", "double")
SUMMED = (*FLOATS, "int32", "int64")  # types of ReduceSum in onnxruntime
TILED = 8  # how often a part is repeated at once, so that no more than that is thrown away


@dataclass(frozen=True)
class Axis:
    """One axis of a tensor of some rank, and what can be done along it."""

    number: int
    rank: int

    def part(self, value: ir.Value, start: int, stop: int = TO_THE_END) -> ir.Value:
        """Elements ``start`` to ``stop``, as Slice counts them: negative ones from the end, as many as there are."""
        return part(value, ints(start), ints(stop), ints(self.number))

    def turned(self, value: ir.Value) -> ir.Value:
        """All elements in the other order.

        Raises:
            Unconvertible: Slice of this opset has no steps.
        """
        if here().opset < FIRST_SLICE_OF_INPUTS:
            raise too_old("Slice with steps", FIRST_SLICE_OF_INPUTS)
        return emit("Slice", [value, ints(-1), ints(TO_THE_BEGIN), ints(self.number), ints(-1)])

    def joined(self, *parts: ir.Value) -> ir.Value:
        """Parts one after another."""
        return parts[0] if len(parts) == 1 else emit("Concat", parts, {"axis": self.number})

    def tiled(self, value: ir.Value, count: int) -> ir.Value:
        """A part ``count`` times.

        Raises:
            Unconvertible: The opset's Tile has another form.
        """
        if count == 1:
            return value
        if here().opset < 6:  # without counts for all axes
            raise too_old("Tile-6", 6)
        return emit("Tile", [value, self._only(count)])

    def spread(self, value: ir.Value, count: int) -> ir.Value:
        """A part of one element ``count`` times."""
        if count == 1:
            return value
        return emit("Expand", [value, self._only(count)])

    def _only(self, count: int) -> np.ndarray:
        return np.where(np.arange(self.rank) == self.number, count, 1)

    def cut(self, period: ir.Value, count: int, of_end: bool, reps: int) -> ir.Value:
        """The first (or last) ``count`` elements of a part that is repeated ``reps`` times, which is enough."""
        bounds = (-count, TO_THE_END) if of_end else (0, count)
        while reps > 1:
            period = self.part(self.tiled(period, min(reps, TILED)), *bounds)
            reps = -(-reps // TILED)
        return period


def extend(work: Work, axis: int, row: AxisPlan, mode: Mode) -> None:
    """Extends, or crops, one axis of known size whose output has elements, in any mode but constant."""
    along = Axis(axis, len(work.dims))
    first, behind = -row.begin, row.output - row.begin  # seen from the first element of the window
    if row.extent == 1:
        mode = Mode.EDGE
    pieces = _edges(row, first, behind) if mode is Mode.EDGE else _pieces(row, first, behind, mode)
    if pieces is None:
        parts = [_periods(along, work, row, first, mode)]
    else:
        parts = []
        for start, stop, way in pieces:
            (part,) = work.core(axis, row.start + start, row.start + stop)
            turned = way == TURNED and stop - start > 1
            parts.append(along.turned(part) if turned else along.spread(part, way) if way > 1 else part)
    work.replace_axis(axis, parts, ints(row.output))


TURNED = -1
# Elements of the window: the first, the one behind the last; TURNED, or how often the one is shown.
Piece = tuple[int, int, int]


def _edges(row: AxisPlan, first: int, behind: int) -> list[Piece]:
    """Mode edge: the first element, those between, the last."""
    if row.extent == 1:
        return [(0, 1, row.output)]
    last = row.extent - 1
    front, back = min(behind, 0) - first, behind - max(first, row.extent)
    pieces = [(0, 1, front)] if front > 0 else []
    pieces += [(max(first, 0), min(behind, row.extent), 1)] if max(first, 0) < min(behind, row.extent) else []
    return pieces + ([(last, last + 1, back)] if back > 0 else [])


def _pieces(row: AxisPlan, first: int, behind: int, mode: Mode) -> list[Piece] | None:
    """The other modes, as far as they show no element more than once on either side; else None."""
    size = row.extent
    # A position o in front of the window shows ``front - o`` or ``o + front``, and one behind it ``back - o`` or ``o -
    # back``.
    front, back = {Mode.REFLECT: (0, 2 * size - 2), Mode.SYMMETRIC: (-1, 2 * size - 1)}.get(mode, (size, size))
    sides = [(first, min(behind, 0), True), (max(first, size), behind, False)]
    made: list[list[Piece]] = []
    for start, stop, in_front in sides:
        if mode is Mode.WRAP:
            shown, way = (start + front, stop + front) if in_front else (start - back, stop - back), 1
        else:
            mirror = front if in_front else back
            shown, way = (mirror - stop + 1, mirror - start + 1), TURNED
        if start < stop and not 0 <= shown[0] < shown[1] <= size:
            return None
        made.append([(*shown, way)] if start < stop else [])
    core = (max(first, 0), min(behind, size), 1)
    return [*made[0], *([core] if core[0] < core[1] else []), *made[1]]


def _periods(along: Axis, work: Work, row: AxisPlan, first: int, mode: Mode) -> ir.Value:
    """The output of one axis as part of the repeated period."""
    (window,) = work.core(along.number, row.start, row.start + row.extent)
    size, period = row.extent, window
    if mode is Mode.SYMMETRIC:
        period, size = along.joined(window, along.turned(window)), 2 * size
    if mode is Mode.REFLECT and size > 2:
        inside = along.part(window, 1, size - 1)
        period, size = along.joined(window, along.turned(inside) if size > 3 else inside), 2 * size - 2
    start = first % size
    count = -(-(start + row.output) // size)
    tiled = along.tiled(period, count)
    return tiled if row.output == count * size else along.part(tiled, start, start + row.output)


def extend_any(work: Work, axis: int, begin: int, end: int, mode: Mode) -> None:
    """Extends one axis of any size by amounts of at least 0, in mode edge, reflect or wrap."""
    along = Axis(axis, len(work.dims))
    parts = [*_side(along, work.value, begin, mode, True), work.value, *_side(along, work.value, end, mode, False)]
    work.value = along.joined(*parts)  # nothing asks for its dims


def _side(along: Axis, value: ir.Value, count: int, mode: Mode, in_front: bool) -> list[ir.Value]:
    """What stands in front of an axis of any size, or behind it."""
    if not count:
        return []
    if mode is Mode.WRAP:
        near = along.part(value, -count) if in_front else along.part(value, 0, count)
        return [along.cut(near, count, in_front, count)]
    reach = 1 if mode is Mode.EDGE else count + 1
    near = along.part(value, 0, reach) if in_front else along.part(value, -reach)
    if mode is Mode.EDGE:
        return [along.spread(near, count)]
    if count == 1:  # the second element, or the only one
        return [along.part(near, -1) if in_front else along.part(near, 0, 1)]
    inside = along.turned(along.part(near, 1, -1))
    period = along.joined(near, inside) if in_front else along.joined(inside, near)
    return [along.cut(period, count, in_front, count)]


def fill_any(work: Work, axis: int, begin: int, end: int, with_what: Operand) -> None:
    """Puts fill around the elements of one axis of any size.

    A block of fill has the shape of one element of that axis, of which nothing but the shape is taken: of an axis
    without elements their sum, which has one. Both amounts are at least 0.

    Where the fill may be -0.0, the condition has the shape: no element is less than -inf. On the processor, ONNX
    Runtime's Where (1.20 to 1.32) makes +0.0 of a fill of -0.0 if only the other choice has several elements.
    """
    along = Axis(axis, len(work.dims))
    fill = with_what.reshape(1) if isinstance(with_what, np.ndarray) else with_what
    one = with_axis("ReduceSum", along.part(work.value, 0, 1), axis)
    may_be_negative_zero = isinstance(fill, ir.Value) or (fill.dtype.kind == "f" and fill == 0 and np.signbit(fill))
    kind = work.pad.type if may_be_negative_zero else None
    blocks: dict[int, ir.Value] = {}
    for count in sorted({begin, end} - {0}):
        dims = [count if i == axis else 1 for i in range(along.rank)]
        if kind in FLOATS:
            never = emit("Less", [one, np.full(dims, -np.inf, by_name(kind).numpy)])
            blocks[count] = emit("Where", [never, fill, fill], role="fill")
        else:
            blocks[count] = emit("Where", [np.zeros(dims, bool), one, fill], role="fill")
    work.value = along.joined(*([blocks[begin]] if begin else []), work.value, *([blocks[end]] if end else []))
