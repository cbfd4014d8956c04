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
from padops.convert.standard.arithmetic import ints, scalar
from padops.convert.standard.extension import Extents, look_up
from padops.convert.standard.graph_builder import BOOL, INT64, GraphBuilder
from padops.convert.standard.pad_values import rank_of, shape_of

# Of a inner, an axis and the indices so far, which have a last dim of 1 more: the indices with that axis.
Row = Callable[[GraphBuilder, ir.Value, Operand], Operand]


def indices(builder: GraphBuilder, pad: PadInfo, choice: Operand, amounts: Amounts) -> ir.Value:
    """The index that each element of the output has in the flat data, by extending the data.

    Args:
        builder: Writes the nodes.
        pad: What to write.
        choice: Which of the Pad's modes, rank 0.
        amounts: Of every axis, each a vector.
    """
    size = shape_of(builder, pad)
    extents = Extents.of(builder, pad.op, size, amounts)
    step = extents.checked_step(builder, pad.op, pad.known_modes, choice, amounts)
    extension = look_up(builder, pad.known_modes, choice)

    def row(inner: GraphBuilder, axis: ir.Value, so_far: Operand) -> Operand:
        positions = inner.range(scalar(0), inner.gather(extents.output, axis), step)
        positions = inner.sub(positions, inner.gather(extents.shift, axis))
        shown = extension.within(inner, positions, inner.gather(extents.window, axis))
        if extents.start is not None:
            shown = inner.add(shown, inner.gather(extents.start, axis))
        return inner.add(inner.mul(so_far, inner.gather(size, axis)), shown)

    return _over_axes(builder, pad, row)


def filled_indices(builder: GraphBuilder, pad: PadInfo, amounts: Amounts) -> ir.Value:
    """The same for mode constant, where there may be elements of fill between any two of an axis as well (P6).

    Args:
        builder: Writes the nodes.
        pad: What to write.
        amounts: Of every axis, with the interior.
    """
    size, interior = shape_of(builder, pad), amounts.interior
    steps: Operand = scalar(1)
    dilated, checked = size, list[Operand]()
    if interior is not None:
        steps = builder.add(interior, scalar(1))
        spread = builder.add(builder.mul(builder.sub(size, scalar(1)), steps), scalar(1))
        dilated = builder.where(builder.less(size, scalar(1)), scalar(0), spread)
        checked.append(interior)
    output = builder.add(builder.add(amounts.begin, dilated), amounts.end)
    if pad.op.clamp:
        output = builder.maximum(output, scalar(0))
    worst = builder.negative(builder.lowest(output, *checked, ints(0)))
    step = builder.emit("Gather", [ints(1), worst], role="P1_P6")

    def row(inner: GraphBuilder, axis: ir.Value, so_far: Operand) -> Operand:
        positions = inner.range(scalar(0), inner.gather(output, axis), step)
        positions = inner.sub(positions, inner.gather(amounts.begin, axis))
        every = steps if interior is None else inner.gather(steps, axis)
        count = inner.gather(size, axis)
        gap = inner.mod(positions, every)
        shown = inner.div(inner.sub(positions, gap), every)
        inside = inner.both(inner.less(scalar(-1), shown), inner.less(shown, count))
        inside = inner.both(inner.both(inside, inner.less(gap, scalar(1))), inner.less(scalar(-1), so_far))
        return inner.where(inside, inner.add(inner.mul(so_far, count), shown), scalar(-1))

    return _over_axes(builder, pad, row)


def take(builder: GraphBuilder, data: ir.Value, fill: Operand | None, indices: Operand) -> ir.Value:
    """The elements at flat indices; the fill, where there is one, has the last.

    Args:
        builder: Writes the nodes.
        data: A tensor.
        fill: One element, or None.
        indices: Into the flat data.
    """
    flat = builder.flatten(data)
    if fill is not None:
        flat = builder.emit("Concat", [flat, builder.reshape(fill, ints(1))], {"axis": 0})
    return builder.emit("Gather", [flat, indices])


def _over_axes(builder: GraphBuilder, pad: PadInfo, row: Row) -> ir.Value:
    """A Loop over the axes that makes the indices."""
    inner = builder.inner()
    axis = ir.Value(name=builder.name("axis"), type=INT64, shape=ir.Shape([]))
    going = ir.Value(name=builder.name("going"), type=BOOL, shape=ir.Shape([]))
    so_far = ir.Value(name=builder.name("so_far"))  # a type would have to come with a shape
    made = row(inner, axis, inner.unsqueeze(so_far, -1))
    graph = inner.graph([axis, going, so_far], [going, made], "axes")
    count = builder.reshape(rank_of(builder, pad), ints())
    begins = np.array(True)  # onnx's reference does not begin without it
    return builder.emit("Loop", [count, begins, scalar(0)], {"body": graph}, role="indices")
