"""The whole of a Pad in standard operators, whatever the rank, the shape and the amounts are.

Where ONNX Runtime's Pad does not do it, indices are computed at run time. The data are laid out flat, with the fill
behind them where there is one, and one Gather takes the output out of them. A Loop over the axes makes its indices, of
the output's shape, by Horner's scheme: with the indices i of the axes so far, the next axis of n elements makes them
``i * n + j``. Index -1 is the fill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from padops.convert.pads.match import Unconvertible
from padops.convert.pads.pad_info import Operand, PadInfo
from padops.convert.runtimes.builtin import FIRST_WITH_INPUTS, has_modes
from padops.convert.standard import ort_pad
from padops.convert.standard.graph_builder import (
    BOOL,
    INT64,
    Number,
    Numbers,
    arange,
    emit,
    flatten,
    here,
    ints,
    lowest,
    reshape,
    scalar,
    take,
)
from padops.convert.standard.pad_values import (
    AxisAmounts,
    Extents,
    amounts_of,
    any_fill,
    look_up,
    mode_of,
    rank_of,
    shape_of,
)
from padops.spec.plan import Mode

# From an axis and the indices so far, with a last dim of 1 added: the indices with this axis.
Row = Callable[[Number, Numbers], Numbers]


@dataclass(frozen=True)
class Guarantees:
    """What is known of every call of a body, and allows for a shorter one."""

    typed: bool  # ONNX Runtime's Pad has the type of the data
    ranked: bool  # the data have at least one dim
    right: bool  # ONNX Runtime's Pad is right for what is asked of it, whatever the mode
    or_fails: bool  # it is right or can be made to fail, and that is enough; see ``fallback.Calls``
    leaves_some: bool  # in mode constant, no axis is cropped away wholly; see ``ort_pad.cropped``
    reach: np.ndarray | None = None  # the greater amount of each axis in mode reflect, where all calls have the same
    # ONNX Runtime's Pad may pad indices: where they are constant, 1.24 to 1.27 fold them in a branch, and lose those of
    # more than 127 bytes.
    pads_indices: bool = True
    flat: bool = False  # there is to be no If or Loop within an If; see ``pad_values.check_nesting``


def write(pad: PadInfo, guarantees: Guarantees, branches: bool = True) -> Number:
    """Writes a Pad; ``branches`` says whether to leave what the built-in can do to it, by an If."""
    if pad.dims == []:
        return emit("Identity", [pad.data])  # P5: rank 0 passes through
    if guarantees.right and guarantees.typed:
        return ort_pad.on_data(pad, ort_pad.own_amounts(pad))
    if here().opset < FIRST_WITH_INPUTS:
        return _before_integers(pad, guarantees)
    if guarantees.or_fails:
        return ort_pad.on_data_or_fail(pad, guarantees.reach)
    computed = not here().has_pad or not (guarantees.typed or guarantees.pads_indices)
    by_indices = computed or (guarantees.flat and len(pad.known_modes) > 1)
    if pad.may_have_interior or (by_indices and Mode.CONSTANT in pad.known_modes):
        return _interior_or_not(pad, guarantees.flat)
    if pad.known_modes == (Mode.CONSTANT,):
        return _finish(pad, guarantees, lambda: _constant(pad, guarantees))
    choice = mode_of(pad)
    amounts = amounts_of(pad)
    rank_of(pad)  # the branches have it in common

    if Mode.CONSTANT not in pad.known_modes or guarantees.leaves_some:
        branches = branches and not guarantees.flat
        return _finish(pad, guarantees, lambda: _extend(pad, guarantees, choice, amounts, branches))
    constant = np.equal(choice, pad.known_modes.index(Mode.CONSTANT))
    filled = pad.only(Mode.CONSTANT)

    def extend() -> Operand:
        # ONNX Runtime crashes where it folds an If in an If with a Loop in it (1.31), so there is no third way beside
        # two.
        return _extend(pad, guarantees, choice, _unless(constant, amounts), branches=False)

    return _finish(pad, guarantees, lambda: here().choose(constant, lambda: _constant(filled, guarantees), extend))


def _finish(pad: PadInfo, guarantees: Guarantees, write_part: Callable[[], Operand]) -> Number:
    """The output from what a part writes: the output itself where the built-in has the type, else flat indices."""
    if guarantees.typed:
        output = write_part()
        assert isinstance(output, Number), "only flat indices can be known"
        return output
    fill = any_fill(pad) if Mode.CONSTANT in pad.known_modes else None
    return _taken(pad.data, fill, write_part())


def _constant(pad: PadInfo, guarantees: Guarantees) -> Operand:
    """Mode constant and nothing else: the output or, where the built-in does not have the type, flat indices."""
    if not guarantees.ranked:
        has_dims = reshape(rank_of(pad), ints()) > 0
        ranked = replace(guarantees, ranked=True)
        return here().choose(
            has_dims,
            lambda: _constant(pad, ranked),
            lambda: emit("Identity", [pad.data]) if guarantees.typed else scalar(0),
        )
    source: Operand = pad.data if guarantees.typed else ort_pad.iota(pad)
    if guarantees.leaves_some:
        amounts = ort_pad.own_amounts(pad)
    else:
        source, amounts = ort_pad.cropped(pad, source)
    return ort_pad.on_data(pad, amounts, source, numbered=not guarantees.typed)


def _extend(pad: PadInfo, guarantees: Guarantees, choice: Numbers, amounts: AxisAmounts, branches: bool) -> Operand:
    """The other modes, and constant where it keeps something: the output, or flat indices."""

    def compute() -> Operand:
        indices = _indices(pad, choice, amounts)
        return _taken(pad.data, None, indices) if guarantees.typed else indices

    if not branches or not guarantees.typed or (len(pad.modes) == 1 and not has_modes(pad, here().opset)):
        return compute()

    def delegate() -> Operand:
        return ort_pad.on_data(pad, None if ort_pad.takes_inputs(here().opset, pad) else amounts, pad.data)

    return here().choose(ort_pad.is_right(pad, choice, amounts), delegate, compute)


def _before_integers(pad: PadInfo, guarantees: Guarantees) -> Number:
    """ONNX Runtime's Pad or nothing: indices cannot be computed yet."""
    if not here().has_pad:
        raise Unconvertible(f"without Pad, opset {here().opset} has no operators that do the same")
    if not guarantees.typed:
        raise Unconvertible(f"ONNX Runtime's Pad of opset {here().opset} does not have {pad.type or 'the types'}")
    if pad.known_modes != (Mode.CONSTANT,):
        raise Unconvertible(
            f"ONNX Runtime's Pad may get it wrong, and opset {here().opset} has no other operators that do the same"
        )
    return ort_pad.on_data(pad, ort_pad.own_amounts(pad))


def _interior_or_not(pad: PadInfo, flat: bool) -> Number:
    """Pads by indices alone: for nGraph's interior in mode constant (P6), without Pad, or on flat data."""
    amounts = amounts_of(pad)
    if pad.known_modes == (Mode.CONSTANT,):
        indices: Operand = _filled_indices(pad, amounts)
        return _taken(pad.data, any_fill(pad), indices)
    choice = mode_of(pad)
    rank_of(pad)
    constant = np.equal(choice, pad.known_modes.index(Mode.CONSTANT))

    def fill() -> Number:
        return _filled_indices(pad, amounts.map(lambda x: np.where(constant, x, 0)) if flat else amounts)

    def extend() -> Number:
        return _indices(pad, choice, _unless(constant, amounts))

    if flat:  # both are made, the one that is not meant of amounts of 0, which break no rule
        filled, extended = fill(), extend()
        indices = here().choose(constant, lambda: filled, lambda: extended)
    else:
        indices = here().choose(constant, fill, extend)
    return _taken(pad.data, any_fill(pad), indices)


def _unless(constant: Numbers, amounts: AxisAmounts) -> AxisAmounts:
    """The amounts, or zeros where the mode is constant: ONNX Runtime may fold a branch that is not taken, and fail."""
    return amounts.map(lambda x: np.where(constant, 0, x))


def _indices(pad: PadInfo, choice: Numbers, amounts: AxisAmounts) -> Number:
    """For each element of the output, its index in the flat data, extended in the mode at ``choice``."""
    size = shape_of(pad)
    extents = Extents.of(pad.op, size, amounts)
    step = extents.checked_step(pad.op, pad.known_modes, choice, amounts)
    extension = look_up(pad.known_modes, choice)

    def row(axis: Number, so_far: Numbers) -> Numbers:
        shown = extents.shown(extension, axis, take(extents.output, axis), step)
        return so_far * take(size, axis) + shown

    return _over_axes(pad, row)


def _filled_indices(pad: PadInfo, amounts: AxisAmounts) -> Number:
    """The indices for mode constant, with fill between the elements of an axis, too (P6)."""
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


def _taken(data: ir.Value, fill: Operand | None, indices: Operand) -> Number:
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
