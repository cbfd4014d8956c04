"""The whole of a Pad in standard operators, for any rank: which of the ways are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes.builtin_support import FIRST_WITH_INPUTS, has_modes
from padops.convert.standard import dynamic_rank, ort_pad
from padops.convert.standard.amounts import Amounts, amounts_of
from padops.convert.standard.graph_builder import here
from padops.convert.standard.numbers import Number, Numbers, emit, ints, reshape, scalar
from padops.convert.standard.pad_values import any_fill, mode_of, rank_of
from padops.spec.plan import Mode


@dataclass(frozen=True)
class Guarantees:
    """What is known of every call of a body, and allows for a shorter one.

    Attributes:
        typed: ONNX Runtime's Pad has the type of the data.
        ranked: The data have at least one dim.
        right: ONNX Runtime's Pad is right for what is asked of it, whatever the mode.
        or_fails: It is right or can be made to fail, and that is enough; see ``emit_function.Calls``.
        leaves_some: In mode constant, no axis is cropped away wholly; see ``ort_pad.cropped``.
        reach: The greater amount of each axis in mode reflect, where all calls have the same.
        flat: There is to be no If or Loop within an If; see ``nesting``.
    """

    typed: bool
    ranked: bool
    right: bool
    or_fails: bool
    leaves_some: bool
    reach: np.ndarray | None = None
    flat: bool = False


def write(pad: PadInfo, guarantees: Guarantees, branches: bool = True) -> Number:
    """Writes a Pad; ``branches`` says whether to leave what the built-in can do to it, by an If.

    Raises:
        Unconvertible: The opset has no way to do it.
    """
    if pad.dims == []:
        return emit("Identity", [pad.data])  # P5: rank 0 passes through
    if here().opset < FIRST_WITH_INPUTS:
        return _before_integers(pad, guarantees)
    if guarantees.right and guarantees.typed:
        return ort_pad.on_data(pad, ort_pad.own_amounts(pad))
    if guarantees.or_fails:
        return ort_pad.on_data_or_fail(pad, guarantees.reach)
    by_indices = not here().has_pad or (guarantees.flat and len(pad.known_modes) > 1)
    if pad.may_have_interior or (by_indices and Mode.CONSTANT in pad.known_modes):
        return _interior_or_not(pad, guarantees.flat)
    if pad.known_modes == (Mode.CONSTANT,):
        return _finish(pad, guarantees, lambda: _constant(pad, guarantees))
    choice = mode_of(pad)
    amounts = amounts_of(pad)
    rank_of(pad)  # the branches have it in common

    alone = Mode.CONSTANT not in pad.known_modes or guarantees.leaves_some

    def extend() -> Operand:
        # ONNX Runtime crashes where it folds an If in an If with a Loop in it (1.31), so there is no third way beside
        # two.
        return _extend(pad, guarantees, choice, amounts, branches and alone and not guarantees.flat)

    if alone:
        return _finish(pad, guarantees, extend)
    constant = np.equal(choice, pad.known_modes.index(Mode.CONSTANT))
    filled = pad.only(Mode.CONSTANT)
    return _finish(pad, guarantees, lambda: here().choose(constant, lambda: _constant(filled, guarantees), extend))


def _finish(pad: PadInfo, guarantees: Guarantees, write_part: Callable[[], Operand]) -> Number:
    """The output from what a part writes: the output itself where the built-in has the type, else flat indices."""
    if guarantees.typed:
        output = write_part()
        assert isinstance(output, Number), "only flat indices can be known"
        return output
    fill = any_fill(pad) if Mode.CONSTANT in pad.known_modes else None
    return dynamic_rank.taken(pad.data, fill, write_part())


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


def _extend(pad: PadInfo, guarantees: Guarantees, choice: Numbers, amounts: Amounts, branches: bool) -> Operand:
    """The other modes, and constant where it keeps something: the output, or flat indices."""

    def compute() -> Operand:
        indices = dynamic_rank.indices(pad, choice, amounts)
        return dynamic_rank.taken(pad.data, None, indices) if guarantees.typed else indices

    if not branches or (len(pad.modes) == 1 and not has_modes(pad, here().opset)):
        return compute()

    def delegate() -> Operand:
        if guarantees.typed:
            return ort_pad.on_data(pad, None if ort_pad.takes_inputs(here().opset, pad) else amounts, pad.data)
        own = ort_pad.bounded_amounts(pad, choice, amounts, may_crop=guarantees.leaves_some)
        return ort_pad.on_data(pad, own, ort_pad.iota(pad), numbered=True)

    return here().choose(ort_pad.is_right(pad, choice, amounts), delegate, compute)


def _before_integers(pad: PadInfo, guarantees: Guarantees) -> Number:
    """ONNX Runtime's Pad or nothing: indices cannot be computed yet."""
    if not here().has_pad:
        raise Unconvertible(f"without Pad, standard operators cannot compute what it does at opset {here().opset}")
    if not guarantees.typed:
        raise Unconvertible(f"ONNX Runtime's Pad of opset {here().opset} does not have {pad.type or 'the types'}")
    if pad.known_modes != (Mode.CONSTANT,) and not guarantees.right:
        raise Unconvertible(
            f"ONNX Runtime's Pad is not sure to be right for it, and standard operators can do no more at opset "
            f"{here().opset}"
        )
    return ort_pad.on_data(pad, ort_pad.own_amounts(pad))


def _interior_or_not(pad: PadInfo, flat: bool) -> Number:
    """Pads by indices alone: for nGraph's interior in mode constant (P6), without Pad, or on flat data."""
    amounts = amounts_of(pad)
    if pad.known_modes == (Mode.CONSTANT,):
        indices: Operand = dynamic_rank.filled_indices(pad, amounts)
        return dynamic_rank.taken(pad.data, any_fill(pad), indices)
    choice = mode_of(pad)
    rank_of(pad)
    constant = np.equal(choice, pad.known_modes.index(Mode.CONSTANT))
    if flat:  # both are made, the one that is not meant of amounts of 0, which break no rule
        filled = dynamic_rank.filled_indices(pad, amounts.map(lambda x: np.where(constant, x, 0)))
        extended = dynamic_rank.indices(pad, choice, amounts.map(lambda x: np.where(constant, 0, x)))
        indices = here().choose(constant, lambda: filled, lambda: extended)
    else:
        indices = here().choose(
            constant,
            lambda: dynamic_rank.filled_indices(pad, amounts),
            lambda: dynamic_rank.indices(pad, choice, amounts),
        )
    return dynamic_rank.taken(pad.data, any_fill(pad), indices)
