"""The whole of a Pad in standard operators, for any rank: which of the ways are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from padops.convert.sources.match import Unconvertible
from padops.convert.standard import dynamic_rank as anyrank
from padops.convert.standard import ort_pad as builtin
from padops.convert.standard.amounts import Amounts, amounts_of
from padops.convert.standard.graph_builder import Operand, Tape, ints, scalar
from padops.convert.standard.subject import Subject
from padops.spec.plan import Mode


@dataclass(frozen=True)
class Trust:
    """What is known of every call of a body, and allows for a shorter one.

    Attributes:
        typed: ONNX Runtime's Pad has the type of the data.
        ranked: The data have at least one dim.
        right: ONNX Runtime's Pad is right for what is asked of it, whatever the mode.
        or_fails: It is right or can be made to fail, and that is enough; see ``calls.is_short``.
        furthest: The greater amount of each axis in mode reflect, where all calls have the same.
        keeps: In mode constant, no axis is cropped away wholly; see ``builtin.cropped``.
    """

    typed: bool
    ranked: bool
    right: bool
    or_fails: bool
    keeps: bool
    furthest: np.ndarray | None = None


def write(tape: Tape, subject: Subject, trust: Trust, branches: bool = True) -> ir.Value:
    """Writes a Pad.

    Args:
        tape: Where to.
        subject: The Pad.
        trust: What is known of it.
        branches: Whether to leave what the built-in can do to it, by an If.

    Returns:
        The output.

    Raises:
        Unconvertible: The opset has no way to do it.
    """
    if subject.dims == []:
        return tape.emit("Identity", [subject.data])  # P5: rank 0 passes through
    if tape.opset < builtin.FIRST_WITH_INPUTS:
        return _before_integers(tape, subject, trust)
    if trust.right and trust.typed:
        return builtin.on_data(tape, subject, builtin.own_amounts(tape, subject))
    if trust.or_fails:
        return builtin.on_data_or_fail(tape, subject, trust.furthest)
    if subject.may_have_interior:
        return _interior_or_not(tape, subject)
    if subject.known_modes == (Mode.CONSTANT,):
        return _finish(tape, subject, trust, lambda inner: _constant(inner, subject, trust))
    choice = subject.mode(tape)
    amounts = amounts_of(tape, subject)
    subject.rank(tape)  # the branches have it in common

    alone = Mode.CONSTANT not in subject.known_modes or trust.keeps

    def extend(inner: Tape) -> Operand:
        # ONNX Runtime crashes where it folds an If in an If with a Loop in it (1.31), so there is no third way beside two.
        return _extend(inner, subject, trust, choice, amounts, branches and alone)

    if alone:
        return _finish(tape, subject, trust, extend)
    constant = tape.equal(choice, scalar(subject.known_modes.index(Mode.CONSTANT)))
    filled = subject.only(Mode.CONSTANT)
    return _finish(
        tape,
        subject,
        trust,
        lambda outer: outer.choose(constant, lambda inner: _constant(inner, filled, trust), extend),
    )


def _finish(tape: Tape, subject: Subject, trust: Trust, write_part: Callable[[Tape], Operand]) -> ir.Value:
    """The output from what a part writes: the output itself where the built-in has the type, else flat indices."""
    if trust.typed:
        return write_part(tape)
    fill = subject.any_fill(tape) if Mode.CONSTANT in subject.known_modes else None
    return anyrank.take(tape, subject.data, fill, write_part(tape))


def _constant(tape: Tape, subject: Subject, trust: Trust) -> Operand:
    """Mode constant and nothing else: the output or, where the built-in does not have the type, flat indices."""
    if not trust.ranked:
        has_dims = tape.less(scalar(0), tape.reshape(subject.rank(tape), ints()))
        ranked = replace(trust, ranked=True)
        return tape.choose(
            has_dims,
            lambda inner: _constant(inner, subject, ranked),
            lambda inner: inner.emit("Identity", [subject.data]) if trust.typed else scalar(0),
        )
    source = subject.data if trust.typed else builtin.numbers(tape, subject)
    if trust.keeps:
        amounts = builtin.own_amounts(tape, subject)
    else:
        source, amounts = builtin.cropped(tape, subject, source)
    return builtin.on_data(tape, subject, amounts, source, numbered=not trust.typed)


def _extend(tape: Tape, subject: Subject, trust: Trust, choice: Operand, amounts: Amounts, branches: bool) -> Operand:
    """The other modes, and constant where it keeps something: the output, or flat indices."""

    def compute(inner: Tape) -> Operand:
        indices = anyrank.indices(inner, subject, choice, amounts)
        return anyrank.take(inner, subject.data, None, indices) if trust.typed else indices

    if not branches or (len(subject.modes) == 1 and not subject.is_built_in(tape.opset)):
        return compute(tape)

    def delegate(inner: Tape) -> Operand:
        if trust.typed:
            return builtin.on_data(
                inner, subject, None if builtin.takes_inputs(inner.opset, subject) else amounts, subject.data
            )
        own = builtin.harmless(inner, subject, choice, amounts, may_crop=trust.keeps)
        return builtin.on_data(inner, subject, own, builtin.numbers(inner, subject), numbered=True)

    return tape.choose(builtin.is_right(tape, subject, choice, amounts), delegate, compute)


def _before_integers(tape: Tape, subject: Subject, trust: Trust) -> ir.Value:
    """ONNX Runtime's Pad or nothing: indices cannot be computed yet."""
    if not trust.typed:
        raise Unconvertible(f"ONNX Runtime's Pad of opset {tape.opset} does not have {subject.type or 'the types'}")
    if subject.known_modes != (Mode.CONSTANT,) and not trust.right:
        raise Unconvertible(
            f"ONNX Runtime's Pad is not sure to be right for it, and standard operators can do no more at opset "
            f"{tape.opset}"
        )
    return builtin.on_data(tape, subject, builtin.own_amounts(tape, subject))


def _interior_or_not(tape: Tape, subject: Subject) -> ir.Value:
    """nGraph's Pad, where the amounts may have an interior: in mode constant, since the others have none (P6)."""
    amounts = amounts_of(tape, subject)
    if subject.known_modes == (Mode.CONSTANT,):
        indices = anyrank.filled_indices(tape, subject, amounts)
        return anyrank.take(tape, subject.data, subject.any_fill(tape), indices)
    choice = subject.mode(tape)
    subject.rank(tape)
    constant = subject.known_modes.index(Mode.CONSTANT)
    indices = tape.choose(
        tape.equal(choice, scalar(constant)),
        lambda then: anyrank.filled_indices(then, subject, amounts),
        lambda other: anyrank.indices(other, subject, choice, amounts),
    )
    return anyrank.take(tape, subject.data, subject.any_fill(tape), indices)
