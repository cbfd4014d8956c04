"""The rules of Pad for the proofs, written independently from docs/semantics.md, without code of what they check.

Tests compare the formulas with ``padops/spec/plan.py`` on random amounts of every mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

MOST = 2**59 - 1  # P10: the largest dim and amount
MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


class Rules(NamedTuple):
    """The rules in which dialects differ."""

    crop: bool = False  # whether negative amounts crop before the rest is extended (P3 CROP), rather than after (FULL)
    limit: str = ""  # the limits (P4): ``""`` for none, ``"once"`` (reflects at most once) or ``"ngraph"``
    clamp: bool = False  # whether a negative dim becomes 0 instead of an error (P1)
    grows: bool = False  # whether negative amounts are an error


ONNX, SAME, NGRAPH = Rules(crop=True), Rules(), Rules(limit="ngraph")
ONCE, TENSORFLOW = Rules(limit="once"), Rules(limit="once", grows=True)
OPENVINO_1, OPENVINO_12 = ONCE, Rules(limit="once", clamp=True)


class Axis(NamedTuple):
    """One axis of a Pad: its size; the elements added before, behind and between (negative: removed)."""

    size: int
    begin: int
    end: int
    interior: int = 0


def same_axis(size: int, kernel: int, stride: int, dilation: int, auto_pad: str) -> Axis:
    """The amounts of SAME padding on one spatial axis (S1); ``auto_pad`` is SAME_UPPER, SAME_LOWER or VALID."""
    if auto_pad == "VALID":
        return Axis(size, 0, 0)
    windows = (size + stride - 1) // stride
    total = max((windows - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    half = total // 2
    return Axis(size, total - half, half) if auto_pad == "SAME_LOWER" else Axis(size, half, total - half)


def output(axis: Axis, rules: Rules) -> int:
    """The size of the padded axis (P1)."""
    dilated = (axis.size - 1) * (axis.interior + 1) + 1 if axis.size else 0
    total = axis.begin + dilated + axis.end
    return max(total, 0) if rules.clamp else total


def window(axis: Axis, mode: str, rules: Rules) -> tuple[int, int]:
    """The first element to extend from, and their number (P3)."""
    if not rules.crop or mode == "constant":
        return 0, axis.size
    front, back = max(-axis.begin, 0), max(-axis.end, 0)
    return front, axis.size - front - back


def broken(axes: Sequence[Axis], mode: str, rules: Rules) -> Iterator[str]:
    """The labels of the rules that a Pad breaks; of P10, only those of single axes."""
    empty = any(output(axis, rules) == 0 for axis in axes)
    for axis in axes:
        size = output(axis, rules)
        if size < 0 or (rules.grows and min(axis.begin, axis.end) < 0):
            yield "P1"
        if axis.interior < 0 or (axis.interior and mode != "constant"):
            yield "P6"
        if max(abs(axis.begin), abs(axis.end), size) > MOST:
            yield "P10"
        if mode == "constant":
            continue
        most = max(axis.size - (mode == "reflect"), 0)
        if rules.limit == "once" and mode in ("reflect", "symmetric") and max(axis.begin, axis.end) > most:
            yield "P4"
        if rules.limit == "ngraph" and mode in ("edge", "reflect") and axis.size < (1 if mode == "edge" else 2):
            yield "P4"
        if not empty and window(axis, mode, rules)[1] < 1:
            yield "P5"


def positions(axis: Axis, mode: str, rules: Rules) -> np.ndarray:
    """The source position that each output position shows (P2, P6), int64; -1 is the fill."""
    at = np.arange(output(axis, rules), dtype=np.int64)
    if not at.size:
        return at  # P5: an empty output may have nothing to extend from
    start, extent = window(axis, mode, rules)
    offset = at - axis.begin - start
    if mode == "constant":
        shown, gap = np.divmod(offset, axis.interior + 1)
        return np.asarray(np.where((gap == 0) & (shown >= 0) & (shown < axis.size), shown, -1))
    if mode == "edge":
        offset = np.clip(offset, 0, extent - 1)
    elif mode == "wrap":
        offset = offset % extent
    else:
        last = 2 * (extent - 1) if mode == "reflect" else 2 * extent - 1  # the sum of a position and its image
        offset = offset % max(last if mode == "reflect" else last + 1, 1)
        offset = np.minimum(offset, last - offset) if last else offset
    return np.asarray(start + offset)
