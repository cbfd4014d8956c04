"""Pads of known rank, axis by axis: of each axis its borders by Gather, what is left of it by Slice, together by Concat.

Where size and amounts are known that takes at most three nodes for each axis, but four, and one in all, for strings with an
interior, and for bfloat16 where the fill is not known. Else the positions are computed first.
Before opset 14, an axis that turns out to be empty then cannot be extended, not even where the output has no elements
(P5): Gather refuses positions that do not exist, and Reshape knows no empty shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.standard.amounts import Amounts, amounts_of
from padops.convert.standard.arithmetic import MAX_LISTED, ints, is_number, scalar
from padops.convert.standard.extension import Extents, filled, look_up
from padops.convert.standard.graph_builder import FIRST, GraphBuilder
from padops.convert.standard.ort_pad import cropped
from padops.convert.standard.pad_values import shape_of
from padops.spec import plan
from padops.spec.plan import AxisPlan, Limit, Mode, source_index

# An axis is one Gather where what it moves at a time is as long as this (else copying rows is quicker), or where there
# are no more positions than this anyway.
LONG_RUN = 16
MAX_POSITIONS = 4096  # in one constant of the model

FIRST_WITH_EMPTY_RESHAPE = 14  # it has allowzero

SMALL_BLOCK = 256  # elements of a block of fill that is a constant rather than a node


@dataclass
class Work:
    """A tensor while its axes are being padded.

    Attributes:
        builder: Where to write.
        pad: The Pad.
        value: The tensor so far.
        dims: A vector of one element for each of its dims; None for one that nobody has asked for yet.
    """

    builder: GraphBuilder
    pad: PadInfo
    value: ir.Value
    dims: list[Operand | None]

    @staticmethod
    def begin(builder: GraphBuilder, pad: PadInfo) -> Work:
        """Nothing has been done yet."""
        assert pad.dims is not None, "only of known rank there are axes to go by"
        return Work(builder, pad, pad.data, [None if dim is None else ints(dim) for dim in pad.dims])

    def dim(self, axis: int) -> Operand:
        """The size of an axis, as a vector of one element."""
        size = self.dims[axis]
        if size is None:
            size = self.dims[axis] = self.builder.gather(shape_of(self.builder, self.pad), ints(axis))
        return size

    def run(self, axis: int) -> int:
        """Elements that lie side by side for one position of an axis, as far as is known."""
        return prod(int(dim[0]) for dim in self.dims[axis + 1 :] if isinstance(dim, np.ndarray))

    @property
    def by_elements(self) -> bool:
        """Whether Gather may move single elements only: of strings, ONNX Runtime's moves the first of every run."""
        return self.pad.type == "string"

    def has_no_blocks(self, with_what: Operand) -> bool:
        """Whether fill is to be repeated by Gather: ONNX Runtime expands no bfloat16."""
        return self.pad.type == "bfloat16" and isinstance(with_what, ir.Value)

    def listed(self, amounts: AxisPlan) -> int:
        """How many positions ``extend`` lists for an axis, at least."""
        return amounts.output if self.by_elements else amounts.output - amounts.extent

    def gather(self, axis: int, positions: Sequence[int] | Operand) -> ir.Value:
        """The tensor at some positions of an axis."""
        builder, last = self.builder, len(self.dims) - 1
        index = positions if isinstance(positions, (np.ndarray, ir.Value)) else ints(*positions)
        if not self.by_elements or axis == last:
            return builder.emit("Gather", [self.value, index], {"axis": axis} if axis else {})
        order = [*range(axis), last, *range(axis + 1, last), axis]
        turned = builder.emit("Transpose", [self.value], {"perm": order})
        return builder.emit("Transpose", [builder.emit("Gather", [turned, index], {"axis": last})], {"perm": order})

    def core(self, axis: int, start: int, stop: int) -> list[ir.Value]:
        """The tensor, or part of it along an axis; nothing where that is empty.

        Args:
            axis: The axis.
            start: The first position.
            stop: The position behind the last.
        """
        if stop <= start:
            return []
        size = self.dims[axis]
        whole = start == 0 and isinstance(size, np.ndarray) and stop == size[0]
        return [self.value if whole else self.builder.part(self.value, ints(start), ints(stop), ints(axis))]

    def replace_axis(self, axis: int, parts: Sequence[ir.Value], size: Operand) -> None:
        """Puts parts one after another along an axis.

        Args:
            axis: The axis.
            parts: Tensors, at least one.
            size: Of the axis that they make, one element.
        """
        self.value = parts[0] if len(parts) == 1 else self.builder.emit("Concat", parts, {"axis": axis})
        self.dims[axis] = size


def extend(work: Work, axis: int, amounts: AxisPlan, mode: Mode) -> None:
    """Extends one axis of known size by known amounts.

    Args:
        work: The tensor so far; becomes the extended one.
        axis: The axis.
        amounts: Its plan.
        mode: Any but constant.
    """
    first, last = _core(amounts)
    shown = [_shown(amounts, mode, position) for position in (*range(first), *range(last, amounts.output))]
    output = ints(amounts.output)
    alone = first == last or amounts.output <= LONG_RUN or work.run(axis) >= LONG_RUN
    if work.by_elements or (alone and amounts.output <= MAX_POSITIONS):
        whole = [_shown(amounts, mode, position) for position in range(amounts.output)]
        work.replace_axis(axis, [work.gather(axis, whole)], output)
        return
    offset = amounts.start - amounts.begin
    front, back = shown[:first], shown[first:]
    parts = [work.gather(axis, front)] if front else []
    parts += work.core(axis, first + offset, last + offset)
    parts += [work.gather(axis, back)] if back else []
    work.replace_axis(axis, parts or [work.gather(axis, [])], output)


def _shown(amounts: AxisPlan, mode: Mode, position: int) -> int:
    """The position of the source that one of the output shows, in a mode that has no fill."""
    index = source_index(amounts, mode, position)
    assert index is not None
    return index


def extend_by_computing(work: Work, axes: Sequence[int], amounts: Amounts) -> None:
    """Extends some axes by what is computed at run time, all that is left to do; ``amounts`` are of every axis.

    Args:
        work: The tensor so far; becomes the output.
        axes: Which axes.
        amounts: Of every axis, each a vector.
    """
    if not axes:
        return
    builder, pad, none = work.builder, work.pad, scalar(0)
    extents = Extents.of(builder, pad.op, shape_of(builder, pad), amounts)
    step: Operand = scalar(1)
    grows = all(isinstance(x, np.ndarray) and (x >= 0).all() for x in (amounts.begin, amounts.end))
    if pad.op.limit is not Limit.NONE or not grows:
        step = extents.checked_step(builder, pad.op, pad.known_modes, none, amounts)
    # Of an axis that has nothing to show no position is asked for; whether that is right shows at the end (P5).
    may_reshape = builder.opset >= FIRST_WITH_EMPTY_RESHAPE
    counts = extents.output
    if may_reshape:
        # 1 or 0: the product with the window itself would overflow beyond 2^31.5 elements.
        is_shown = builder.minimum(builder.maximum(extents.window, scalar(0)), scalar(1))
        counts = builder.mul(counts, is_shown)
    for axis in axes:
        at = scalar(axis)
        positions = builder.range(none, builder.gather(counts, at), step)
        positions = builder.sub(positions, builder.gather(extents.shift, at))
        shown = look_up(builder, pad.known_modes, none).within(builder, positions, builder.gather(extents.window, at))
        if extents.start is not None:
            shown = builder.add(shown, builder.gather(extents.start, at))
        work.replace_axis(axis, [work.gather(axis, shown)], builder.gather(extents.output, ints(axis)))
    if may_reshape:
        # Where nothing is cropped, a dim that is to be 0 is 0 already, and a 0 in the shape keeps it.
        work.value = builder.emit("Reshape", [work.value, extents.output], {} if grows else {"allowzero": 1})


def fill(work: Work, axis: int, amounts: AxisPlan, with_what: Operand) -> None:
    """Puts fill around, and between, the elements of one axis of known size.

    Args:
        work: The tensor so far; becomes the filled one.
        axis: The axis.
        amounts: Its plan.
        with_what: The fill, one element.
    """
    output = ints(amounts.output)
    if amounts.interior or work.has_no_blocks(with_what):
        block = _block(work, axis, ints(1), with_what)
        work.replace_axis(axis, [work.value, block], ints(amounts.size + 1))
        work.replace_axis(axis, [work.gather(axis, filled(work.builder, amounts))], output)
        return
    first, last = _core(amounts)
    core = work.core(axis, first - amounts.begin, last - amounts.begin)
    if not core:
        first, last = amounts.output, amounts.output
    front, back = first, amounts.output - last
    blocks = {count: _block(work, axis, ints(count), with_what) for count in (front, back) if count}
    parts = [*([blocks[front]] if front else []), *core, *([blocks[back]] if back else [])]
    work.replace_axis(axis, parts or [work.builder.part(work.value, ints(0), ints(0), ints(axis))], output)


def fill_around(work: Work, axis: int, begin: int, end: int, with_what: Operand) -> None:
    """Puts fill around the elements of one axis of any size.

    Args:
        work: The tensor so far; becomes the filled one.
        axis: The axis.
        begin: How many elements in front, at least 0.
        end: How many behind, at least 0.
        with_what: The fill, one element.
    """
    blocks = {count: _block(work, axis, ints(count), with_what) for count in (begin, end) if count}
    parts = [*([blocks[begin]] if begin else []), work.value, *([blocks[end]] if end else [])]
    work.replace_axis(axis, parts, work.builder.add(work.dim(axis), scalar(begin + end)))


def fill_by_computing(work: Work, axes: Sequence[int], with_what: Operand) -> None:
    """Crops, and puts fill around, axes of any size by any amounts, none of which has an interior.

    Where an output would be less than nothing (P1), so is a block of fill, which fails.

    Args:
        work: The tensor so far; becomes the filled one.
        axes: Which axes.
        with_what: The fill, one element.
    """
    builder, pad = work.builder, work.pad
    if pad.only_adds:
        around = amounts_of(builder, pad)
        left: Operand = shape_of(builder, pad)
    else:
        work.value, around = cropped(builder, pad, work.value)
        left = builder.emit("Shape", [work.value])
    work.dims = [builder.gather(left, ints(axis)) if axis in axes else dim for axis, dim in enumerate(work.dims)]
    for axis in axes:
        front, back = (builder.gather(numbers, ints(axis)) for numbers in (around.begin, around.end))
        before, after = ([] if is_number(x, 0) else [_block(work, axis, x, with_what)] for x in (front, back))
        size = builder.add(builder.add(front, work.dim(axis)), back)
        work.replace_axis(axis, [*before, work.value, *after], size)


def _core(amounts: AxisPlan) -> tuple[int, int]:
    """The positions of the output that show elements as they stand."""
    first = min(max(amounts.begin, 0), amounts.output)
    return first, max(min(amounts.begin + amounts.extent, amounts.output), first)


def _block(work: Work, axis: int, count: Operand, with_what: Operand) -> ir.Value:
    """A tensor of fill that is ``count`` long on one axis, and as the others are."""
    builder = work.builder
    shape = builder.concat(*(count if i == axis else work.dim(i) for i in range(len(work.dims))))
    known = with_what if isinstance(with_what, np.ndarray) else None
    largest = MAX_LISTED if builder.opset < FIRST["ConstantOfShape"] else SMALL_BLOCK
    if known is not None and isinstance(shape, np.ndarray) and prod(shape.tolist()) <= largest:
        return builder.constant(np.full(shape, known.reshape(())), "fill")
    if known is not None and known.dtype.kind != "O":
        return builder.emit("ConstantOfShape", [shape], {"value": ir.tensor(known.reshape(1))}, role="fill")
    if not work.has_no_blocks(with_what):
        return builder.emit("Expand", [with_what, shape], role="fill")
    if isinstance(shape, np.ndarray) and prod(shape.tolist()) <= MAX_POSITIONS:
        zeros: Operand = np.zeros(shape, np.int64)
    else:
        zeros = builder.emit("ConstantOfShape", [shape], {"value": ir.tensor(ints(0))})
    return builder.emit("Gather", [with_what, zeros], role="fill")


def plan_of(pad: PadInfo, axis: int, size: int, amounts: plan.Amounts, mode: Mode | None = None) -> AxisPlan:
    """The plan of one axis, of the Pad's mode or of another.

    Args:
        pad: The Pad.
        axis: Which axis.
        size: Of the data.
        amounts: Of the axis.
        mode: Another one than the Pad's.

    Raises:
        PadError: The amounts break a rule on this axis.
    """
    op = pad.op
    (made,) = plan.make_plan([size], [amounts], mode or pad.known_modes[0], op.crop, op.limit, op.clamp).axes
    return made
