"""The whole of a Pad in standard operators, for any rank: which of the ways are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes.builtin_support import FIRST_WITH_INPUTS, has_modes
from padops.convert.standard import dynamic_rank, ort_pad
from padops.convert.standard.amounts import Amounts, amounts_of
from padops.convert.standard.arithmetic import ints, scalar
from padops.convert.standard.graph_builder import GraphBuilder
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


def write(builder: GraphBuilder, pad: PadInfo, guarantees: Guarantees, branches: bool = True) -> ir.Value:
    """Writes a Pad.

    Args:
        builder: Where to.
        pad: The Pad.
        guarantees: What is known of it.
        branches: Whether to leave what the built-in can do to it, by an If.

    Returns:
        The output.

    Raises:
        Unconvertible: The opset has no way to do it.
    """
    if pad.dims == []:
        return builder.emit("Identity", [pad.data])  # P5: rank 0 passes through
    if builder.opset < FIRST_WITH_INPUTS:
        return _before_integers(builder, pad, guarantees)
    if guarantees.right and guarantees.typed:
        return ort_pad.on_data(builder, pad, ort_pad.own_amounts(builder, pad))
    if guarantees.or_fails:
        return ort_pad.on_data_or_fail(builder, pad, guarantees.reach)
    by_indices = not builder.has_pad or (guarantees.flat and len(pad.known_modes) > 1)
    if pad.may_have_interior or (by_indices and Mode.CONSTANT in pad.known_modes):
        return _interior_or_not(builder, pad, guarantees.flat)
    if pad.known_modes == (Mode.CONSTANT,):
        return _finish(builder, pad, guarantees, lambda inner: _constant(inner, pad, guarantees))
    choice = mode_of(builder, pad)
    amounts = amounts_of(builder, pad)
    rank_of(builder, pad)  # the branches have it in common

    alone = Mode.CONSTANT not in pad.known_modes or guarantees.leaves_some

    def extend(inner: GraphBuilder) -> Operand:
        # ONNX Runtime crashes where it folds an If in an If with a Loop in it (1.31), so there is no third way beside two.
        return _extend(inner, pad, guarantees, choice, amounts, branches and alone and not guarantees.flat)

    if alone:
        return _finish(builder, pad, guarantees, extend)
    constant = builder.equal(choice, scalar(pad.known_modes.index(Mode.CONSTANT)))
    filled = pad.only(Mode.CONSTANT)
    return _finish(
        builder,
        pad,
        guarantees,
        lambda outer: outer.choose(constant, lambda inner: _constant(inner, filled, guarantees), extend),
    )


def _finish(
    builder: GraphBuilder, pad: PadInfo, guarantees: Guarantees, write_part: Callable[[GraphBuilder], Operand]
) -> ir.Value:
    """The output from what a part writes: the output itself where the built-in has the type, else flat indices."""
    if guarantees.typed:
        output = write_part(builder)
        assert isinstance(output, ir.Value), "only flat indices can be known"
        return output
    fill = any_fill(builder, pad) if Mode.CONSTANT in pad.known_modes else None
    return dynamic_rank.take(builder, pad.data, fill, write_part(builder))


def _constant(builder: GraphBuilder, pad: PadInfo, guarantees: Guarantees) -> Operand:
    """Mode constant and nothing else: the output or, where the built-in does not have the type, flat indices."""
    if not guarantees.ranked:
        has_dims = builder.less(scalar(0), builder.reshape(rank_of(builder, pad), ints()))
        ranked = replace(guarantees, ranked=True)
        return builder.choose(
            has_dims,
            lambda inner: _constant(inner, pad, ranked),
            lambda inner: inner.emit("Identity", [pad.data]) if guarantees.typed else scalar(0),
        )
    source: Operand = pad.data if guarantees.typed else ort_pad.iota(builder, pad)
    if guarantees.leaves_some:
        amounts = ort_pad.own_amounts(builder, pad)
    else:
        source, amounts = ort_pad.cropped(builder, pad, source)
    return ort_pad.on_data(builder, pad, amounts, source, numbered=not guarantees.typed)


def _extend(
    builder: GraphBuilder, pad: PadInfo, guarantees: Guarantees, choice: Operand, amounts: Amounts, branches: bool
) -> Operand:
    """The other modes, and constant where it keeps something: the output, or flat indices."""

    def compute(inner: GraphBuilder) -> Operand:
        indices = dynamic_rank.indices(inner, pad, choice, amounts)
        return dynamic_rank.take(inner, pad.data, None, indices) if guarantees.typed else indices

    if not branches or (len(pad.modes) == 1 and not has_modes(pad, builder.opset)):
        return compute(builder)

    def delegate(inner: GraphBuilder) -> Operand:
        if guarantees.typed:
            return ort_pad.on_data(inner, pad, None if ort_pad.takes_inputs(inner.opset, pad) else amounts, pad.data)
        own = ort_pad.bounded_amounts(inner, pad, choice, amounts, may_crop=guarantees.leaves_some)
        return ort_pad.on_data(inner, pad, own, ort_pad.iota(inner, pad), numbered=True)

    return builder.choose(ort_pad.is_right(builder, pad, choice, amounts), delegate, compute)


def _before_integers(builder: GraphBuilder, pad: PadInfo, guarantees: Guarantees) -> ir.Value:
    """ONNX Runtime's Pad or nothing: indices cannot be computed yet."""
    if not builder.has_pad:
        raise Unconvertible(f"without Pad, standard operators cannot compute what it does at opset {builder.opset}")
    if not guarantees.typed:
        raise Unconvertible(f"ONNX Runtime's Pad of opset {builder.opset} does not have {pad.type or 'the types'}")
    if pad.known_modes != (Mode.CONSTANT,) and not guarantees.right:
        raise Unconvertible(
            f"ONNX Runtime's Pad is not sure to be right for it, and standard operators can do no more at opset "
            f"{builder.opset}"
        )
    return ort_pad.on_data(builder, pad, ort_pad.own_amounts(builder, pad))


def _interior_or_not(builder: GraphBuilder, pad: PadInfo, flat: bool) -> ir.Value:
    """By indices alone: nGraph's Pad, which may have an interior in mode constant (P6), and what is to be no Pad, or flat."""
    amounts = amounts_of(builder, pad)
    if pad.known_modes == (Mode.CONSTANT,):
        indices = dynamic_rank.filled_indices(builder, pad, amounts)
        return dynamic_rank.take(builder, pad.data, any_fill(builder, pad), indices)
    choice = mode_of(builder, pad)
    rank_of(builder, pad)
    constant = builder.equal(choice, scalar(pad.known_modes.index(Mode.CONSTANT)))
    if flat:  # both are made, the one that is not meant of amounts of 0, which break no rule
        filled = dynamic_rank.filled_indices(builder, pad, amounts.map(lambda x: builder.where(constant, x, scalar(0))))
        others = amounts.map(lambda x: builder.where(constant, scalar(0), x))
        extended = dynamic_rank.indices(builder, pad, choice, others)
        indices = builder.choose(constant, lambda then: filled, lambda other: extended)
    else:
        indices = builder.choose(
            constant,
            lambda then: dynamic_rank.filled_indices(then, pad, amounts),
            lambda other: dynamic_rank.indices(other, pad, choice, amounts),
        )
    return dynamic_rank.take(builder, pad.data, any_fill(builder, pad), indices)
