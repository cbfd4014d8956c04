"""The amounts of every axis, in every dialect (P8, S1), and P2 and P3 in arithmetic, for all modes by one formula.

Amounts that are known are arrays; others are computed. They lead from positions of the output to positions of the
source.

A mode is four numbers. With n elements and the positions o seen from the first of them: o is clamped to
[-slack, n - 1 + slack], taken modulo a period of ``factor * n + offset``, and of what remains, m, and its mirror image,
period + mirror - m, the lesser is shown. Where the mode is not known before it runs, its numbers are looked up.

Amounts that break P1, P4 or P5 make a Gather called ``P1_P4_P5`` fail, since its index is out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.standard.graph_builder import here
from padops.convert.standard.numbers import (
    Number,
    Numbers,
    arange,
    cut,
    emit,
    ints,
    is_number,
    lowest,
    reshape,
    scalar,
    take,
    to_int64,
)
from padops.convert.standard.pad_values import Lacking, choice_of, rank_of, shape_of, vector_of
from padops.spec.dialects import Op
from padops.spec.dialects.same_pad import AUTO_PADS, DATA_FORMATS
from padops.spec.plan import AxisPlan, Crop, Limit, Mode

FAR = 2**60  # beyond any position; sums of a few such numbers are still int64

#                 factor, offset, mirror, slack
_EXTENSIONS = {
    Mode.CONSTANT: (1, 0, FAR, 0),  # only of data of rank 0, where no position is ever asked for
    Mode.EDGE: (1, 0, FAR, 0),
    Mode.REFLECT: (2, -2, 0, FAR),
    Mode.SYMMETRIC: (2, 0, -1, FAR),
    Mode.WRAP: (1, 0, FAR, FAR),
}


@dataclass(frozen=True)
class AxisAmounts:
    """Elements added, or if negative taken away, on each axis: vectors as long as the rank."""

    begin: Numbers
    end: Numbers
    interior: Numbers | None = None

    def map(self, change: Callable[[Numbers], Numbers]) -> AxisAmounts:
        """The same, each vector changed."""
        interior = None if self.interior is None else change(self.interior)
        return AxisAmounts(change(self.begin), change(self.end), interior)


def amounts_of(pad: PadInfo) -> AxisAmounts:
    """The amounts of every axis.

    Raises:
        Unconvertible: The opset has no way to compute them.
    """
    if pad.op.input_index("pads_begin") is not None:
        lists = (to_int64(_required(pad, name)) for name in ("pads_begin", "pads_end"))
        return AxisAmounts(*(_one_per_axis(pad, numbers) for numbers in lists))
    if pad.has_attribute("padding_below"):
        names = ("padding_below", "padding_above", "padding_interior")
        below, above, between = (vector_of(pad, name) for name in names)
        interior: Numbers | None = between
        if isinstance(between, Number):  # of calls that differ; an absent one is empty there, and stands for zeros
            rank = rank_of(pad)
            interior = cut(np.concatenate([between, _filled(0, rank)]), ints(0), rank)
        elif not between.any():
            interior = None
        begin, end = (_one_per_axis(pad, x) for x in (below, above))
        return AxisAmounts(begin, end, None if interior is None else _one_per_axis(pad, interior))
    return _same(pad) if pad.has_attribute("kernel_shape") else _pairs(pad)


def _required(pad: PadInfo, name: str) -> Operand:
    """A required input."""
    given = pad.input(name)
    assert given is not None, "a Pad without it is refused: see misfit"
    return given


def _one_per_axis(pad: PadInfo, numbers: Numbers) -> Numbers:
    """A list with a number for each axis; if it is longer or shorter, Reshape fails (P8)."""
    return reshape(numbers, rank_of(pad))


def pads_of(pad: PadInfo) -> Operand:
    """The begins, then the ends, of an ONNX Pad; if it has the input axes, of these axes."""
    name = next((row.name for row in pad.op.attributes if row.type == "ints"), None)
    return _required(pad, "pads") if name is None else vector_of(pad, name)


def _pairs(pad: PadInfo) -> AxisAmounts:
    """ONNX Pad."""
    if pad.some_axes:
        raise Lacking("axes", pad.op)
    pads, axes, rank = pads_of(pad), pad.input("axes"), rank_of(pad)
    count = rank if axes is None else _count(axes)
    # Reshape fails if there are not two amounts for each axis (P8).
    pairs = reshape(pads, np.concatenate([ints(2), count]) if here().opset >= 14 else ints(2, -1))
    begin, end = take(pairs, 0), take(pairs, 1)
    if here().opset < 14:  # a 0 in a shape stands for another dim, which the list of pads does not have
        begin, end = reshape(begin, count), reshape(end, count)
    if axes is None:
        return AxisAmounts(begin, end)
    return AxisAmounts(_spread(begin, axes, rank), _spread(end, axes, rank))


def _same(pad: PadInfo) -> AxisAmounts:
    """S1: the amounts of the spatial axes follow from the shape."""
    kernel = vector_of(pad, "kernel_shape")
    count = _count(kernel)
    ones = _filled(1, count)
    stride, dilation = (
        cut(np.concatenate([vector_of(pad, name), ones]), ints(0), count) for name in ("strides", "dilations")
    )
    behind = ints(*(0 if name.startswith("NC") else 1 for name in DATA_FORMATS))
    last = reshape(take(behind, choice_of(pad, "data_format", DATA_FORMATS)), ints(1))
    first = ints(2) - last
    size = cut(shape_of(pad), first, first + count)
    outputs = (size + stride - 1) // stride
    reach = (kernel - 1) * dilation + 1
    total = np.maximum((outputs - 1) * stride + reach - size, 0)
    small = total // 2
    large, none = total - small, small * ints(0)
    sides = {"SAME_UPPER": (small, large), "SAME_LOWER": (large, small), "VALID": (none, none)}
    chosen = choice_of(pad, "auto_pad", AUTO_PADS)
    front, back = _filled(0, first), _filled(0, last)
    begin, end = (_pick([sides[name][i] for name in AUTO_PADS], chosen) for i in (0, 1))
    return AxisAmounts(np.concatenate([front, begin, back]), np.concatenate([front, end, back]))


def _pick(vectors: Sequence[Numbers], choice: Numbers) -> Numbers:
    """One of some vectors of equal length."""
    if not isinstance(choice, Number):
        return vectors[int(choice)]
    rows = [np.expand_dims(vector, 0) for vector in vectors]
    return take(emit("Concat", rows, {"axis": 0}), choice)


def _count(vector: Operand) -> Numbers:
    """The number of elements of a vector, as a vector of one."""
    return emit("Shape", [vector]) if isinstance(vector, ir.Value) else ints(vector.size)


def _filled(number: int, count: Numbers) -> Numbers:
    """A vector of ``count`` equal numbers."""
    if isinstance(count, Number):
        return emit("ConstantOfShape", [count], {"value": ir.tensor(ints(number))})
    return np.full(count, number, np.int64)


def _spread(values: Numbers, axes: Operand, rank: Numbers) -> Numbers:
    """Numbers of the listed axes as numbers of every axis, 0 for the others."""
    if isinstance(axes, ir.Value) or isinstance(rank, Number):
        return emit("ScatterElements", [_filled(0, rank), axes, values], {"axis": 0})
    positions = np.full(rank, axes.size, np.int64)
    positions[axes.reshape(-1)] = np.arange(axes.size)
    return take(np.concatenate([values, ints(0)]), positions)


@dataclass(frozen=True)
class Extension:
    """The numbers of the mode, of rank 0."""

    factor: Numbers
    offset: Numbers
    mirror: Numbers
    slack: Numbers

    def within(self, positions: Numbers, size: Numbers) -> Numbers:
        """The elements, 0 to ``size`` - 1, that ``positions`` in and around a window of ``size`` show."""
        if not is_number(self.slack, FAR):
            positions = np.maximum(np.minimum(positions, size - 1 + self.slack), -self.slack)
        if is_number(self.slack, 0):
            return positions
        # At least 1: nothing may be divided by 0, not even where no position will be asked for.
        period = np.maximum(size * self.factor + self.offset, 1)
        if not here().has_pad and not isinstance(self.mirror, Number) and self.mirror != FAR:
            # tract's Mod of what a shape gives may be negative, and OpenCV's Abs has no int64; a wrap's Gather takes
            # these too
            positions = np.maximum(positions, self.mirror - positions)
        remains = positions % period
        return remains if is_number(self.mirror, FAR) else np.minimum(remains, period + self.mirror - remains)


def look_up(modes: Sequence[Mode], choice: Numbers) -> Extension:
    """The numbers of the mode at ``choice``, of rank 0."""
    return Extension(*(select(column, choice) for column in zip(*(_EXTENSIONS[mode] for mode in modes))))


def select(numbers: Sequence[int], choice: Numbers) -> Numbers:
    """The number at ``choice``, of rank 0; known where all are the same."""
    return scalar(numbers[0]) if len(set(numbers)) == 1 else take(ints(*numbers), choice)


@dataclass(frozen=True)
class Extents:
    """What there is of each axis: vectors of the axes."""

    size: Numbers  # elements of the source
    output: Numbers  # elements of the output
    shift: Numbers  # output position of the first element to extend from
    start: Numbers | None  # source position of the same; None where it is 0
    window: Numbers  # elements to extend from

    @staticmethod
    def of(op: Op, size: Numbers, amounts: AxisAmounts) -> Extents:
        """The extents of axes that are extended, and not filled (P1, P3)."""
        output = amounts.begin + size + amounts.end
        if op.clamp:
            output = np.maximum(output, 0)
        if op.crop is Crop.FULL:
            return Extents(size, output, amounts.begin, None, size)
        front, back = np.minimum(amounts.begin, 0), np.minimum(amounts.end, 0)
        window = size + front + back
        return Extents(size, output, amounts.begin - front, -front, window)

    def shown(self, extension: Extension, axis: Operand | int, count: Numbers, step: Numbers | int) -> Numbers:
        """The positions of the source that the first ``count`` of the output show on an axis (P2)."""
        positions = arange(count, step) - take(self.shift, axis)
        shown = extension.within(positions, take(self.window, axis))
        return shown if self.start is None else shown + take(self.start, axis)

    def checked_step(self, op: Op, modes: Sequence[Mode], choice: Numbers, amounts: AxisAmounts) -> Number:
        """1, by a Gather that fails where a dim would be negative or there is nothing to extend from (P1, P4, P5)."""
        least = lowest(self.output, ints(1))  # of rank 0, the number alone
        short = self.window - select([int(mode is not Mode.CONSTANT) for mode in modes], choice)
        # An output without elements needs nothing to extend from.
        nothing = np.minimum(-lowest(short, ints(0)), least)
        wrong = np.maximum(-least, nothing)
        if beyond := self._beyond(op.limit, modes, choice, amounts):
            wrong = np.maximum(wrong, -lowest(*beyond))
        return emit("Gather", [ints(1), wrong], role="P1_P4_P5")

    def _beyond(self, limit: Limit, modes: Sequence[Mode], choice: Numbers, amounts: AxisAmounts) -> list[Numbers]:
        """Numbers that are negative where P4 is broken."""
        if limit is Limit.OPENVINO:
            more = {Mode.REFLECT: -1, Mode.SYMMETRIC: 0}
            reaches = [more.get(mode, FAR) for mode in modes]
            if set(reaches) != {FAR}:
                most = np.maximum(self.size + select(reaches, choice), 0)
                return [most - amounts.begin, most - amounts.end, ints(0)]
        if limit is Limit.NGRAPH:
            least = {Mode.EDGE: 1, Mode.REFLECT: 2}
            return [self.size - select([least.get(mode, 0) for mode in modes], choice), ints(0)]
        return []


def filled(amounts: AxisPlan) -> Numbers:
    """The position of the source that each of the output shows in mode constant; the fill stands behind the last (P6).

    They are listed up to ``MAX_LISTED``, and computed in a run beyond.
    """
    positions, every = arange(amounts.output) - amounts.begin, amounts.interior + 1
    gap = positions % every
    shown = (positions - gap) // every
    inside = (shown > -1) & (shown < amounts.extent) & (gap < 1)
    return np.where(inside, shown + amounts.start, amounts.size)
