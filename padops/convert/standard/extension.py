"""P2 and P3 in arithmetic: from positions of the output to positions of the source, for all modes by one formula.

A mode is four numbers. With n elements and the positions o seen from the first of them: o is clamped to
[-slack, n - 1 + slack], taken modulo a period of ``factor * n + offset``, and of what remains, m, and its mirror image,
period + mirror - m, the lesser is shown. Where the mode is not known before it runs, its numbers are looked up.

Amounts that break P1, P4 or P5 make a Gather called ``P1_P4_P5`` fail, since its index is out of bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from padops.convert.pads.operands import Operand
from padops.convert.standard.amounts import Amounts
from padops.convert.standard.graph_builder import here
from padops.convert.standard.numbers import Number, Numbers, arange, emit, ints, is_number, lowest, scalar, take
from padops.spec.dialects import Op
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
    """What there is of each axis: vectors of the axes.

    Attributes:
        size: Elements of the source.
        output: Elements of the output.
        shift: Output position of the first element to extend from.
        start: Source position of the same; None where it is 0.
        window: Elements to extend from.
    """

    size: Numbers
    output: Numbers
    shift: Numbers
    start: Numbers | None
    window: Numbers

    @staticmethod
    def of(op: Op, size: Numbers, amounts: Amounts) -> Extents:
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

    def checked_step(self, op: Op, modes: Sequence[Mode], choice: Numbers, amounts: Amounts) -> Number:
        """1, by a Gather that fails where a dim would be negative or there is nothing to extend from (P1, P4, P5)."""
        least = lowest(self.output, ints(1))  # of rank 0, the number alone
        short = self.window - select([int(mode is not Mode.CONSTANT) for mode in modes], choice)
        # An output without elements needs nothing to extend from.
        nothing = np.minimum(-lowest(short, ints(0)), least)
        wrong = np.maximum(-least, nothing)
        if beyond := self._beyond(op.limit, modes, choice, amounts):
            wrong = np.maximum(wrong, -lowest(*beyond))
        return emit("Gather", [ints(1), wrong], role="P1_P4_P5")

    def _beyond(self, limit: Limit, modes: Sequence[Mode], choice: Numbers, amounts: Amounts) -> list[Numbers]:
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
