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
from padops.convert.standard.arithmetic import ints, is_number, scalar
from padops.convert.standard.graph_builder import GraphBuilder
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

    factor: Operand
    offset: Operand
    mirror: Operand
    slack: Operand

    def period(self, builder: GraphBuilder, size: Operand) -> Operand:
        """At least 1: nothing may be divided by 0, not even where no position will be asked for."""
        return builder.maximum(builder.add(builder.mul(size, self.factor), self.offset), scalar(1))

    def _mirrored(self, builder: GraphBuilder, positions: Operand) -> Operand:
        """Puts positions in front of the window to what they mirror; tract's Mod of what a shape gives may be negative."""
        if not isinstance(self.mirror, np.ndarray) or is_number(self.mirror, FAR):
            return positions  # of a wrap, Gather takes the negative ones too
        return builder.maximum(positions, builder.sub(self.mirror, positions))  # OpenCV's Abs has no int64

    def within(self, builder: GraphBuilder, positions: Operand, size: Operand) -> Operand:
        """The positions of the window's elements, 0 to ``size`` - 1, that ``positions`` show.

        Args:
            builder: Writes the nodes.
            positions: Any, in front of the window and behind it as well.
            size: Of the window, at least 1.
        """
        if not is_number(self.slack, FAR):
            last = builder.add(builder.sub(size, scalar(1)), self.slack)
            positions = builder.maximum(builder.minimum(positions, last), builder.negative(self.slack))
        if is_number(self.slack, 0):
            return positions
        period = self.period(builder, size)
        if not builder.has_pad:
            positions = self._mirrored(builder, positions)
        remains = builder.mod(positions, period)
        if is_number(self.mirror, FAR):
            return remains
        return builder.minimum(remains, builder.sub(builder.add(period, self.mirror), remains))


def look_up(builder: GraphBuilder, modes: Sequence[Mode], choice: Operand) -> Extension:
    """The numbers of the mode that ``choice`` points at.

    Args:
        builder: Writes the nodes.
        modes: To choose from.
        choice: Which of them, rank 0.
    """
    return Extension(*(select(builder, column, choice) for column in zip(*(_EXTENSIONS[mode] for mode in modes))))


def select(builder: GraphBuilder, numbers: Sequence[int], choice: Operand) -> Operand:
    """One of the numbers, of rank 0; known where they are all the same.

    Args:
        builder: Writes the nodes.
        numbers: One for each choice.
        choice: Which of them, rank 0.
    """
    if len(set(numbers)) == 1:
        return scalar(numbers[0])
    return builder.gather(ints(*numbers), choice)


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

    size: Operand
    output: Operand
    shift: Operand
    start: Operand | None
    window: Operand

    @staticmethod
    def of(builder: GraphBuilder, op: Op, size: Operand, amounts: Amounts) -> Extents:
        """The extents of axes that are extended, and not filled (P1, P3).

        Args:
            builder: Writes the nodes.
            op: The operator.
            size: Of the data, a vector.
            amounts: Of every axis, each a vector.
        """
        output = builder.add(builder.add(amounts.begin, size), amounts.end)
        if op.clamp:
            output = builder.maximum(output, scalar(0))
        if op.crop is Crop.FULL:
            return Extents(size, output, amounts.begin, None, size)
        front, back = (builder.minimum(amount, scalar(0)) for amount in (amounts.begin, amounts.end))
        window = builder.add(builder.add(size, front), back)
        return Extents(size, output, builder.sub(amounts.begin, front), builder.negative(front), window)

    def checked_step(
        self, builder: GraphBuilder, op: Op, modes: Sequence[Mode], choice: Operand, amounts: Amounts
    ) -> Operand:
        """1, by a Gather that fails where a dim would be negative or there is nothing to extend from (P1, P4, P5).

        Args:
            builder: Writes the nodes.
            op: The operator.
            modes: To choose from.
            choice: Which of them, rank 0.
            amounts: Of every axis, each a vector.
        """
        lowest = builder.lowest(self.output, ints(1))  # of rank 0, the number alone
        short = builder.sub(self.window, select(builder, [int(mode is not Mode.CONSTANT) for mode in modes], choice))
        # An output without elements needs nothing to extend from.
        nothing = builder.minimum(builder.negative(builder.lowest(short, ints(0))), lowest)
        wrong = builder.maximum(builder.negative(lowest), nothing)
        if beyond := self._beyond(builder, op.limit, modes, choice, amounts):
            wrong = builder.maximum(wrong, builder.negative(builder.lowest(*beyond)))
        return builder.emit("Gather", [ints(1), wrong], role="P1_P4_P5")

    def _beyond(
        self, builder: GraphBuilder, limit: Limit, modes: Sequence[Mode], choice: Operand, amounts: Amounts
    ) -> list[Operand]:
        """Numbers that are negative where P4 is broken."""
        if limit is Limit.OPENVINO:
            more = {Mode.REFLECT: -1, Mode.SYMMETRIC: 0}
            reaches = [more.get(mode, FAR) for mode in modes]
            if set(reaches) != {FAR}:
                most = builder.maximum(builder.add(self.size, select(builder, reaches, choice)), scalar(0))
                return [builder.sub(most, amount) for amount in (amounts.begin, amounts.end)] + [ints(0)]
        if limit is Limit.NGRAPH:
            least = {Mode.EDGE: 1, Mode.REFLECT: 2}
            return [builder.sub(self.size, select(builder, [least.get(mode, 0) for mode in modes], choice)), ints(0)]
        return []


def filled(builder: GraphBuilder, amounts: AxisPlan) -> Operand:
    """The position of the source that each of the output shows in mode constant; the fill stands behind the last (P6).

    They are listed up to ``MAX_LISTED``, and computed in a run beyond.

    Args:
        builder: Writes the nodes.
        amounts: Of an axis of known size.
    """
    positions = builder.range(scalar(0), scalar(amounts.output), scalar(1))
    positions, steps = builder.sub(positions, scalar(amounts.begin)), scalar(amounts.interior + 1)
    gap = builder.mod(positions, steps)
    shown = builder.div(builder.sub(positions, gap), steps)
    inside = builder.both(builder.less(scalar(-1), shown), builder.less(shown, scalar(amounts.extent)))
    inside = builder.both(inside, builder.less(gap, scalar(1)))
    return builder.where(inside, builder.add(shown, scalar(amounts.start)), scalar(amounts.size))
