"""Integers that a formula takes: plain ones, those of an SMT solver, and those that C++ would hold in 64 bits.

A formula written with these functions is one text for all three. ``Word`` notes what must hold for each step of a
formula to be defined in C++: the result is within int64, and a divisor is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import z3

Term = Any  # int, z3.ArithRef or Word
Truth = Any  # bool or z3.BoolRef

LOWEST_INT64, HIGHEST_INT64 = -(2**63), 2**63 - 1
SECONDS = 300  # that one question may take; on a quiet machine each takes less than ten

# The conditions under which the step at hand is computed.
_path: list[z3.BoolRef] = []


@contextmanager
def _under(condition: z3.BoolRef) -> Iterator[None]:
    _path.append(condition)
    try:
        yield
    finally:
        _path.pop()


@dataclass
class Steps:
    """What must hold for every step of a formula to be defined in C++, in the order of the steps."""

    needed: list[z3.BoolRef] = field(default_factory=list)
    inputs: list[z3.BoolRef] = field(default_factory=list)

    def need(self, claim: z3.BoolRef) -> None:
        self.needed.append(z3.Implies(z3.And(*_path), claim))

    def word(self, name: str) -> Word:
        """An unknown that fits in 64 bits by itself."""
        term = z3.Int(name)
        self.inputs.append(z3.And(term >= LOWEST_INT64, term <= HIGHEST_INT64))
        return Word(term, self)


class Word:
    """A solver's integer in a C++ formula; each result is noted in ``steps``."""

    __hash__ = None

    def __init__(self, term: z3.ArithRef, steps: Steps) -> None:
        self.term = term
        self.steps = steps

    def result(self, term: z3.ArithRef) -> Word:
        self.steps.need(z3.And(term >= LOWEST_INT64, term <= HIGHEST_INT64))
        return Word(term, self.steps)

    def __add__(self, other: Term) -> Word:
        return self.result(self.term + plain(other))

    def __sub__(self, other: Term) -> Word:
        return self.result(self.term - plain(other))

    def __mul__(self, other: Term) -> Word:
        return self.result(self.term * plain(other))

    def __radd__(self, other: Term) -> Word:
        return self.result(plain(other) + self.term)

    def __rsub__(self, other: Term) -> Word:
        return self.result(plain(other) - self.term)

    def __rmul__(self, other: Term) -> Word:
        return self.result(plain(other) * self.term)

    def __neg__(self) -> Word:
        return self.result(-self.term)

    def __lt__(self, other: Term) -> z3.BoolRef:
        return self.term < plain(other)

    def __le__(self, other: Term) -> z3.BoolRef:
        return self.term <= plain(other)

    def __gt__(self, other: Term) -> z3.BoolRef:
        return self.term > plain(other)

    def __ge__(self, other: Term) -> z3.BoolRef:
        return self.term >= plain(other)

    def __eq__(self, other: Term) -> z3.BoolRef:
        return self.term == plain(other)

    def __ne__(self, other: Term) -> z3.BoolRef:
        return self.term != plain(other)


def plain(value: Term) -> int | z3.ArithRef:
    return value.term if isinstance(value, Word) else value


def choose(condition: Truth, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """``then()`` where the condition holds, else ``otherwise()``; of a solver's condition, both as one term."""
    if isinstance(condition, bool):
        return then() if condition else otherwise()
    with _under(condition):
        first = then()
    with _under(z3.Not(condition)):
        second = otherwise()
    return _joined(condition, first, second)


def _joined(condition: z3.BoolRef, first: Any, second: Any) -> Any:
    if isinstance(first, tuple):
        return type(first)(*(_joined(condition, one, other) for one, other in zip(first, second)))
    words = [value for value in (first, second) if isinstance(value, Word)]
    one, other = plain(first), plain(second)
    both_ways = one if _same(one, other) else z3.If(condition, one, other)
    return Word(both_ways, words[0].steps) if words else both_ways


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, z3.ExprRef):
        return isinstance(second, z3.ExprRef) and first.eq(second)
    return type(first) is type(second) and first == second


def both(first: Truth, second: Callable[[], Truth]) -> Truth:
    """``first && second()``: the second is computed only where the first holds."""
    return choose(first, second, lambda: False)


def either(first: Truth, second: Callable[[], Truth]) -> Truth:
    """``first || second()``: the second is computed only where the first does not hold."""
    return choose(first, lambda: True, second)


def least(first: Term, second: Term) -> Term:
    return choose(second < first, lambda: second, lambda: first)


def greatest(first: Term, second: Term) -> Term:
    return choose(first < second, lambda: second, lambda: first)


def clamped(value: Term, low: Term, high: Term) -> Term:
    """``std::clamp``, which is defined only where ``low <= high``."""
    for word in (value, low, high):
        if isinstance(word, Word):
            word.steps.need(plain(low) <= plain(high))
            break
    return choose(value < low, lambda: low, lambda: choose(high < value, lambda: high, lambda: value))


def _divided(value: Term, divisor: Term, by: Callable[[Any, Any], Any]) -> Term:
    top, bottom = plain(value), plain(divisor)
    if isinstance(top, int) and isinstance(bottom, int):
        assert bottom > 0
        return by(top, bottom) if top >= 0 else -by(-top, bottom)
    top = z3.IntVal(top) if isinstance(top, int) else top
    term = z3.If(top >= 0, by(top, bottom), -by(-top, bottom))
    words = [word for word in (value, divisor) if isinstance(word, Word)]
    if not words:
        return term
    words[0].steps.need(bottom > 0)
    return words[0].result(term)


def quotient(value: Term, divisor: Term) -> Term:
    """C++'s ``/``, which cuts towards 0, by a positive divisor."""
    return _divided(value, divisor, lambda a, b: a // b if isinstance(a, int) else a / b)


def remainder(value: Term, divisor: Term) -> Term:
    """C++'s ``%``, which has the sign of the value, by a positive divisor."""
    return _divided(value, divisor, lambda a, b: a % b)


def solver_of(*given: z3.BoolRef) -> z3.Solver:
    solver = z3.Solver()
    solver.set("timeout", SECONDS * 1000)
    solver.add(*given)
    return solver


def answer_of(solver: z3.Solver) -> z3.ModelRef | None:
    """Integers for which all that the solver was told holds; None where it proves that there are none.

    Raises:
        TimeoutError: The solver does not know.
    """
    answer = solver.check()
    if answer == z3.unknown:
        raise TimeoutError(f"no answer within {SECONDS} s: {solver.reason_unknown()}")
    return solver.model() if answer == z3.sat else None


def counterexample(claim: z3.BoolRef, *given: z3.BoolRef) -> z3.ModelRef | None:
    """Integers for which ``given`` holds and ``claim`` does not; None where it is proved that there are none."""
    return answer_of(solver_of(*given, z3.Not(claim)))


def prove(claim: z3.BoolRef, *given: z3.BoolRef) -> None:
    """Fails unless ``claim`` follows from ``given`` for all integers, and there are some for which ``given`` holds."""
    assert answer_of(solver_of(*given)) is not None, "what is given never holds"
    found = counterexample(claim, *given)
    assert found is None, f"not so for {found}"


def undefined_step(steps: Steps, *given: z3.BoolRef) -> z3.ModelRef | None:
    """Integers for which a step of a formula is not defined in C++ though ``given`` holds; None if there are none."""
    assert steps.needed, "no step was noted"
    solver = solver_of(*steps.inputs, *given)
    assert answer_of(solver) is not None, "what is given never holds"
    for needed in steps.needed:  # one by one: small questions are answered at once
        solver.push()
        solver.add(z3.Not(needed))
        found = answer_of(solver)
        if found is not None:
            return found
        solver.pop()
    return None


def prove_defined(steps: Steps, *given: z3.BoolRef) -> None:
    """Fails unless every step stays within int64, and divides by positive numbers, wherever ``given`` holds."""
    found = undefined_step(steps, *given)
    assert found is None, f"beyond int64 for {found}"
