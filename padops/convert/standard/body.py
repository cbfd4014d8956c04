"""The whole of a Pad in standard operators, for any rank: which of the ways are taken."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from padops.convert.sources.finding import Unconvertible
from padops.convert.standard import anyrank, builtin
from padops.convert.standard.amounts import Amounts, amounts_of
from padops.convert.standard.subject import Subject
from padops.convert.standard.tape import Operand, Tape, ints, scalar
from padops.plan import Mode


@dataclass(frozen=True)
class Trust:
    """What is known of every call of a body, and allows for a shorter one.

    Attributes:
        typed: ONNX Runtime's Pad has the type of the data.
        ranked: The data have at least one dim.
        right: ONNX Runtime's Pad is right for what is asked of it, whatever the mode.
    """

    typed: bool
    ranked: bool
    right: bool


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
    if tape.opset < builtin.FIRST_WITH_INPUTS:
        return _before_integers(tape, subject, trust)
    if subject.known_modes == (Mode.CONSTANT,):
        return _constant(tape, subject, trust)
    if trust.right and trust.typed:
        return builtin.on_data(tape, subject, _plain_amounts(tape, subject))
    choice = subject.mode(tape)
    amounts = amounts_of(tape, subject)
    fill = subject.any_fill(tape) if Mode.CONSTANT in subject.known_modes and not trust.typed else None
    if amounts.interior is not None:
        return _interior_or_not(tape, subject, choice, amounts)
    if not branches or (len(subject.modes) == 1 and not subject.is_built_in(tape.opset)):
        return anyrank.take(tape, subject.data, None, anyrank.indices(tape, subject, choice, amounts))
    right = builtin.is_right(tape, subject, choice, amounts)
    own = None if builtin.takes_inputs(tape.opset, subject) else amounts
    if trust.typed:
        return tape.choose(
            right,
            lambda then: builtin.on_data(then, subject, own),
            lambda other: anyrank.take(other, subject.data, None, anyrank.indices(other, subject, choice, amounts)),
        )
    indices = tape.choose(
        right,
        lambda then: builtin.on_indices(then, subject, own),
        lambda other: anyrank.indices(other, subject, choice, amounts),
    )
    return anyrank.take(tape, subject.data, fill, indices)


def _before_integers(tape: Tape, subject: Subject, trust: Trust) -> ir.Value:
    """ONNX Runtime's Pad or nothing: indices cannot be computed yet."""
    if not trust.typed:
        raise Unconvertible(f"ONNX Runtime's Pad of opset {tape.opset} does not have {subject.type or 'the types'}")
    if subject.known_modes != (Mode.CONSTANT,) and not trust.right:
        raise Unconvertible(
            f"ONNX Runtime's Pad is not sure to be right for it, and standard operators can do no more at opset "
            f"{tape.opset}"
        )
    return builtin.on_data(tape, subject, _plain_amounts(tape, subject))


def _constant(tape: Tape, subject: Subject, trust: Trust) -> ir.Value:
    """Mode constant and nothing else."""
    own = _plain_amounts(tape, subject)
    if own is not None and own.interior is not None:
        return anyrank.take(tape, subject.data, subject.any_fill(tape), anyrank.filled_indices(tape, subject, own))
    if trust.typed:
        if trust.ranked:
            return builtin.on_data(tape, subject, own)
        return tape.choose(
            _has_dims(tape, subject),
            lambda then: builtin.on_data(then, subject, own),
            lambda other: other.emit("Identity", [subject.data]),
        )
    if trust.ranked:
        indices = builtin.on_indices(tape, subject, own)
    else:
        indices = tape.choose(
            _has_dims(tape, subject), lambda then: builtin.on_indices(then, subject, own), lambda other: scalar(0)
        )
    return anyrank.take(tape, subject.data, subject.any_fill(tape), indices)


def _plain_amounts(tape: Tape, subject: Subject) -> Amounts | None:
    """The amounts for the built-in, None where it can have them as the node has them."""
    if builtin.takes_inputs(tape.opset, subject):
        return None
    amounts = amounts_of(tape, subject)
    if not subject.op.clamp:
        return amounts
    total = tape.add(tape.add(amounts.begin, subject.shape(tape)), amounts.end)
    return Amounts(amounts.begin, tape.sub(amounts.end, tape.minimum(total, scalar(0))))


def _has_dims(tape: Tape, subject: Subject) -> Operand:
    return tape.less(scalar(0), tape.reshape(subject.rank(tape), ints()))


def _interior_or_not(tape: Tape, subject: Subject, choice: Operand, amounts: Amounts) -> ir.Value:
    """nGraph's Pad, where the amounts may have an interior: in mode constant, since the others have none (P6)."""
    constant = subject.known_modes.index(Mode.CONSTANT) if Mode.CONSTANT in subject.known_modes else -1
    indices = tape.choose(
        tape.equal(choice, scalar(constant)),
        lambda then: anyrank.filled_indices(then, subject, amounts),
        lambda other: anyrank.indices(other, subject, choice, amounts),
    )
    fill = subject.any_fill(tape) if Mode.CONSTANT in subject.known_modes else None
    return anyrank.take(tape, subject.data, fill, indices)
