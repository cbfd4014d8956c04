"""Terms of the solver's integers: their bounds by interval arithmetic, and the normal form of their sums."""

from __future__ import annotations

import math
from typing import Any

import z3

Bounds = tuple[float, float]  # the least and greatest integer, or infinite

ANYTHING: Bounds = (-math.inf, math.inf)
_SUMS = {z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS}
_LINEAR = {*_SUMS, z3.Z3_OP_MUL, z3.Z3_OP_MOD, z3.Z3_OP_IDIV}


class Intervals:
    """The bounds of unknowns and of the terms over them."""

    def __init__(self) -> None:
        self._bounds: dict[int, Bounds] = {}
        self._memo: dict[int, Bounds] = {}
        self._kept: dict[int, z3.ExprRef] = {}

    def keep(self, term: z3.ExprRef) -> z3.ExprRef:
        """Keeps the term alive: z3 gives the id of a freed term to another."""
        return self._kept.setdefault(term.get_id(), term)

    def narrow(self, unknown: z3.ArithRef, low: int, high: int) -> bool:
        """Bounds an unknown, both ends included. Returns whether the bounds became narrower."""
        before = self._bounds.get(self.keep(unknown).get_id(), ANYTHING)
        after = (max(before[0], low), min(before[1], high))
        if after == before:
            return False
        self._bounds[unknown.get_id()] = after
        if unknown.get_id() in self._memo:
            self._memo.clear()
        return True

    def of(self, value: Any) -> Bounds:
        """The bounds of a number or a term."""
        if not isinstance(value, z3.ExprRef):
            return (int(value), int(value))
        waiting = [value]
        while waiting:  # no recursion: a long chain of conditions is deeper than Python's stack
            term = waiting[-1]
            missing = [one for one in _parts(term) if one.get_id() not in self._memo]
            if missing and term.get_id() not in self._memo:
                waiting += missing
                continue
            waiting.pop()
            if self.keep(term).get_id() not in self._memo:
                own = self._bounds.get(term.get_id(), ANYTHING)
                low, high = _combined(term, [self._memo[one.get_id()] for one in _parts(term)])
                self._memo[term.get_id()] = (max(own[0], low), min(own[1], high))
        return self._memo[value.get_id()]


def _parts(term: z3.ArithRef) -> list[z3.ArithRef]:
    """The parts of a term that its bounds follow from."""
    kind = term.decl().kind()
    if kind == z3.Z3_OP_ITE:
        return [term.arg(1), term.arg(2)]
    if kind in _LINEAR or term.decl().name() in ("times", "rest"):
        return list(term.children())
    return []


def _combined(term: z3.ArithRef, parts: list[Bounds]) -> Bounds:
    """The bounds of a term from those of its parts."""
    kind = term.decl().kind()
    if z3.is_int_value(term):
        return (term.as_long(), term.as_long())
    if kind == z3.Z3_OP_ITE:
        return _of_choice(term, *parts)
    if kind == z3.Z3_OP_ADD:
        return (sum(low for low, _ in parts), sum(high for _, high in parts))
    if kind == z3.Z3_OP_SUB:
        (low, high), rest = parts[0], parts[1:]
        return (low - sum(most for _, most in rest), high - sum(least for least, _ in rest))
    if kind == z3.Z3_OP_UMINUS:
        return (-parts[0][1], -parts[0][0])
    if kind == z3.Z3_OP_MUL or term.decl().name() == "times":
        corners = [_times(x, y) for x in parts[0] for y in parts[1]] if len(parts) == 2 else ANYTHING
        return (min(corners), max(corners))
    if kind == z3.Z3_OP_IDIV and parts[1][0] == parts[1][1] > 0 and math.inf not in map(abs, parts[0]):
        return (int(parts[0][0]) // int(parts[1][0]), int(parts[0][1]) // int(parts[1][0]))
    if (kind == z3.Z3_OP_MOD or term.decl().name() == "rest") and parts[1][0] > 0:
        return (0, parts[1][1] - 1)
    return ANYTHING


def _of_choice(term: z3.ArithRef, yes: Bounds, no: Bounds) -> Bounds:
    """The bounds of an if-then-else, which are tighter if it is a minimum or a maximum."""
    condition, first, second = term.children()
    if condition.decl().kind() in (z3.Z3_OP_LT, z3.Z3_OP_GT):
        one, other = condition.children()
        if condition.decl().kind() == z3.Z3_OP_GT:
            one, other = other, one
        if one.eq(first) and other.eq(second):
            return (min(yes[0], no[0]), min(yes[1], no[1]))
        if one.eq(second) and other.eq(first):
            return (max(yes[0], no[0]), max(yes[1], no[1]))
    return (min(yes[0], no[0]), max(yes[1], no[1]))


def _times(one: float, other: float) -> float:
    """The product, where 0 times infinity is 0."""
    return 0 if one == 0 or other == 0 else one * other


class Sums:
    """Writes sums in normal form: each term once with its factor, sorted, then a number. Equal sums become one term."""

    def __init__(self) -> None:
        self._memo: dict[int, tuple[z3.ArithRef, Any]] = {}  # with the term, to keep its id

    def of(self, value: Any) -> Any:
        """An integer in normal form; a number if all unknowns cancel."""
        if not isinstance(value, z3.ArithRef):
            return value
        known = self._memo.get(value.get_id())
        if known is None:
            known = self._memo[value.get_id()] = (value, _written(value))
            if isinstance(known[1], z3.ArithRef):
                self._memo[known[1].get_id()] = (known[1], known[1])
        return known[1]


def _written(value: z3.ArithRef) -> Any:
    number, counts = 0, dict[int, tuple[z3.ArithRef, int]]()
    waiting = [(value, 1)]
    while waiting:
        term, times = waiting.pop()
        kind = term.decl().kind()
        if z3.is_int_value(term):
            number += times * term.as_long()
        elif kind in _SUMS:
            first, *others = term.children()
            rest = times if kind == z3.Z3_OP_ADD else -times
            waiting.append((first, -times if kind == z3.Z3_OP_UMINUS else times))
            waiting += [(other, rest) for other in others]
        elif kind == z3.Z3_OP_MUL and term.num_args() == 2 and any(map(z3.is_int_value, term.children())):
            one, other = term.children()
            factor, unknown = (one, other) if z3.is_int_value(one) else (other, one)
            waiting.append((unknown, times * factor.as_long()))
        else:
            counts[term.get_id()] = (term, counts.get(term.get_id(), (term, 0))[1] + times)
    parts = [term if times == 1 else times * term for _, (term, times) in sorted(counts.items()) if times]
    if not parts:
        return number
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total + number if number else total


def parts_of_sum(value: z3.ArithRef) -> list[z3.ArithRef]:
    """The summands of a sum in normal form, without its number."""
    waiting, parts = [value], list[z3.ArithRef]()
    while waiting:
        term = waiting.pop()
        if term.decl().kind() == z3.Z3_OP_ADD:
            waiting += term.children()
        elif not z3.is_int_value(term):
            parts.append(term)
    return parts
