"""The amounts of every axis, as the dialects spell them (P8, S1): known ones as arrays, others as what computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.standard.graph_builder import Operand, Tape, ints, scalar
from padops.convert.standard.subject import Lacking, Subject
from padops.spec.dialects.same_pad import AUTO_PADS, DATA_FORMATS


@dataclass(frozen=True)
class Amounts:
    """Elements added, or if negative taken away, on each axis: vectors as long as the rank."""

    begin: Operand
    end: Operand
    interior: Operand | None = None


def amounts_of(tape: Tape, subject: Subject) -> Amounts:
    """The amounts of every axis.

    Raises:
        Unconvertible: They cannot be had at this opset.
    """
    if subject.op.input_index("pads_begin") is not None:
        lists = (tape.to_int64(subject.input(name)) for name in ("pads_begin", "pads_end"))
        return Amounts(*(_one_per_axis(tape, subject, numbers) for numbers in lists))
    if subject.has_attribute("padding_below"):
        names = ("padding_below", "padding_above", "padding_interior")
        below, above, interior = (subject.numbers(tape, name) for name in names)
        if isinstance(interior, np.ndarray) and not interior.any():
            interior = None
        elif isinstance(interior, ir.Value):  # of calls that differ; an absent one is empty there, and stands for zeros
            rank = subject.rank(tape)
            interior = tape.slice(tape.concat(interior, _filled(tape, 0, rank)), ints(0), rank)
        return Amounts(*(None if x is None else _one_per_axis(tape, subject, x) for x in (below, above, interior)))
    return _same(tape, subject) if subject.has_attribute("kernel_shape") else _pairs(tape, subject)


def _one_per_axis(tape: Tape, subject: Subject, numbers: Operand) -> Operand:
    """A list that does not fit if it is not as long as the rank (P8)."""
    return tape.reshape(numbers, subject.rank(tape))


def pads_of(tape: Tape, subject: Subject) -> Operand:
    """Begins, then ends, as an ONNX Pad has them: for the axes that another input lists, where it does."""
    name = next((row.name for row in subject.op.attributes if row.type == "ints"), None)
    return subject.input("pads") if name is None else subject.numbers(tape, name)


def _pairs(tape: Tape, subject: Subject) -> Amounts:
    """ONNX Pad."""
    if subject.some_axes:
        raise Lacking("axes", subject.op)
    pads, axes, rank = pads_of(tape, subject), subject.input("axes"), subject.rank(tape)
    count = rank if axes is None else _count(tape, axes)
    # A list of another length than two for each axis does not fit (P8).
    pairs = tape.reshape(pads, tape.concat(ints(2), count) if tape.opset >= 14 else ints(2, -1))
    begin, end = (tape.gather(pairs, scalar(i)) for i in (0, 1))
    if tape.opset < 14:  # a 0 in a shape stands for another dim, which the list of pads does not have
        begin, end = (tape.reshape(numbers, count) for numbers in (begin, end))
    if axes is None:
        return Amounts(begin, end)
    return Amounts(_spread(tape, begin, axes, rank), _spread(tape, end, axes, rank))


def _same(tape: Tape, subject: Subject) -> Amounts:
    """S1: the amounts of the spatial axes follow from the shape."""
    kernel = subject.numbers(tape, "kernel_shape")
    count = _count(tape, kernel)
    ones = _filled(tape, 1, count)
    stride, dilation = (
        tape.slice(tape.concat(subject.numbers(tape, name), ones), ints(0), count) for name in ("strides", "dilations")
    )
    behind = ints(*(0 if name.startswith("NC") else 1 for name in DATA_FORMATS))
    last = tape.reshape(tape.gather(behind, subject.choice(tape, "data_format", DATA_FORMATS)), ints(1))
    first = tape.sub(ints(2), last)
    size = tape.slice(subject.shape(tape), first, tape.add(first, count))
    outputs = tape.div(tape.sub(tape.add(size, stride), scalar(1)), stride)
    reach = tape.add(tape.mul(tape.sub(kernel, scalar(1)), dilation), scalar(1))
    spanned = tape.add(tape.mul(tape.sub(outputs, scalar(1)), stride), reach)
    total = tape.maximum(tape.sub(spanned, size), scalar(0))
    small = tape.div(total, scalar(2))
    large = tape.sub(total, small)
    none = tape.mul(small, ints(0))
    sides = {"SAME_UPPER": (small, large), "SAME_LOWER": (large, small), "VALID": (none, none)}
    chosen = subject.choice(tape, "auto_pad", AUTO_PADS)
    front, back = _filled(tape, 0, first), _filled(tape, 0, last)
    begin, end = (_pick(tape, [sides[name][i] for name in AUTO_PADS], chosen) for i in (0, 1))
    return Amounts(*(tape.concat(front, amount, back) for amount in (begin, end)))


def _pick(tape: Tape, vectors: Sequence[Operand], choice: Operand) -> Operand:
    """One of some vectors of equal length."""
    if isinstance(choice, np.ndarray):
        return vectors[int(choice)]
    rows = [tape.unsqueeze(vector, 0) for vector in vectors]
    return tape.gather(tape.emit("Concat", rows, {"axis": 0}), choice)


def _count(tape: Tape, vector: Operand) -> Operand:
    """The number of elements of a vector, as a vector of one."""
    return ints(vector.size) if isinstance(vector, np.ndarray) else tape.emit("Shape", [vector])


def _filled(tape: Tape, number: int, count: Operand) -> Operand:
    """A vector of ``count`` equal numbers."""
    if isinstance(count, np.ndarray):
        return np.full(count, number, np.int64)
    return tape.emit("ConstantOfShape", [count], {"value": ir.tensor(ints(number))})


def _spread(tape: Tape, values: Operand, axes: Operand, rank: Operand) -> Operand:
    """Numbers of the listed axes as numbers of every axis, 0 for the others."""
    if isinstance(axes, np.ndarray) and isinstance(rank, np.ndarray):
        positions = np.full(rank, axes.size, np.int64)
        positions[axes.reshape(-1)] = np.arange(axes.size)
        return tape.gather(tape.concat(values, ints(0)), positions)
    return tape.emit("ScatterElements", [_filled(tape, 0, rank), axes, values], {"axis": 0})
