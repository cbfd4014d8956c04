"""Integers that are numbers or the solver's unknowns, and the facts about them that keep the solver quick.

Products, quotients and remainders of two unknowns are uninterpreted functions with true facts about them, so that every
goal stays linear. A proof from fewer facts is still a proof. A counterexample counts only once a run confirms it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from padops.convert.proof import plan
from padops.convert.proof.symbolic.bounds import Bounds, Intervals, Sums

Int = Any  # int or z3.ArithRef
Truth = Any  # bool or z3.BoolRef
_STRICT = {z3.Z3_OP_LT, z3.Z3_OP_GT}
_COMPARISONS = {*_STRICT, z3.Z3_OP_LE, z3.Z3_OP_GE, z3.Z3_OP_EQ}

POSITION = "at "  # prefix of an unknown position's name


def is_open(value: object) -> bool:
    """Whether a value is a term of the solver, not a number."""
    return isinstance(value, z3.ExprRef)


def same(one: Any, other: Any) -> bool:
    """Whether two values are syntactically equal."""
    if is_open(one) or is_open(other):
        return is_open(one) and is_open(other) and bool(one.eq(other))
    return bool(one == other)


class Integers(plan.Numbers):
    """Arithmetic that learns facts about its terms."""

    def __init__(self) -> None:
        # Facts that hold for all integers and for the declared bounds of the unknowns
        self.facts: list[z3.BoolRef] = []
        self._intervals = Intervals()
        self._sums = Sums()
        self._remainders: dict[tuple[int, int], tuple[z3.ArithRef, z3.ArithRef, z3.ArithRef]] = {}
        self._seen: set[int] = set()
        number = z3.IntSort()
        self.times = z3.Function("times", number, number, number)
        self.rest = z3.Function("rest", number, number, number)
        self.quotient = z3.Function("quotient", number, number, number)

    # --- bounds -------------------------------------------------------------------------------------------------------

    def learn(self, fact: z3.BoolRef) -> None:
        """Adds a fact, once."""
        if fact.get_id() not in self._seen:
            self._seen.add(self._intervals.keep(fact).get_id())
            self.facts.append(fact)

    def bound(self, unknown: z3.ArithRef, low: int, high: int) -> z3.ArithRef:
        """Bounds an unknown, both ends included; earlier bounds stay."""
        if self._intervals.narrow(unknown, low, high):
            self.learn(unknown >= low)
            self.learn(unknown <= high)
        return unknown

    def bounds(self, value: Int) -> Bounds:
        """The bounds of a value, by interval arithmetic."""
        return self._intervals.of(value)

    # --- comparing and choosing: the Numbers of the plan --------------------------------------------------------------

    def sum(self, value: Int) -> Int:
        """An integer in the normal form of sums."""
        return self._sums.of(value)

    def less(self, one: Int, other: Int) -> Truth:
        """``one < other``; a bool if the bounds decide it."""
        one, other = self.sum(one), self.sum(other)
        low, high = self.bounds(self.sum(one - other))
        return high < 0 if high < 0 or low >= 0 else one < other

    def equal(self, one: Int, other: Int) -> Truth:
        """``one == other``; a bool if the bounds or the terms decide it."""
        one, other = self.sum(one), self.sum(other)
        low, high = self.bounds(self.sum(one - other))
        if low > 0 or high < 0:
            return False
        return True if low == high == 0 else one == other

    def where(self, condition: Truth, yes: Any, no: Any) -> Any:
        """If-then-else of integers or other elements."""
        condition, yes, no = self.known(condition), self.sum(yes), self.sum(no)
        if not is_open(condition):
            return yes if condition else no
        if same(yes, no):
            return yes
        return z3.If(condition, opened(yes), opened(no))

    def known(self, condition: Truth) -> Truth:
        """A condition; a bool if bounds decide it."""
        if not is_open(condition):
            return bool(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return z3.is_true(condition)
        kind = condition.decl().kind()
        if kind in _COMPARISONS and condition.arg(0).sort() == z3.IntSort():
            one, other = condition.children()
            if kind == z3.Z3_OP_EQ:
                return self.equal(one, other)
            if kind in (z3.Z3_OP_GT, z3.Z3_OP_GE):
                one, other = other, one
            return self.less(one, other) if kind in _STRICT else self.negated(self.less(other, one))
        return condition

    def negated(self, condition: Truth) -> Truth:
        """The negation of a condition."""
        if not is_open(condition):
            return not condition
        return condition.arg(0) if z3.is_not(condition) else z3.Not(condition)

    def all(self, *conditions: Truth) -> Truth:
        """The conjunction of conditions."""
        decided = [self.known(one) for one in conditions]
        left = [one for one in decided if is_open(one)]
        if not all(one for one in decided if not is_open(one)):
            return False
        return True if not left else left[0] if len(left) == 1 else z3.And(*left)

    def any(self, *conditions: Truth) -> Truth:
        """The disjunction of conditions."""
        return self.negated(self.all(*(self.negated(self.known(one)) for one in conditions)))

    def least(self, one: Int, other: Int) -> Int:
        """The minimum of two."""
        return self.where(self.less(other, one), other, one)

    def greatest(self, one: Int, other: Int) -> Int:
        """The maximum of two."""
        return self.where(self.less(one, other), other, one)

    # --- products, quotients and remainders ---------------------------------------------------------------------------

    def mul(self, one: Int, other: Int) -> Int:
        """The product."""
        one, other = self.sum(one), self.sum(other)
        if not is_open(one) or not is_open(other):
            number, value = (one, other) if not is_open(one) else (other, one)
            if number in (0, 1) or not is_open(value):
                return 0 if number == 0 else number * value
            return value * number
        if one.get_id() > other.get_id():
            one, other = other, one
        product = self._intervals.keep(self.times(one, other))
        self.learn(product == self.times(other, one))  # equal factors give equal products in any order
        self.learn(z3.Implies(z3.Or(one == 0, other == 0), product == 0))
        self.learn(z3.Implies(one == 1, product == other))
        self.learn(z3.Implies(other == 1, product == one))
        self.learn(z3.Implies(z3.And(one >= 1, other >= 1), z3.And(product >= one, product >= other)))
        self.learn(z3.Implies(z3.And(one >= 1, other <= 0), product <= other))
        self.learn(z3.Implies(z3.And(one <= 0, other >= 1), product <= one))
        self.learn(z3.Implies(z3.And(one <= -1, other <= -1), product >= 1))
        return product

    def product(self, values: Iterable[Int]) -> Int:
        """The product of some values."""
        number, unknown = 1, None
        for value in values:
            if not is_open(value):
                number *= value
            else:
                unknown = value if unknown is None else self.mul(unknown, value)
        return number if unknown is None else self.mul(number, unknown)

    def mod(self, number: Int, period: Int) -> Int:
        """The remainder, from 0 to ``period`` - 1; anything if ``period`` is not positive."""
        number, period = self.sum(number), self.sum(period)
        if not is_open(period):
            if period <= 1:
                return 0
            return (number if not is_open(number) else opened(number)) % period
        number = opened(number)
        remainder = self.rest(number, period)
        key = (self._intervals.keep(number).get_id(), self._intervals.keep(period).get_id())
        if key not in self._remainders:
            self._learn_remainder(number, period, remainder)
            self._remainders[key] = (number, period, remainder)
        return remainder

    def div(self, number: Int, divisor: Int) -> Int:
        """The quotient, rounded down; anything if ``divisor`` is not positive."""
        number, divisor = self.sum(number), self.sum(divisor)
        if not is_open(divisor):
            if divisor <= 1:
                return number if divisor == 1 else 0
            return number / divisor if is_open(number) else number // divisor
        remainder, turns = self.mod(number, divisor), self.quotient(opened(number), divisor)
        number = opened(number)
        positive = divisor > 0
        self.learn(z3.Implies(z3.And(positive, number >= 0, number < divisor), turns == 0))
        self.learn(z3.Implies(z3.And(positive, number >= divisor), z3.And(turns >= 1, turns <= number)))
        self.learn(z3.Implies(z3.And(positive, number < 0), turns <= -1))
        self.learn(z3.Implies(positive, number == self.mul(divisor, turns) + remainder))
        return turns

    def _learn_remainder(self, number: z3.ArithRef, period: z3.ArithRef, remainder: z3.ArithRef) -> None:
        """Learns facts of a remainder, and of pairs with each earlier remainder of an equal period."""
        self.learn(
            z3.Implies(
                period > 0,
                z3.And(
                    remainder >= 0,
                    remainder < period,
                    z3.Implies(z3.And(number >= 0, number < period), remainder == number),
                    z3.Implies(z3.And(number >= -period, number < 0), remainder == number + period),
                    z3.Implies(number < 0, remainder >= number + period),
                    z3.Implies(number >= period, remainder <= number - period),
                ),
            )
        )
        positions = positions_in(number)
        for other, turn, rest in self._remainders.values():
            others = positions_in(other)
            if positions and others and not positions & others:
                continue  # no goal contains both positions
            alike = z3.And(period > 0, period == turn)
            moved, total = remainder + (other - number), number + other
            near = z3.And(total >= -period, total <= period)
            images = z3.Or(*(remainder + rest - total == turns * period for turns in (-1, 0, 1, 2)))
            self.learn(z3.Implies(z3.And(alike, moved >= 0, moved < period), rest == moved))
            self.learn(z3.Implies(z3.And(alike, moved >= period, moved < 2 * period), rest == moved - period))
            self.learn(z3.Implies(z3.And(alike, moved >= -period, moved < 0), rest == moved + period))
            self.learn(z3.Implies(z3.And(alike, near), images))

    def exact(self, terms: Iterable[z3.ExprRef]) -> list[z3.BoolRef]:
        """Exact definitions of the products, quotients and remainders in ``terms``, for the search of an example."""
        found: list[z3.BoolRef] = []
        for term in parts_of(terms):
            if not z3.is_app(term) or term.num_args() != 2:
                continue
            one, other = term.children()
            if term.decl().eq(self.times):
                found.append(term == one * other)
            elif term.decl().eq(self.rest):
                found.append(z3.Implies(other > 0, term == one % other))
            elif term.decl().eq(self.quotient):
                found.append(z3.Implies(other > 0, term == one / other))
        return found


def opened(value: Any) -> z3.ExprRef:
    """A value as a term of the solver."""
    if is_open(value):
        return value
    return z3.BoolVal(value) if isinstance(value, bool) else z3.IntVal(int(value))


def parts_of(terms: Iterable[z3.ExprRef]) -> Iterable[z3.ExprRef]:
    """The terms and their subterms, each once."""
    seen: set[int] = set()
    waiting = list(terms)
    while waiting:
        term = waiting.pop()
        if term.get_id() not in seen:
            seen.add(term.get_id())
            yield term
            waiting += term.children()


def positions_in(*terms: z3.ExprRef) -> frozenset[str]:
    """The unknown positions in some terms."""
    names = (part.decl().name() for part in parts_of(terms) if z3.is_const(part) and not z3.is_int_value(part))
    return frozenset(name for name in names if name.startswith(POSITION))
