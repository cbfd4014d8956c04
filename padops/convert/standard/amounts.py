"""The amounts of every axis, as the dialects spell them (P8, S1): known ones as arrays, others as what computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.standard.arithmetic import ints, scalar
from padops.convert.standard.graph_builder import GraphBuilder
from padops.convert.standard.pad_values import Lacking, choice_of, rank_of, shape_of, vector_of
from padops.spec.dialects.same_pad import AUTO_PADS, DATA_FORMATS


@dataclass(frozen=True)
class Amounts:
    """Elements added, or if negative taken away, on each axis: vectors as long as the rank."""

    begin: Operand
    end: Operand
    interior: Operand | None = None

    def map(self, change: Callable[[Operand], Operand]) -> Amounts:
        """The same, each vector changed."""
        interior = None if self.interior is None else change(self.interior)
        return Amounts(change(self.begin), change(self.end), interior)


def amounts_of(builder: GraphBuilder, pad: PadInfo) -> Amounts:
    """The amounts of every axis.

    Raises:
        Unconvertible: They cannot be had at this opset.
    """
    if pad.op.input_index("pads_begin") is not None:
        lists = (builder.to_int64(_required(pad, name)) for name in ("pads_begin", "pads_end"))
        return Amounts(*(_one_per_axis(builder, pad, numbers) for numbers in lists))
    if pad.has_attribute("padding_below"):
        names = ("padding_below", "padding_above", "padding_interior")
        below, above, between = (vector_of(builder, pad, name) for name in names)
        interior: Operand | None = between
        if isinstance(interior, np.ndarray) and not interior.any():
            interior = None
        elif isinstance(interior, ir.Value):  # of calls that differ; an absent one is empty there, and stands for zeros
            rank = rank_of(builder, pad)
            interior = builder.slice(builder.concat(interior, _filled(builder, 0, rank)), ints(0), rank)
        begin, end = (_one_per_axis(builder, pad, x) for x in (below, above))
        return Amounts(begin, end, None if interior is None else _one_per_axis(builder, pad, interior))
    return _same(builder, pad) if pad.has_attribute("kernel_shape") else _pairs(builder, pad)


def _required(pad: PadInfo, name: str) -> Operand:
    """An input that the operator does not do without."""
    given = pad.input(name)
    assert given is not None, "what lacks it is refused: see misfit"
    return given


def _one_per_axis(builder: GraphBuilder, pad: PadInfo, numbers: Operand) -> Operand:
    """A list that does not fit if it is not as long as the rank (P8)."""
    return builder.reshape(numbers, rank_of(builder, pad))


def pads_of(builder: GraphBuilder, pad: PadInfo) -> Operand:
    """Begins, then ends, as an ONNX Pad has them: for the axes that another input lists, where it does."""
    name = next((row.name for row in pad.op.attributes if row.type == "ints"), None)
    return _required(pad, "pads") if name is None else vector_of(builder, pad, name)


def _pairs(builder: GraphBuilder, pad: PadInfo) -> Amounts:
    """ONNX Pad."""
    if pad.some_axes:
        raise Lacking("axes", pad.op)
    pads, axes, rank = pads_of(builder, pad), pad.input("axes"), rank_of(builder, pad)
    count = rank if axes is None else _count(builder, axes)
    # A list of another length than two for each axis does not fit (P8).
    pairs = builder.reshape(pads, builder.concat(ints(2), count) if builder.opset >= 14 else ints(2, -1))
    begin, end = (builder.gather(pairs, scalar(i)) for i in (0, 1))
    if builder.opset < 14:  # a 0 in a shape stands for another dim, which the list of pads does not have
        begin, end = (builder.reshape(numbers, count) for numbers in (begin, end))
    if axes is None:
        return Amounts(begin, end)
    return Amounts(_spread(builder, begin, axes, rank), _spread(builder, end, axes, rank))


def _same(builder: GraphBuilder, pad: PadInfo) -> Amounts:
    """S1: the amounts of the spatial axes follow from the shape."""
    kernel = vector_of(builder, pad, "kernel_shape")
    count = _count(builder, kernel)
    ones = _filled(builder, 1, count)
    stride, dilation = (
        builder.slice(builder.concat(vector_of(builder, pad, name), ones), ints(0), count)
        for name in ("strides", "dilations")
    )
    behind = ints(*(0 if name.startswith("NC") else 1 for name in DATA_FORMATS))
    last = builder.reshape(builder.gather(behind, choice_of(builder, pad, "data_format", DATA_FORMATS)), ints(1))
    first = builder.sub(ints(2), last)
    size = builder.slice(shape_of(builder, pad), first, builder.add(first, count))
    outputs = builder.div(builder.sub(builder.add(size, stride), scalar(1)), stride)
    reach = builder.add(builder.mul(builder.sub(kernel, scalar(1)), dilation), scalar(1))
    spanned = builder.add(builder.mul(builder.sub(outputs, scalar(1)), stride), reach)
    total = builder.maximum(builder.sub(spanned, size), scalar(0))
    small = builder.div(total, scalar(2))
    large = builder.sub(total, small)
    none = builder.mul(small, ints(0))
    sides = {"SAME_UPPER": (small, large), "SAME_LOWER": (large, small), "VALID": (none, none)}
    chosen = choice_of(builder, pad, "auto_pad", AUTO_PADS)
    front, back = _filled(builder, 0, first), _filled(builder, 0, last)
    begin, end = (_pick(builder, [sides[name][i] for name in AUTO_PADS], chosen) for i in (0, 1))
    return Amounts(*(builder.concat(front, amount, back) for amount in (begin, end)))


def _pick(builder: GraphBuilder, vectors: Sequence[Operand], choice: Operand) -> Operand:
    """One of some vectors of equal length."""
    if isinstance(choice, np.ndarray):
        return vectors[int(choice)]
    rows = [builder.unsqueeze(vector, 0) for vector in vectors]
    return builder.gather(builder.emit("Concat", rows, {"axis": 0}), choice)


def _count(builder: GraphBuilder, vector: Operand) -> Operand:
    """The number of elements of a vector, as a vector of one."""
    return ints(vector.size) if isinstance(vector, np.ndarray) else builder.emit("Shape", [vector])


def _filled(builder: GraphBuilder, number: int, count: Operand) -> Operand:
    """A vector of ``count`` equal numbers."""
    if isinstance(count, np.ndarray):
        return np.full(count, number, np.int64)
    return builder.emit("ConstantOfShape", [count], {"value": ir.tensor(ints(number))})


def _spread(builder: GraphBuilder, values: Operand, axes: Operand, rank: Operand) -> Operand:
    """Numbers of the listed axes as numbers of every axis, 0 for the others."""
    if isinstance(axes, np.ndarray) and isinstance(rank, np.ndarray):
        positions = np.full(rank, axes.size, np.int64)
        positions[axes.reshape(-1)] = np.arange(axes.size)
        return builder.gather(builder.concat(values, ints(0)), positions)
    return builder.emit("ScatterElements", [_filled(builder, 0, rank), axes, values], {"axis": 0})
