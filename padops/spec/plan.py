"""The plan of a Pad: per axis, a map from output position to source position or fill.

Dialects (``dialects.py``) build a :class:`Plan`; the engine and the NumPy reference only execute it. docs/semantics.md
defines the rules P1–P10; ``csrc/core/plan.cpp`` is the second, independent implementation, with the same error texts.

The modes, for the source ``abcd`` with three elements on either side::

    constant   ___ abcd ___
    edge       aaa abcd ddd
    reflect    dcb abcd cba
    symmetric  cba abcd dcb
    wrap       bcd abcd abc
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod

import numpy as np

from padops.plural import plural

# P10: the most elements that an axis or a tensor may have. With 16-byte elements it is still under 2**63 bytes, and
# sums of a few such numbers stay within int64.
LARGEST = 2**59 - 1


class Mode(Enum):
    """How a Pad fills the output elements outside the data (P2)."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"
    WRAP = "wrap"


class Crop(Enum):
    """Whether negative pads crop an axis before (CROP) or after (FULL, always for constant) its extension; see P3."""

    FULL = "FULL"
    CROP = "CROP"


class Limit(Enum):
    """How far a mode may reach (P4)."""

    NONE = "none"
    OPENVINO = "openvino"
    NGRAPH = "ngraph"


class PadError(ValueError):
    """A Pad that breaks a rule.

    Attributes:
        rule: The label of the broken rule, for example ``"P8"``.
        detail: The message without the operator, the node and the rule.
    """

    def __init__(self, rule: str, detail: str, op: str = "Pad", node: str = "") -> None:
        super().__init__(f"padops::{op} '{node}': {detail} [{rule}]")
        self.rule = rule
        self.detail = detail


@dataclass(frozen=True)
class Amounts:
    """Pads of one axis: elements added (cropped, if negative) before and after; elements added between neighbours."""

    begin: int
    end: int
    interior: int = 0

    @property
    def crops(self) -> bool:
        return min(self.begin, self.end) < 0


NOTHING = Amounts(0, 0)


@dataclass(frozen=True)
class AxisPlan:
    """One axis, ready to execute: how the output extends a window of the source."""

    size: int  # elements of the source axis
    start: int  # first source element of the window (nonzero only if CROP has cut off the beginning)
    extent: int  # elements of the window; the period of the extension derives from it
    begin: int  # output position of the window's first element (negative where FULL crops)
    interior: int  # fill elements between two neighbours
    output: int  # elements of the output axis


@dataclass(frozen=True)
class Plan:
    """A Pad of a tensor of known shape."""

    mode: Mode
    axes: tuple[AxisPlan, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.output for axis in self.axes)


def source_index(axis: AxisPlan, mode: Mode, positions: np.ndarray) -> np.ndarray:
    """Return the source position of each of these output positions of an axis; -1 for fill (P2, P6)."""
    offset, extent = positions - axis.begin, max(axis.extent, 1)  # nothing reads an empty window, see P5
    if mode is Mode.CONSTANT:
        offset, gap = np.divmod(offset, axis.interior + 1)
        return np.where((gap == 0) & (offset >= 0) & (offset < axis.extent), axis.start + offset, -1)
    if mode is Mode.EDGE:
        offset = np.clip(offset, 0, extent - 1)
    elif mode is Mode.WRAP:
        offset = offset % extent
    elif mode is Mode.SYMMETRIC:
        offset = offset % (2 * extent)
        offset = np.minimum(offset, 2 * extent - 1 - offset)
    elif mode is Mode.REFLECT:
        offset = offset % max(2 * (extent - 1), 1)
        offset = np.minimum(offset, 2 * (extent - 1) - offset)
    return axis.start + offset


def dilated_size(size: int, interior: int) -> int:
    """Return the size of an axis of ``size`` elements after inserting ``interior`` elements between any two (P1)."""
    return (size - 1) * (interior + 1) + 1 if size else 0


def make_plan(
    shape: Sequence[int],
    amounts: Sequence[Amounts],
    mode: Mode,
    crop: Crop,
    limit: Limit = Limit.NONE,
    clamp: bool = False,
) -> Plan:
    """Build the plan; check P1, P4, P5, P6 and P10. ``clamp``: a negative output dim is 0 instead of an error (P1)."""
    outputs = [_output_size(i, n, a, mode, clamp) for i, (n, a) in enumerate(zip(shape, amounts, strict=True))]
    if prod(outputs) > LARGEST:
        raise PadError("P10", f"an output of shape {list(outputs)} has more than {LARGEST} elements")
    axes = []
    for i, (size, pads, output) in enumerate(zip(shape, amounts, outputs)):
        start, stop = 0, size
        _check_limit(i, size, pads, mode, limit)
        if mode is not Mode.CONSTANT:
            if crop is Crop.CROP:
                start, stop = max(-pads.begin, 0), size - max(-pads.end, 0)
            if stop <= start and 0 not in outputs:
                of_all = f"begin {pads.begin} and end {pads.end} leave none of its {plural(size, 'element')}"
                why = of_all if size else "it is empty"
                raise PadError("P5", f"cannot extend axis {i} by {mode.value}: {why}")
        extent = max(stop - start, 0)
        interior = pads.interior if size > 1 else 0  # fewer than two elements have no interior
        axes.append(AxisPlan(size, start, extent, pads.begin + start, interior, output))
    return Plan(mode, tuple(axes))


def check_axes(shape: Sequence[int | None], amounts: Sequence[Amounts], mode: Mode, limit: Limit, clamp: bool) -> None:
    """Check each axis separately, for data with some unknown sizes."""
    for i, (size, pads) in enumerate(zip(shape, amounts, strict=True)):
        if size is None:
            _output_size(i, 0, Amounts(0, 0, pads.interior), mode, clamp)  # P6 alone
        else:
            _output_size(i, size, pads, mode, clamp)
            _check_limit(i, size, pads, mode, limit)


def _output_size(i: int, size: int, pads: Amounts, mode: Mode, clamp: bool) -> int:
    """Check and return the output dim of axis ``i`` (P1, P6, P10)."""
    if pads.interior < 0 or (pads.interior and mode is not Mode.CONSTANT):
        why = "must not be negative" if pads.interior < 0 else f"only mode constant allows, not {mode.value}"
        raise PadError("P6", f"axis {i} has interior {pads.interior}, which {why}")
    parts = f"begin {pads.begin}, size {size}, interior {pads.interior}, end {pads.end}"
    counted = (pads.begin, pads.end, pads.interior if size > 1 else 0)  # fewer than two elements have no interior
    if max(map(abs, counted)) > LARGEST:
        raise PadError("P10", f"axis {i} ({parts}) has amounts beyond {LARGEST}")
    dilated = dilated_size(size, pads.interior)
    output = pads.begin + dilated + pads.end
    if max(dilated, output) > LARGEST:
        raise PadError("P10", f"axis {i} would have more than {LARGEST} elements ({parts})")
    if output < 0:
        if clamp:
            return 0
        raise PadError("P1", f"axis {i} would have {output} elements ({parts})")
    return output


def _check_limit(i: int, size: int, pads: Amounts, mode: Mode, limit: Limit) -> None:
    """Check P4 for one axis."""
    if limit is Limit.OPENVINO and mode in (Mode.REFLECT, Mode.SYMMETRIC):
        most = max(size - 1, 0) if mode is Mode.REFLECT else size
        for side, amount in (("begin", pads.begin), ("end", pads.end)):
            if amount > most:
                of = f"of its {plural(size, 'element')}"
                raise PadError("P4", f"axis {i} has {side} {amount}, but {mode.value} takes at most {most} {of}")
    if limit is Limit.NGRAPH and mode in (Mode.EDGE, Mode.REFLECT):
        least = 1 if mode is Mode.EDGE else 2
        if size < least:
            raise PadError("P4", f"axis {i} has {plural(size, 'element')}, but {mode.value} needs at least {least}")
