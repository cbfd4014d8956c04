"""Pads of known rank, axis by axis: Gather gives the borders, Slice what is left, and Concat joins them.

If size and amounts are known, an axis takes at most three nodes; of strings with an interior, and of bfloat16 with a
computed fill, four, and the Pad one more. Else nodes compute the positions first. Then, before opset 14, an axis that
is empty at run time cannot be extended, even if the output has no elements (P5): Gather refuses positions that do not
exist, and Reshape has no empty shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.standard.extension import AxisAmounts, Extents, amounts_of, filled, look_up
from padops.convert.standard.graph_builder import FIRST, here
from padops.convert.standard.numbers import MAX_LISTED, Number, Numbers, emit, ints, is_number, part, scalar, take
from padops.convert.standard.ort_pad import cropped
from padops.convert.standard.pad_values import shape_of
from padops.spec import plan
from padops.spec.plan import AxisPlan, Limit, Mode, source_index

# An axis is one Gather if each position has so many elements side by side (else copying rows is quicker), or if it has
# no more positions than this.
LONG_RUN = 16
MAX_POSITIONS = 4096  # in one constant of the model

FIRST_WITH_EMPTY_RESHAPE = 14  # it has allowzero

SMALL_BLOCK = 256  # elements of a block of fill that is a constant rather than a node


@dataclass
class Work:
    """A tensor while its axes are being padded."""

    pad: PadInfo
    value: ir.Value  # so far
    # A vector of one element for each dim; None for a dim that nobody has asked for yet
    dims: list[Numbers | None]

    @staticmethod
    def begin(pad: PadInfo) -> Work:
        """The data of a Pad, before any axis is padded."""
        assert pad.dims is not None, "the rank is known"
        return Work(pad, pad.data, [None if dim is None else ints(dim) for dim in pad.dims])

    def dim(self, axis: int) -> Numbers:
        """The size of an axis, as a vector of one element."""
        size = self.dims[axis]
        if size is None:
            size = self.dims[axis] = take(shape_of(self.pad), ints(axis))
        return size

    def run(self, axis: int) -> int:
        """The elements side by side at one position of an axis; an unknown dim counts as 1."""
        return prod(int(dim[0]) for dim in self.dims[axis + 1 :] if isinstance(dim, np.ndarray))

    @property
    def by_elements(self) -> bool:
        """Whether Gather may move single elements only: of strings, ONNX Runtime's moves the first of every run."""
        return self.pad.type == "string"

    def has_no_blocks(self, with_what: Operand) -> bool:
        """Whether Gather has to repeat the fill, since ONNX Runtime's Expand has no bfloat16."""
        return self.pad.type == "bfloat16" and isinstance(with_what, ir.Value)

    def listed(self, amounts: AxisPlan) -> int:
        """How many positions ``extend`` lists for an axis, at least."""
        return amounts.output if self.by_elements else amounts.output - amounts.extent

    def gather(self, axis: int, positions: Numbers) -> Number:
        """The tensor at some positions of an axis."""
        last = len(self.dims) - 1
        if not self.by_elements or axis == last:
            return emit("Gather", [self.value, positions], {"axis": axis} if axis else {})
        order = [*range(axis), last, *range(axis + 1, last), axis]
        turned = emit("Transpose", [self.value], {"perm": order})
        return emit("Transpose", [emit("Gather", [turned, positions], {"axis": last})], {"perm": order})

    def core(self, axis: int, start: int, stop: int) -> list[ir.Value]:
        """The tensor from ``start`` to ``stop`` along an axis; nothing where that is empty."""
        if stop <= start:
            return []
        size = self.dims[axis]
        whole = start == 0 and isinstance(size, np.ndarray) and stop == size[0]
        return [self.value if whole else part(self.value, ints(start), ints(stop), ints(axis))]

    def replace_axis(self, axis: int, parts: Sequence[ir.Value], size: Numbers) -> None:
        """Puts parts, at least one, one after another along an axis that is then of this size, one element."""
        self.value = parts[0] if len(parts) == 1 else emit("Concat", parts, {"axis": axis})
        self.dims[axis] = size


def extend(work: Work, axis: int, amounts: AxisPlan, mode: Mode) -> None:
    """Extends one axis of known size by known amounts, in any mode but constant."""
    first, last = _core(amounts)
    output = ints(amounts.output)
    alone = first == last or amounts.output <= LONG_RUN or work.run(axis) >= LONG_RUN
    if work.by_elements or (alone and amounts.output <= MAX_POSITIONS):
        work.replace_axis(axis, [work.gather(axis, _shown(amounts, mode, range(amounts.output)))], output)
        return
    offset = amounts.start - amounts.begin
    front, back = _shown(amounts, mode, range(first)), _shown(amounts, mode, range(last, amounts.output))
    parts: list[ir.Value] = [work.gather(axis, front)] if front.size else []
    parts += work.core(axis, first + offset, last + offset)
    parts += [work.gather(axis, back)] if back.size else []
    work.replace_axis(axis, parts or [work.gather(axis, ints())], output)


def _shown(amounts: AxisPlan, mode: Mode, positions: range) -> np.ndarray:
    """The positions of the source that some of the output show, in a mode that has no fill (P2)."""
    shown = [source_index(amounts, mode, position) for position in positions]
    return ints(*(index for index in shown if index is not None))


def extend_by_computing(work: Work, axes: Sequence[int], amounts: AxisAmounts) -> None:
    """Extends the last axes, by positions computed at run time; ``amounts`` are of every axis."""
    if not axes:
        return
    pad, first = work.pad, scalar(0)
    extents = Extents.of(pad.op, shape_of(pad), amounts)
    step: Numbers | int = 1
    grows = all(not isinstance(x, Number) and (x >= 0).all() for x in (amounts.begin, amounts.end))
    if pad.op.limit is not Limit.NONE or not grows:
        step = extents.checked_step(pad.op, pad.known_modes, first, amounts)
    # An axis without elements gets no positions; the Reshape at the end fails if the output has elements (P5).
    may_reshape = here().opset >= FIRST_WITH_EMPTY_RESHAPE
    counts = extents.output
    if may_reshape:
        # 1 or 0: the product with the window itself would overflow beyond 2^31.5 elements.
        counts = counts * np.minimum(np.maximum(extents.window, 0), 1)
    extension = look_up(pad.known_modes, first)
    for axis in axes:
        shown = extents.shown(extension, axis, take(counts, axis), step)
        work.replace_axis(axis, [work.gather(axis, shown)], take(extents.output, ints(axis)))
    if may_reshape:
        # Where nothing is cropped, a dim that is to be 0 is 0 already, and a 0 in the shape keeps it.
        work.value = emit("Reshape", [work.value, extents.output], {} if grows else {"allowzero": 1})


def fill(work: Work, axis: int, amounts: AxisPlan | AxisAmounts, with_what: Operand) -> None:
    """Puts fill around the elements of one axis; by a plan also between them, or over some (P3, P6).

    Without a plan, nothing is cropped; if a dim of the output would be negative (P1), so is one of a block of fill,
    which fails. ``amounts`` are of this axis alone, one element each.
    """
    core: list[ir.Value] = [work.value]
    front: Numbers
    back: Numbers
    if isinstance(amounts, AxisAmounts):
        front, back = amounts.begin, amounts.end
    elif amounts.interior or work.has_no_blocks(with_what):
        work.replace_axis(axis, [work.value, _block(work, axis, ints(1), with_what)], ints(amounts.size + 1))
        work.replace_axis(axis, [work.gather(axis, filled(amounts))], ints(amounts.output))
        return
    else:
        first, last = _core(amounts)
        core = work.core(axis, first - amounts.begin, last - amounts.begin)
        work.dims[axis] = ints(last - first)
        front, back = (ints(first), ints(amounts.output - last)) if core else (ints(amounts.output), ints(0))
    known = not isinstance(front, Number) and not isinstance(back, Number)
    before = [] if is_number(front, 0) else [_block(work, axis, front, with_what)]
    if known and front == back:
        after = before
    else:
        after = [] if is_number(back, 0) else [_block(work, axis, back, with_what)]
    output = work.dim(axis) + take(front + back, 0) if known else front + work.dim(axis) + back
    parts = [*before, *core, *after] or [part(work.value, ints(0), ints(0), ints(axis))]
    work.replace_axis(axis, parts, output)


def crop_by_computing(work: Work, axes: Sequence[int]) -> AxisAmounts:
    """Crops axes of any size by their negative amounts; returns what is left to add to every axis (P3 FULL)."""
    if work.pad.only_adds:
        around, left = amounts_of(work.pad), shape_of(work.pad)
    else:
        work.value, around = cropped(work.pad, work.value)
        left = emit("Shape", [work.value])
    work.dims = [take(left, ints(axis)) if axis in axes else dim for axis, dim in enumerate(work.dims)]
    return around


def _core(amounts: AxisPlan) -> tuple[int, int]:
    """The positions of the output that show elements as they stand."""
    first = min(max(amounts.begin, 0), amounts.output)
    return first, max(min(amounts.begin + amounts.extent, amounts.output), first)


def _block(work: Work, axis: int, count: Numbers, with_what: Operand) -> ir.Value:
    """A tensor of fill: ``count`` long on one axis, and as long as the data on the others."""
    shape: Numbers = np.concatenate([count if i == axis else work.dim(i) for i in range(len(work.dims))])
    dims = None if isinstance(shape, Number) else shape.tolist()
    if not isinstance(with_what, ir.Value):
        largest = MAX_LISTED if here().opset < FIRST["ConstantOfShape"] else SMALL_BLOCK
        if dims is not None and prod(dims) <= largest:
            return here().constant(np.full(dims, with_what.reshape(())), "fill")
        if with_what.dtype.kind != "O":
            return emit("ConstantOfShape", [shape], {"value": ir.tensor(with_what.reshape(1))}, role="fill")
    if not work.has_no_blocks(with_what):
        return emit("Expand", [with_what, shape], role="fill")
    if dims is not None and prod(dims) <= MAX_POSITIONS:
        zeros: Numbers = np.zeros(dims, np.int64)
    else:
        zeros = emit("ConstantOfShape", [shape], {"value": ir.tensor(ints(0))})
    return emit("Gather", [with_what, zeros], role="fill")


def plan_of(pad: PadInfo, axis: int, size: int, amounts: plan.Amounts, mode: Mode | None = None) -> AxisPlan:
    """The plan of one axis of this size, of the Pad's mode or of another.

    Raises:
        PadError: The amounts break a rule on this axis.
    """
    op = pad.op
    (made,) = plan.make_plan([size], [amounts], mode or pad.known_modes[0], op.crop, op.limit, op.clamp).axes
    return made
