"""What a Pad is, written anew from docs/semantics.md, for the proofs alone: no text is shared with what they check.

Each formula stands here once, for plain integers, for NumPy's arrays of positions and for a solver's integers: the
caller says how such numbers are chosen between, divided and combined (:class:`Numbers`). ``tests/convert/proof/``
compares the formulas with ``padops/spec/plan.py`` on drawn amounts of every mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

Number = Any  # int, np.ndarray of int64, or z3.ArithRef
Truth = Any  # bool, np.ndarray of bool, or z3.BoolRef

MOST = 2**59 - 1  # P10: elements of an axis, and the greatest amount
MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


class Numbers(Protocol):
    """What the operators of Python do not say for every kind of number."""

    def where(self, condition: Truth, yes: Number, no: Number) -> Number:
        """One of two numbers."""

    def all(self, *conditions: Truth) -> Truth:
        """Whether all conditions hold."""

    def any(self, *conditions: Truth) -> Truth:
        """Whether one of the conditions holds."""

    def mod(self, number: Number, period: Number) -> Number:
        """What remains, from 0 to ``period`` - 1; ``period`` is positive."""

    def div(self, number: Number, divisor: Number) -> Number:
        """The quotient, rounded down; ``divisor`` is positive."""


class Plain:
    """Python's integers, and NumPy's arrays of them."""

    def where(self, condition: Truth, yes: Number, no: Number) -> Number:
        """One of two numbers, element by element."""
        return np.where(condition, yes, no) if isinstance(condition, np.ndarray) else (yes if condition else no)

    def all(self, *conditions: Truth) -> Truth:
        """Whether all conditions hold, element by element."""
        return np.logical_and.reduce(np.broadcast_arrays(*conditions)) if conditions else True

    def any(self, *conditions: Truth) -> Truth:
        """Whether one of the conditions holds, element by element."""
        return np.logical_or.reduce(np.broadcast_arrays(*conditions)) if conditions else False

    def mod(self, number: Number, period: Number) -> Number:
        """What remains, of no sign."""
        return number % period

    def div(self, number: Number, divisor: Number) -> Number:
        """The quotient, rounded down."""
        return number // divisor


class Rules(NamedTuple):
    """What the dialects answer differently.

    Attributes:
        crop: Whether an axis is cut before what is left is extended (P3 CROP), rather than after (FULL).
        limit: Whose limits hold (P4): ``""`` for none, ``"openvino"`` or ``"ngraph"``.
        clamp: Whether a dim that would be negative is 0, and no error (P1).
    """

    crop: bool = False
    limit: str = ""
    clamp: bool = False


ONNX = Rules(crop=True)
OPENVINO_1, OPENVINO_12 = Rules(limit="openvino"), Rules(limit="openvino", clamp=True)
NGRAPH = Rules(limit="ngraph")
SAME = Rules()


class Axis(NamedTuple):
    """One axis of a Pad: its size, and what is added (or, if negative, taken away) before, behind and in between."""

    size: Number
    begin: Number
    end: Number
    interior: int = 0


def same_axis(size: Number, kernel: int, stride: int, dilation: int, auto_pad: str, of: Numbers) -> Axis:
    """The amounts of SAME padding on one spatial axis (S1)."""
    if auto_pad == "VALID":
        return Axis(size, 0, 0)
    windows = of.div(size + stride - 1, stride)
    total = (windows - 1) * stride + (kernel - 1) * dilation + 1 - size
    total = of.where(total < 0, 0, total)
    half = of.div(total, 2)
    return Axis(size, total - half, half) if auto_pad == "SAME_LOWER" else Axis(size, half, total - half)


def output(axis: Axis, rules: Rules, of: Numbers) -> Number:
    """Elements of the padded axis (P1)."""
    dilated = axis.size
    if axis.interior:
        dilated = of.where(axis.size == 0, 0, (axis.size - 1) * (axis.interior + 1) + 1)
    total = axis.begin + dilated + axis.end
    return of.where(total < 0, 0, total) if rules.clamp else total


def window(axis: Axis, mode: str, rules: Rules, of: Numbers) -> tuple[Number, Number]:
    """The first element to extend from, and how many there are (P3)."""
    if not rules.crop or mode == "constant":
        return 0, axis.size
    front, back = (of.where(amount < 0, -amount, 0) for amount in (axis.begin, axis.end))
    return front, axis.size - front - back


def source(axis: Axis, mode: str, rules: Rules, position: Number, of: Numbers) -> tuple[Truth, Number]:
    """Whether a position of the padded axis shows an element of the source, and which one (P2, P6)."""
    start, extent = window(axis, mode, rules, of)
    offset = position - axis.begin - start
    if mode == "constant":
        gap: Number = 0
        if axis.interior:
            gap = of.mod(offset, axis.interior + 1)
            offset = of.div(offset - gap, axis.interior + 1)
        return of.all(gap == 0, offset >= 0, offset < axis.size), offset
    if mode == "edge":
        offset = of.where(offset < 0, 0, of.where(offset >= extent, extent - 1, offset))
    elif mode == "wrap":
        offset = of.mod(offset, extent)
    else:
        last = 2 * (extent - 1) if mode == "reflect" else 2 * extent - 1  # what a position and its image add up to
        period = last if mode == "reflect" else last + 1
        offset = of.mod(offset, of.where(period < 1, 1, period))
        offset = of.where(last - offset < offset, last - offset, offset)
    return True, start + offset


def conditions(axes: Sequence[Axis], mode: str, rules: Rules, of: Numbers) -> list[tuple[str, Truth]]:
    """What must hold for a Pad to run, each with the label of its rule; of P10, what speaks of one axis alone."""
    sizes = [output(axis, rules, of) for axis in axes]
    empty = of.any(*(size == 0 for size in sizes))
    found: list[tuple[str, Truth]] = []
    for axis, size in zip(axes, sizes):
        found.append(("P1", size >= 0))
        found.append(("P6", axis.interior >= 0 and (axis.interior == 0 or mode == "constant")))
        within = [of.all(amount >= -MOST, amount <= MOST) for amount in (axis.begin, axis.end)]
        dilated = size if rules.clamp else size - axis.begin - axis.end
        found.append(("P10", of.all(*within, size <= MOST, dilated <= MOST)))
        if mode == "constant":
            continue
        if rules.limit == "openvino" and mode in ("reflect", "symmetric"):
            most = axis.size - 1 if mode == "reflect" else axis.size
            most = of.where(most < 0, 0, most)
            found.append(("P4", of.all(axis.begin <= most, axis.end <= most)))
        if rules.limit == "ngraph" and mode in ("edge", "reflect"):
            found.append(("P4", axis.size >= (1 if mode == "edge" else 2)))
        found.append(("P5", of.any(empty, window(axis, mode, rules, of)[1] >= 1)))
    return found


def positions(axis: Axis, mode: str, rules: Rules) -> np.ndarray:
    """The position of the source that each position of a padded axis of known size shows, int64, -1 for the fill."""
    at = np.arange(output(axis, rules, Plain()), dtype=np.int64)
    if not at.size:
        return at  # P5: there may be nothing to extend from, then
    inside, shown = source(axis, mode, rules, at, Plain())
    return np.asarray(np.where(inside, shown, -1), np.int64)
