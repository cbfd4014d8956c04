"""Pads by indices that are computed at run time, whatever the rank, the shape and the amounts are.

The data are laid out flat, with the fill behind them where there is one, and one Gather takes the output out of them.
Its indices, of the output's shape, come of a Loop over the axes by Horner's scheme: with the indices i of the axes so
far, the next axis of n elements makes them ``i * n + j``. Index -1 is the fill.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from padops.convert.standard.amounts import Amounts
from padops.convert.standard.extension import Extents, look_up
from padops.convert.standard.graph_builder import BOOL, INT64, Operand, Tape, ints, scalar
from padops.convert.standard.subject import Subject

# Of a body, an axis and the indices so far, which have a last dim of 1 more: the indices with that axis.
Row = Callable[[Tape, ir.Value, ir.Value], Operand]


def indices(tape: Tape, subject: Subject, choice: Operand, amounts: Amounts) -> ir.Value:
    """The index that each element of the output has in the flat data, by extending the data."""
    size = subject.shape(tape)
    extents = Extents.of(tape, subject.op, size, amounts)
    step = extents.checked_step(tape, subject.op, subject.known_modes, choice, amounts)
    extension = look_up(tape, subject.known_modes, choice)

    def row(body: Tape, axis: ir.Value, so_far: ir.Value) -> Operand:
        positions = body.range(scalar(0), body.gather(extents.output, axis), step)
        positions = body.sub(positions, body.gather(extents.shift, axis))
        shown = extension.within(body, positions, body.gather(extents.window, axis))
        if extents.start is not None:
            shown = body.add(shown, body.gather(extents.start, axis))
        return body.add(body.mul(so_far, body.gather(size, axis)), shown)

    return _over_axes(tape, subject, row)


def filled_indices(tape: Tape, subject: Subject, amounts: Amounts) -> ir.Value:
    """The same for mode constant, with elements of fill between any two of an axis as well (P6)."""
    size = subject.shape(tape)
    steps = tape.add(amounts.interior, scalar(1))
    spread = tape.add(tape.mul(tape.sub(size, scalar(1)), steps), scalar(1))
    dilated = tape.where(tape.less(size, scalar(1)), scalar(0), spread)
    output = tape.add(tape.add(amounts.begin, dilated), amounts.end)
    worst = tape.negative(tape.lowest(tape.concat(output, amounts.interior, ints(0))))
    step = tape.emit("Gather", [ints(1), worst], role="P1_P6")

    def row(body: Tape, axis: ir.Value, so_far: ir.Value) -> Operand:
        positions = body.range(scalar(0), body.gather(output, axis), step)
        positions = body.sub(positions, body.gather(amounts.begin, axis))
        every, count = body.gather(steps, axis), body.gather(size, axis)
        gap = body.mod(positions, every)
        shown = body.div(body.sub(positions, gap), every)
        inside = body.both(body.less(scalar(-1), shown), body.less(shown, count))
        inside = body.both(body.both(inside, body.less(gap, scalar(1))), body.less(scalar(-1), so_far))
        return body.where(inside, body.add(body.mul(so_far, count), shown), scalar(-1))

    return _over_axes(tape, subject, row)


def take(tape: Tape, data: ir.Value, fill: Operand | None, indices: Operand) -> ir.Value:
    """The elements at flat indices; the fill, where there is one, has the last."""
    flat = tape.flatten(data)
    if fill is not None:
        flat = tape.emit("Concat", [flat, tape.reshape(fill, ints(1))], {"axis": 0})
    return tape.emit("Gather", [flat, indices])


def _over_axes(tape: Tape, subject: Subject, row: Row) -> ir.Value:
    """A Loop over the axes that makes the indices."""
    body = tape.inner()
    axis = ir.Value(name=tape.name("axis"), type=INT64, shape=ir.Shape([]))
    going = ir.Value(name=tape.name("going"), type=BOOL, shape=ir.Shape([]))
    so_far = ir.Value(name=tape.name("so_far"))  # a type would have to come with a shape
    made = row(body, axis, body.unsqueeze(so_far, -1))
    graph = body.graph([axis, going, so_far], [going, made], "axes")
    count = tape.reshape(subject.rank(tape), ints())
    return tape.emit("Loop", [count, None, scalar(0)], {"body": graph}, role="indices")
