"""The amounts of every axis, as the dialects spell them (P8, S1): known ones are arrays, others are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.standard.graph_builder import here
from padops.convert.standard.numbers import Number, Numbers, cut, emit, ints, reshape, take, to_int64
from padops.convert.standard.pad_values import Lacking, choice_of, rank_of, shape_of, vector_of
from padops.spec.dialects.same_pad import AUTO_PADS, DATA_FORMATS


@dataclass(frozen=True)
class Amounts:
    """Elements added, or if negative taken away, on each axis: vectors as long as the rank."""

    begin: Numbers
    end: Numbers
    interior: Numbers | None = None

    def map(self, change: Callable[[Numbers], Numbers]) -> Amounts:
        """The same, each vector changed."""
        interior = None if self.interior is None else change(self.interior)
        return Amounts(change(self.begin), change(self.end), interior)


def amounts_of(pad: PadInfo) -> Amounts:
    """The amounts of every axis.

    Raises:
        Unconvertible: They cannot be had at this opset.
    """
    if pad.op.input_index("pads_begin") is not None:
        lists = (to_int64(_required(pad, name)) for name in ("pads_begin", "pads_end"))
        return Amounts(*(_one_per_axis(pad, numbers) for numbers in lists))
    if pad.has_attribute("padding_below"):
        names = ("padding_below", "padding_above", "padding_interior")
        below, above, between = (vector_of(pad, name) for name in names)
        interior: Numbers | None = between
        if isinstance(between, Number):  # of calls that differ; an absent one is empty there, and stands for zeros
            rank = rank_of(pad)
            interior = cut(np.concatenate([between, _filled(0, rank)]), ints(0), rank)
        elif not between.any():
            interior = None
        begin, end = (_one_per_axis(pad, x) for x in (below, above))
        return Amounts(begin, end, None if interior is None else _one_per_axis(pad, interior))
    return _same(pad) if pad.has_attribute("kernel_shape") else _pairs(pad)


def _required(pad: PadInfo, name: str) -> Operand:
    """An input that the operator does not do without."""
    given = pad.input(name)
    assert given is not None, "what lacks it is refused: see misfit"
    return given


def _one_per_axis(pad: PadInfo, numbers: Numbers) -> Numbers:
    """A list that does not fit if it is not as long as the rank (P8)."""
    return reshape(numbers, rank_of(pad))


def pads_of(pad: PadInfo) -> Operand:
    """Begins, then ends, as an ONNX Pad has them: for the axes that another input lists, where it does."""
    name = next((row.name for row in pad.op.attributes if row.type == "ints"), None)
    return _required(pad, "pads") if name is None else vector_of(pad, name)


def _pairs(pad: PadInfo) -> Amounts:
    """ONNX Pad."""
    if pad.some_axes:
        raise Lacking("axes", pad.op)
    pads, axes, rank = pads_of(pad), pad.input("axes"), rank_of(pad)
    count = rank if axes is None else _count(axes)
    # A list of another length than two for each axis does not fit (P8).
    pairs = reshape(pads, np.concatenate([ints(2), count]) if here().opset >= 14 else ints(2, -1))
    begin, end = take(pairs, 0), take(pairs, 1)
    if here().opset < 14:  # a 0 in a shape stands for another dim, which the list of pads does not have
        begin, end = reshape(begin, count), reshape(end, count)
    if axes is None:
        return Amounts(begin, end)
    return Amounts(_spread(begin, axes, rank), _spread(end, axes, rank))


def _same(pad: PadInfo) -> Amounts:
    """S1: the amounts of the spatial axes follow from the shape."""
    kernel = vector_of(pad, "kernel_shape")
    count = _count(kernel)
    ones = _filled(1, count)
    stride, dilation = (
        cut(np.concatenate([vector_of(pad, name), ones]), ints(0), count) for name in ("strides", "dilations")
    )
    behind = ints(*(0 if name.startswith("NC") else 1 for name in DATA_FORMATS))
    last = reshape(take(behind, choice_of(pad, "data_format", DATA_FORMATS)), ints(1))
    first = ints(2) - last
    size = cut(shape_of(pad), first, first + count)
    outputs = (size + stride - 1) // stride
    reach = (kernel - 1) * dilation + 1
    total = np.maximum((outputs - 1) * stride + reach - size, 0)
    small = total // 2
    large, none = total - small, small * ints(0)
    sides = {"SAME_UPPER": (small, large), "SAME_LOWER": (large, small), "VALID": (none, none)}
    chosen = choice_of(pad, "auto_pad", AUTO_PADS)
    front, back = _filled(0, first), _filled(0, last)
    begin, end = (_pick([sides[name][i] for name in AUTO_PADS], chosen) for i in (0, 1))
    return Amounts(np.concatenate([front, begin, back]), np.concatenate([front, end, back]))


def _pick(vectors: Sequence[Numbers], choice: Numbers) -> Numbers:
    """One of some vectors of equal length."""
    if not isinstance(choice, Number):
        return vectors[int(choice)]
    rows = [np.expand_dims(vector, 0) for vector in vectors]
    return take(emit("Concat", rows, {"axis": 0}), choice)


def _count(vector: Operand) -> Numbers:
    """The number of elements of a vector, as a vector of one."""
    return emit("Shape", [vector]) if isinstance(vector, ir.Value) else ints(vector.size)


def _filled(number: int, count: Numbers) -> Numbers:
    """A vector of ``count`` equal numbers."""
    if isinstance(count, Number):
        return emit("ConstantOfShape", [count], {"value": ir.tensor(ints(number))})
    return np.full(count, number, np.int64)


def _spread(values: Numbers, axes: Operand, rank: Numbers) -> Numbers:
    """Numbers of the listed axes as numbers of every axis, 0 for the others."""
    if isinstance(axes, ir.Value) or isinstance(rank, Number):
        return emit("ScatterElements", [_filled(0, rank), axes, values], {"axis": 0})
    positions = np.full(rank, axes.size, np.int64)
    positions[axes.reshape(-1)] = np.arange(axes.size)
    return take(np.concatenate([values, ints(0)]), positions)
