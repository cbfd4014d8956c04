"""The normal form of sums: equal sums become the same term."""

from __future__ import annotations

from typing import Any

import z3

_SUMS = {z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS}


class Sums:
    """Writes sums in normal form: each term once with its factor, sorted, then a number."""

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
