"""Pads by indices that are computed at run time, whatever the rank, the shape and the amounts are.

The data are laid out flat, with the fill behind them where there is one, and one Gather takes the output out of them.
Its indices, of the output's shape, come of a Loop over the axes by Horner's scheme: with the indices i of the axes so
far, the next axis of n elements makes them ``i * n + j``. Index -1 is the fill.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.standard.amounts import Amounts
from padops.convert.standard.extension import Extents, look_up
from padops.convert.standard.graph_builder import BOOL, INT64, here
from padops.convert.standard.numbers import Number, Numbers, arange, emit, flatten, ints, lowest, reshape, take
from padops.convert.standard.pad_values import rank_of, shape_of

# Of an axis and the indices so far, which have a last dim of 1 more: the indices with that axis.
Row = Callable[[Number, Numbers], Numbers]


def indices(pad: PadInfo, choice: Numbers, amounts: Amounts) -> Number:
    """The index that each element of the output has in the flat data, by extending them in the mode at ``choice``."""
    size = shape_of(pad)
    extents = Extents.of(pad.op, size, amounts)
    step = extents.checked_step(pad.op, pad.known_modes, choice, amounts)
    extension = look_up(pad.known_modes, choice)

    def row(axis: Number, so_far: Numbers) -> Numbers:
        shown = extents.shown(extension, axis, take(extents.output, axis), step)
        return so_far * take(size, axis) + shown

    return _over_axes(pad, row)


def filled_indices(pad: PadInfo, amounts: Amounts) -> Number:
    """The same for mode constant, where there may be elements of fill between any two of an axis as well (P6)."""
    size, interior = shape_of(pad), amounts.interior
    dilated, checked = size, list[Numbers]()
    if interior is not None:
        steps = interior + 1
        spread = (size - 1) * steps + 1
        dilated = np.where(size < 1, 0, spread)
        checked.append(interior)
    output = amounts.begin + dilated + amounts.end
    if pad.op.clamp:
        output = np.maximum(output, 0)
    step = emit("Gather", [ints(1), -lowest(output, *checked, ints(0))], role="P1_P6")

    def row(axis: Number, so_far: Numbers) -> Numbers:
        positions = arange(take(output, axis), step) - take(amounts.begin, axis)
        every = 1 if interior is None else take(steps, axis)
        count = take(size, axis)
        gap = positions % every
        shown = (positions - gap) // every
        inside = (shown > -1) & (shown < count) & (gap < 1) & (so_far > -1)
        return np.where(inside, so_far * count + shown, -1)

    return _over_axes(pad, row)


def taken(data: ir.Value, fill: Operand | None, indices: Operand) -> Number:
    """The elements at flat indices; the fill, where there is one, has the last."""
    flat = flatten(data)
    if fill is not None:
        flat = emit("Concat", [flat, reshape(fill, ints(1))], {"axis": 0})
    return emit("Gather", [flat, indices])


def _over_axes(pad: PadInfo, row: Row) -> Number:
    """A Loop over the axes that makes the indices."""
    with here().inner() as inner:
        axis = Number(name=inner.name("axis"), type=INT64, shape=ir.Shape([]))
        going = ir.Value(name=inner.name("going"), type=BOOL, shape=ir.Shape([]))
        so_far = Number(name=inner.name("so_far"))  # a type would have to come with a shape
        made = row(axis, np.expand_dims(so_far, -1))
        graph = inner.graph([axis, going, so_far], [going, made], "axes")
    count = reshape(rank_of(pad), ints())
    begins = np.array(True)  # onnx's reference does not begin without it
    return emit("Loop", [count, begins, 0], {"body": graph}, role="indices")
