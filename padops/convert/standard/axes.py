"""Writes a Pad of known rank, axis by axis.

An axis of known size and amounts needs at most three nodes (strings with an interior and bfloat16 with a computed fill
need four). In modes other than constant, any other axis needs more nodes, which compute source positions at run time.
Before opset 14, Reshape cannot set a dim to 0, so these nodes fail for an axis that is empty at run time, even if the
output has no elements (P5).

**In parts.** For execution providers, the nodes move whole parts of the data where possible. Such nodes compute no
shape and gather by no indices, so none of them runs on the CPU, and ONNX Runtime copies nothing between CPU and device.
Besides, QNN's HTP (2.7.0) has no Gather. A separate Slice reverses a part as a whole: in WebGPU (1.27.0), a Slice with
a negative step is wrong unless the Slice begins at the last element.

If the amount is known, nodes extend an axis of any size n without reading n. They take one period of the padding, or
only the part that the amount needs, repeat these elements often enough even for n = 1, and cut off the surplus:

* wrap by b in front: take the last b elements (all n if n < b), repeat them b times, keep the last b.
* reflect by b in front: take the first b + 1 elements; append the same elements in reverse, without the first and last;
  repeat the result b times; keep the last b.

For an axis that is empty at run time, these nodes return an empty result, although a Pad must fail (P5).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert.pads.pad_info import Operand, PadInfo, all_known
from padops.convert.standard import graph_builder
from padops.convert.standard.graph_builder import Number, Numbers, arange, emit, here, ints, is_number, part, take
from padops.convert.standard.pad_values import AxisAmounts, Extents, any_fill, apart, look_up, shape_of
from padops.spec import plan
from padops.spec.dtypes import by_name
from padops.spec.plan import AxisPlan, Limit, Mode, source_index

# One Gather pads an axis with at least this many adjacent elements per position, or at most this many positions.
# Otherwise it is quicker to concatenate the data with gathered padding.
LONG_RUN = 16
MAX_POSITIONS = 4096  # in one constant of the model

# The modes that ``by_parts`` writes; from one element of the padding to the next
STEPS = {Mode.EDGE: 0, Mode.WRAP: 1, Mode.REFLECT: -1, Mode.SYMMETRIC: -1}
SMALL_BLOCK = 256  # most elements of a block of fill stored as a constant rather than computed by a node


class Work:
    """A tensor while its axes are being padded."""

    def __init__(self, pad: PadInfo) -> None:
        assert pad.dims is not None, "the rank is known"
        self.pad, self.value = pad, pad.data  # the tensor so far
        # One vector of one element per dim; None until a dim is read
        self.dims: list[Numbers | None] = [None if dim is None else ints(dim) for dim in pad.dims]
        # For strings, Gather must move single elements: ONNX Runtime's Gather moves only the first string of each run.
        self.by_elements = pad.type == "string"

    @staticmethod
    def filling(pad: PadInfo) -> tuple[Work, Operand]:
        """Return a ``Work`` for mode constant, and the fill in the form that the ``Work`` needs."""
        with_what, work = any_fill(pad), Work(pad)
        return work, graph_builder.reshape(with_what, ints(1)) if work.has_no_blocks(with_what) else with_what

    def dim(self, axis: int) -> Numbers:
        size = self.dims[axis]
        if size is None:
            size = self.dims[axis] = take(shape_of(self.pad), ints(axis))
        return size

    def has_no_blocks(self, with_what: Operand) -> bool:
        """Return whether Gather must repeat the fill, because ONNX Runtime's Expand has no bfloat16."""
        return self.pad.type == "bfloat16" and isinstance(with_what, ir.Value)

    def gather(self, axis: int, positions: Numbers) -> Number:
        last = len(self.dims) - 1
        if not self.by_elements or axis == last:
            return emit("Gather", [self.value, positions], {"axis": axis} if axis else {})
        order = [*range(axis), last, *range(axis + 1, last), axis]
        turned = emit("Transpose", [self.value], {"perm": order})
        return emit("Transpose", [emit("Gather", [turned, positions], {"axis": last})], {"perm": order})

    def core(self, axis: int, start: int, stop: int) -> list[ir.Value]:
        """Return a list with the part from ``start`` to ``stop`` along an axis; an empty list if the range is empty."""
        if stop <= start:
            return []
        size = self.dims[axis]
        whole = start == 0 and isinstance(size, np.ndarray) and stop == size[0]
        return [self.value if whole else _part(self.value, axis, start, stop)]

    def replace_axis(self, axis: int, parts: Sequence[ir.Value], size: Numbers) -> None:
        """Concatenate one or more parts along an axis; ``size``, a vector of one element, is the new size."""
        self.value = _joined(axis, *parts)
        self.dims[axis] = size


def extend(work: Work, axis: int, amounts: AxisPlan, mode: Mode) -> None:
    """Extend one axis of known size by known amounts, in any mode but constant."""

    def gathered(start: int, stop: int) -> list[ir.Value]:
        """Return the elements of the data that fill a range of the output (P2)."""
        return [work.gather(axis, source_index(amounts, mode, np.arange(start, stop)))] if start < stop else []

    first, last = _core(amounts)
    # The number of adjacent elements at one position of the axis; an unknown dim counts as 1.
    run = prod(int(dim[0]) for dim in work.dims[axis + 1 :] if isinstance(dim, np.ndarray))
    alone = first == last or amounts.output <= LONG_RUN or run >= LONG_RUN
    if work.by_elements or (alone and amounts.output <= MAX_POSITIONS):
        parts = gathered(0, amounts.output)
    else:
        offset = amounts.start - amounts.begin
        parts = gathered(0, first)
        parts += work.core(axis, first + offset, last + offset)
        parts += gathered(last, amounts.output)
    work.replace_axis(axis, parts or [work.gather(axis, ints())], ints(amounts.output))


def extend_by_computing(work: Work, axes: Sequence[int], amounts: AxisAmounts) -> None:
    """Pad along each of ``axes`` by a Gather at positions computed at run time; ``amounts`` covers every axis."""
    if not axes:
        return
    pad, first = work.pad, graph_builder.scalar(0)
    extents = Extents.of(pad.op, shape_of(pad), amounts)
    step: Numbers | int = 1
    grows = all(not isinstance(x, Number) and (x >= 0).all() for x in (amounts.begin, amounts.end))
    if pad.op.limit is not Limit.NONE or not grows:
        step = extents.checked_step(pad.op, pad.known_modes, first, amounts)
    # An axis without elements gets no positions; the Reshape at the end fails if the output has elements (P5).
    may_reshape = here().opset >= 14  # the first opset with allowzero
    counts = extents.output
    if may_reshape:
        # A factor of 1 or 0: a multiplication by the window itself would overflow beyond 2^31.5 elements.
        counts = counts * np.minimum(np.maximum(extents.window, 0), 1)
    extension = look_up(pad.known_modes, first)
    for axis in axes:
        shown = extents.shown(extension, axis, take(counts, axis), step)
        work.replace_axis(axis, [work.gather(axis, shown)], take(extents.output, ints(axis)))
    if may_reshape:
        # Without cropping, an output dim of 0 is already 0 in the input, and a 0 in Reshape's shape keeps this dim.
        work.value = emit("Reshape", [work.value, extents.output], {} if grows else {"allowzero": 1})


def fill(work: Work, axis: int, amounts: AxisPlan | AxisAmounts, with_what: Operand) -> None:
    """Add fill around the elements of one axis; an ``AxisPlan`` may also crop, or add fill between elements (P3, P6).

    An ``AxisAmounts`` crops nothing; its vectors have one element, for this axis. If the output dim would be negative
    (P1), the dim of a block of fill is negative, so the node that writes the block fails.
    """
    core: list[ir.Value] = [work.value]
    front: Numbers
    back: Numbers
    if isinstance(amounts, AxisAmounts):
        front, back = amounts.begin, amounts.end
    elif amounts.interior or work.has_no_blocks(with_what):
        work.value = _joined(axis, work.value, _block(work, axis, ints(1), with_what))
        # The fill is one past the last element. The model stores up to ``MAX_LISTED`` positions; nodes compute more.
        inside, shown = apart(arange(amounts.output) - amounts.begin, amounts.interior + 1, amounts.extent)
        positions = np.where(inside, shown + amounts.start, amounts.size)
        work.replace_axis(axis, [work.gather(axis, positions)], ints(amounts.output))
        return
    else:
        first, last = _core(amounts)
        core = work.core(axis, first - amounts.begin, last - amounts.begin)
        work.dims[axis] = ints(last - first)
        front, back = (ints(first), ints(amounts.output - last)) if core else (ints(amounts.output), ints(0))
    known = not isinstance(front, Number) and not isinstance(back, Number)
    before = [] if is_number(front, 0) else [_block(work, axis, front, with_what)]
    after = before
    if not known or front != back:
        after = [] if is_number(back, 0) else [_block(work, axis, back, with_what)]
    output = work.dim(axis) + take(front + back, 0) if known else front + work.dim(axis) + back
    work.replace_axis(axis, [*before, *core, *after] or [_part(work.value, axis, 0, 0)], output)


def _core(amounts: AxisPlan) -> tuple[int, int]:
    """Return the range of output positions that show elements of the data rather than padding."""
    first = min(max(amounts.begin, 0), amounts.output)
    return first, max(min(amounts.begin + amounts.extent, amounts.output), first)


def _block(work: Work, axis: int, count: Numbers, with_what: Operand) -> ir.Value:
    """Return a tensor of fill with ``count`` elements on ``axis``, and the data's dims on the other axes."""
    shape: Numbers = np.concatenate([count if i == axis else work.dim(i) for i in range(len(work.dims))])
    dims = None if isinstance(shape, Number) else shape.tolist()
    if not isinstance(with_what, ir.Value):
        largest = graph_builder.MAX_LISTED if here().opset < graph_builder.FIRST["ConstantOfShape"] else SMALL_BLOCK
        if dims is not None and prod(dims) <= largest:
            return here().constant(np.full(dims, with_what.reshape(())), "fill")
        if with_what.dtype.kind != "O":
            return emit("ConstantOfShape", [shape], {"value": ir.tensor(with_what.reshape(1))}, role="fill")
    if not work.has_no_blocks(with_what):
        return emit("Expand", [with_what, shape], role="fill")
    zeros: Numbers
    if dims is not None and prod(dims) <= MAX_POSITIONS:
        zeros = np.zeros(dims, np.int64)
    else:
        zeros = emit("ConstantOfShape", [shape], {"value": ir.tensor(ints(0))})
    return emit("Gather", [with_what, zeros], role="fill")


def plan_of(pad: PadInfo, size: int, amounts: plan.Amounts) -> AxisPlan:
    op = pad.op
    (made,) = plan.make_plan([size], [amounts], pad.known_modes[0], op.crop, op.limit, op.clamp).axes
    return made


TO_THE_END = 2**63 - 1  # the end of a Slice that reads all elements; its negative ends a backward Slice

FLOATS = ("float", "float16", "double")
SUMMED = (*FLOATS, "int32", "int64")  # element types of onnxruntime's ReduceSum
TILED = 8  # the most repeats of a part by one node, which limits the elements cut off later


def _part(value: ir.Value, axis: int, start: int, stop: int = TO_THE_END) -> ir.Value:
    """Return elements ``start`` to ``stop`` by Slice: negative bounds count from the end; all bounds are clamped."""
    return part(value, ints(start), ints(stop), ints(axis))


def _turned(value: ir.Value, axis: int) -> ir.Value:
    """Return all elements in reverse order."""
    return part(value, ints(-1), ints(-TO_THE_END), ints(axis), ints(-1))


def _joined(axis: int, *parts: ir.Value) -> ir.Value:
    return parts[0] if len(parts) == 1 else emit("Concat", parts, {"axis": axis})


def _repeated(work: Work, axis: int, op_type: str, value: ir.Value, count: int) -> ir.Value:
    """Repeat a part ``count`` times: by Tile, or by Expand if the part is one element."""
    return value if count == 1 else emit(op_type, [value, np.where(np.arange(len(work.dims)) == axis, count, 1)])


def _extend_in_parts(work: Work, axis: int, row: AxisPlan, mode: Mode) -> None:
    """Extend or crop one axis of known size, in any mode but constant; the output has elements."""
    first, behind, size = -row.begin, row.output - row.begin, row.extent  # relative to the window's first element
    mode = Mode.EDGE if size == 1 else mode
    step = STEPS[mode]
    window = range(row.start + max(first, 0), row.start + min(behind, size))
    front, back = (
        source_index(row, mode, np.arange(*side) + row.begin).tolist()
        for side in ((first, min(behind, 0)), (max(first, size), behind))
    )
    pieces = [(front, step), (window, 1), (back, step)] if size > 1 else [([row.start] * row.output, 0)]
    if all(b - a == step for side in (front, back) for a, b in zip(side, side[1:])):
        parts = []
        for shown, way in pieces:
            for piece in work.core(axis, min(shown), max(shown) + 1) if shown else ():
                if way < 0 and len(shown) > 1:
                    parts.append(_turned(piece, axis))
                else:
                    parts.append(_repeated(work, axis, "Expand", piece, 1 if way else len(shown)))
    else:  # a side shows an element more than once
        (period,) = work.core(axis, row.start, row.start + size)
        if mode is Mode.SYMMETRIC:
            period, size = _joined(axis, period, _turned(period, axis)), 2 * size
        elif mode is Mode.REFLECT and size > 2:
            inside = _part(period, axis, 1, size - 1)
            period, size = _joined(axis, period, _turned(inside, axis) if size > 3 else inside), 2 * size - 2
        start = first % size
        count = -(-(start + row.output) // size)
        tiled = _repeated(work, axis, "Tile", period, count)
        parts = [tiled if row.output == count * size else _part(tiled, axis, start, start + row.output)]
    work.replace_axis(axis, parts, ints(row.output))


def by_parts(pad: PadInfo, known: Sequence[plan.Amounts]) -> ir.Value | None:
    """Write a Pad of known amounts by moving parts; return None if moving parts is not enough."""
    assert pad.dims is not None, "without dims there are no amounts of each axis"
    padded = [(i, size, known[i]) for i, size in enumerate(pad.dims) if known[i] != plan.NOTHING]
    only_adds = not any(one.crops for _, size, one in padded if size is None)
    checked = pad.op.limit is not Limit.NONE or pad.mode is Mode.SYMMETRIC  # P4, by the size of each axis
    if not only_adds or (checked and None in pad.dims):
        return None
    fills, mode = pad.mode is Mode.CONSTANT, pad.known_modes[0]
    may_sum = pad.type in SUMMED and here().opset >= graph_builder.FIRST["Where"]
    grows = not any(one.crops or one.interior for one in known)
    if fills and (not may_sum or all_known(pad.dims) or not grows):
        return None
    if not fills and mode not in STEPS:
        return None
    work, with_what = Work.filling(pad) if fills else (Work(pad), None)
    for i, size, one in padded:
        if with_what is not None:
            _fill_any(work, i, one.begin, one.end, with_what)
        elif size is None:
            front = _side(work, i, one.begin, mode, True)
            parts = [*front, work.value, *_side(work, i, one.end, mode, False)]
            work.value = _joined(i, *parts)  # nothing reads ``work.dims[i]`` afterwards
        else:
            _extend_in_parts(work, i, plan_of(pad, size, one), mode)
    return work.value


def _side(work: Work, axis: int, count: int, mode: Mode, in_front: bool) -> list[ir.Value]:
    """Return the padding in front of an axis of any size if ``in_front``, else the padding behind the axis."""
    if not count:
        return []
    bounds = (-count, TO_THE_END) if in_front else (0, count)  # of the ``count`` elements next to the data
    if mode is Mode.WRAP:
        period = _part(work.value, axis, *bounds)
    else:
        reach = 1 if mode is Mode.EDGE else count + 1
        near = _part(work.value, axis, 0, reach) if in_front else _part(work.value, axis, -reach)
        if mode is Mode.EDGE:
            return [_repeated(work, axis, "Expand", near, count)]
        if count == 1:  # reflect shows the second element, or the only element
            return [_part(near, axis, -1) if in_front else _part(near, axis, 0, 1)]
        inside = _turned(_part(near, axis, 1, -1), axis)
        period = _joined(axis, near, inside) if in_front else _joined(axis, inside, near)
    reps = count
    while reps > 1:
        period = _part(_repeated(work, axis, "Tile", period, min(reps, TILED)), axis, *bounds)
        reps = -(-reps // TILED)
    return [period]


def _fill_any(work: Work, axis: int, begin: int, end: int, with_what: Operand) -> None:
    """Add fill around the elements of one axis of any size, by amounts of at least 0.

    The operator Where makes a block of fill. The block's other dims come from a ReduceSum over the first position of
    the axis, because a sum exists even if the axis is empty. The condition is false everywhere, so Where returns the
    fill.

    If the fill may be -0.0, a node computes the condition that the sum is less than -inf, which is never true. With a
    constant condition and the sum as the unused choice, the operator Where would turn -0.0 into +0.0 on the CPU (1.20
    to 1.32).
    """
    fill = with_what.reshape(1) if isinstance(with_what, np.ndarray) else with_what
    one = graph_builder.with_axis("ReduceSum", _part(work.value, axis, 0, 1), axis)
    may_be_negative_zero = isinstance(fill, ir.Value) or (fill.dtype.kind == "f" and fill == 0 and np.signbit(fill))
    kind = work.pad.type if may_be_negative_zero else None
    blocks: dict[int, list[ir.Value]] = {0: []}
    for count in sorted({begin, end} - {0}):
        dims = [count if i == axis else 1 for i in range(len(work.dims))]
        never: Operand = np.zeros(dims, bool)
        if kind in FLOATS:
            never = emit("Less", [one, np.full(dims, -np.inf, by_name(kind).numpy)])
        blocks[count] = [emit("Where", [never, fill if kind in FLOATS else one, fill], role="fill")]
    work.value = _joined(axis, *blocks[begin], work.value, *blocks[end])
