"""What is known of remainders, as lemmas, so that claims about them become linear: a solver answers those at once.

A claim about ``modulo(a, d)`` and ``modulo(b, d)`` is shown for any two integers that have the lemmas' properties in
their place. ``test_proofs.py`` proves the lemmas.
"""

from __future__ import annotations

import itertools

import z3
from proof_formulas import modulo

NONLINEAR = {z3.Z3_OP_MOD, z3.Z3_OP_IDIV, z3.Z3_OP_DIV, z3.Z3_OP_REM}


def at_home(value: z3.ArithRef, rest: z3.ArithRef, divisor: z3.ArithRef) -> z3.BoolRef:
    """Between 0 and the divisor a value is its own remainder; elsewhere they are a divisor apart at least."""
    return z3.And(
        rest >= 0,
        rest < divisor,
        z3.Implies(z3.And(value >= 0, value < divisor), rest == value),
        z3.Implies(value < 0, rest >= value + divisor),
        z3.Implies(value >= divisor, rest <= value - divisor),
    )


def side_by_side(a: z3.ArithRef, b: z3.ArithRef, rest_a: z3.ArithRef, rest_b: z3.ArithRef, divisor: z3.ArithRef):
    """Where the value goes on by some, the remainder does as well, up to one turn further."""
    moved = rest_a + (b - a)
    return z3.And(
        z3.Implies(z3.And(moved >= 0, moved < divisor), rest_b == moved),
        z3.Implies(z3.And(moved >= divisor, moved < 2 * divisor), rest_b == moved - divisor),
        z3.Implies(z3.And(moved >= -divisor, moved < 0), rest_b == moved + divisor),
    )


def face_to_face(a: z3.ArithRef, b: z3.ArithRef, rest_a: z3.ArithRef, rest_b: z3.ArithRef, divisor: z3.ArithRef):
    """Where two values add up to a turn or less, their remainders add up to the same, give or take whole turns."""
    total = a + b
    near = z3.And(total >= -divisor, total <= divisor)
    return z3.Implies(near, z3.Or(*(rest_a + rest_b - total == turns * divisor for turns in (-1, 0, 1, 2))))


def further(
    times: z3.ArithRef, rest: z3.ArithRef, turns: z3.ArithRef, rest_beyond: z3.ArithRef, turns_beyond: z3.ArithRef
) -> z3.BoolRef:
    """A value that is ``times`` turns beyond another has the same remainder, and as many turns more."""
    return z3.And(rest_beyond == rest, turns_beyond == times + turns)


def with_remainders(
    claim: z3.BoolRef, divisor: z3.ArithRef, *values: z3.ArithRef
) -> tuple[z3.BoolRef, list[z3.BoolRef]]:
    """The claim with an unknown in the place of each remainder of ``values``, and what is known of the unknowns."""
    rests = [z3.Int(f"remainder_{i}") for i in range(len(values))]
    linear = z3.substitute(claim, *((modulo(value, divisor), rest) for value, rest in zip(values, rests)))
    assert_linear(linear)
    facts = [at_home(value, rest, divisor) for value, rest in zip(values, rests)]
    for (a, rest_a), (b, rest_b) in itertools.permutations(zip(values, rests), 2):
        facts += [side_by_side(a, b, rest_a, rest_b, divisor), face_to_face(a, b, rest_a, rest_b, divisor)]
    return linear, facts


def assert_linear(claim: z3.ExprRef) -> None:
    """Fails where a division by an unknown is left: what is known is of other terms than the claim's, then."""
    seen, waiting = set(), [claim]
    while waiting:
        term = waiting.pop()
        if term.get_id() not in seen:
            seen.add(term.get_id())
            divided = term.decl().kind() in NONLINEAR and not z3.is_int_value(term.arg(1))
            assert not divided, f"{term} is left"
            waiting += term.children()
