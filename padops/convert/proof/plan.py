"""The rules of Pad for the proofs, written independently from docs/semantics.md, without code of what they check.

Each formula stands once, for Python integers, NumPy arrays of positions and a solver's integers; :class:`Numbers`
supplies the operations that differ. ``tests/convert/proof/`` compares the formulas with ``padops/spec/plan.py`` on
random amounts of every mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Number = Any  # int, np.ndarray of int64, or z3.ArithRef
Truth = Any  # bool, np.ndarray of bool, or z3.BoolRef

MOST = 2**59 - 1  # P10: the largest dim and amount
MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


class Numbers:
    """The operations that differ between kinds of numbers: here, those of Python integers and NumPy arrays of them."""

    def where(self, condition: Truth, yes: Number, no: Number) -> Number:
        """``yes`` where the condition holds, else ``no``."""
        return np.where(condition, yes, no) if isinstance(condition, np.ndarray) else (yes if condition else no)

    def all(self, *conditions: Truth) -> Truth:
        """Whether all conditions hold."""
        return np.logical_and.reduce(np.broadcast_arrays(*conditions)) if conditions else True

    def any(self, *conditions: Truth) -> Truth:
        """Whether one of the conditions holds."""
        return np.logical_or.reduce(np.broadcast_arrays(*conditions)) if conditions else False

    def mod(self, number: Number, period: Number) -> Number:
        """The remainder, from 0 to ``period`` - 1; ``period`` is positive."""
        return number % period

    def div(self, number: Number, divisor: Number) -> Number:
        """The quotient, rounded down; ``divisor`` is positive."""
        return number // divisor


PLAIN = Numbers()


class Rules(NamedTuple):
    """The rules in which dialects differ."""

    crop: bool = False  # whether negative amounts crop before the rest is extended (P3 CROP), rather than after (FULL)
    limit: str = ""  # the limits (P4): ``""`` for none, ``"openvino"`` or ``"ngraph"``
    clamp: bool = False  # whether a negative dim becomes 0 instead of an error (P1)


ONNX = Rules(crop=True)
OPENVINO_1, OPENVINO_12 = Rules(limit="openvino"), Rules(limit="openvino", clamp=True)
NGRAPH = Rules(limit="ngraph")
SAME = Rules()


class Axis(NamedTuple):
    """One axis of a Pad: its size; the elements added before, behind and between (negative: removed)."""

    size: Number
    begin: Number
    end: Number
    interior: int = 0


def same_axis(size: Number, kernel: int, stride: int, dilation: int, auto_pad: str, of: Numbers) -> Axis:
    """The amounts of SAME padding on one spatial axis (S1); ``auto_pad`` is SAME_UPPER, SAME_LOWER or VALID."""
    if auto_pad == "VALID":
        return Axis(size, 0, 0)
    windows = of.div(size + stride - 1, stride)
    total = (windows - 1) * stride + (kernel - 1) * dilation + 1 - size
    total = of.where(total < 0, 0, total)
    half = of.div(total, 2)
    return Axis(size, total - half, half) if auto_pad == "SAME_LOWER" else Axis(size, half, total - half)


def output(axis: Axis, rules: Rules, of: Numbers) -> Number:
    """The size of the padded axis (P1)."""
    dilated = axis.size
    if axis.interior:
        dilated = of.where(axis.size == 0, 0, (axis.size - 1) * (axis.interior + 1) + 1)
    total = axis.begin + dilated + axis.end
    return of.where(total < 0, 0, total) if rules.clamp else total


def window(axis: Axis, mode: str, rules: Rules, of: Numbers) -> tuple[Number, Number]:
    """The first element to extend from, and their number (P3)."""
    if not rules.crop or mode == "constant":
        return 0, axis.size
    front, back = (of.where(amount < 0, -amount, 0) for amount in (axis.begin, axis.end))
    return front, axis.size - front - back


def source(axis: Axis, mode: str, rules: Rules, position: Number, of: Numbers) -> tuple[Truth, Number]:
    """Whether an output position shows an element of the source, and which one (P2, P6)."""
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
        last = 2 * (extent - 1) if mode == "reflect" else 2 * extent - 1  # the sum of a position and its image
        period = last if mode == "reflect" else last + 1
        offset = of.mod(offset, of.where(period < 1, 1, period))
        offset = of.where(last - offset < offset, last - offset, offset)
    return True, start + offset


def conditions(axes: Sequence[Axis], mode: str, rules: Rules, of: Numbers) -> list[tuple[str, Truth]]:
    """The conditions for a Pad to run, each with its rule's label; of P10, only those of single axes."""
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
    """The source position that each output position shows, int64; -1 is the fill. ``axis`` has plain integers."""
    at = np.arange(output(axis, rules, PLAIN), dtype=np.int64)
    if not at.size:
        return at  # P5: an empty output may have nothing to extend from
    inside, shown = source(axis, mode, rules, at, PLAIN)
    return np.asarray(np.where(inside, shown, -1), np.int64)
