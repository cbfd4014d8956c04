"""Positions in a tensor that is laid out flat, and the indices that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from padops.convert.proof.symbolic.integers import Int, Integers, is_open, opened, same


class Flat:
    """What is known of flat positions: those that have been made of indices give the indices back."""

    def __init__(self, integers: Integers) -> None:
        self._integers = integers
        self._made: dict[int, tuple[Int, list[Int], list[Int]]] = {}  # the position, its index and the dims

    def place_of(self, index: Sequence[Int], dims: Sequence[Int]) -> Int:
        """The position of an index, where the last axis runs first."""
        flat: Int = 0
        integers, index = self._integers, [self._integers.sum(one) for one in index]
        for position, dim in zip(index, dims):
            flat = integers.sum(integers.mul(flat, dim) + position)
        if is_open(flat):
            self._made[flat.get_id()] = (flat, index, list(dims))
            self._bound(flat, index, dims)
        return flat

    def place_in(self, flat: Int, dims: Sequence[Int]) -> list[Int]:
        """The index of a position: the other way round."""
        integers, flat = self._integers, self._integers.sum(flat)
        if len(dims) < 2:
            return [flat] if dims else []
        if is_open(flat) and flat.decl().kind() == z3.Z3_OP_ITE:
            condition, yes, no = flat.children()
            sides = zip(self.place_in(yes, dims), self.place_in(no, dims))
            return [integers.where(condition, *pair) for pair in sides]
        *others, last = dims
        computed = [*self.place_in(integers.div(flat, last), others), integers.mod(flat, last)]
        found = self._written(flat, dims)
        if found is None:
            return computed
        self._bound(flat, found, dims)
        fits = _inside(integers, found, dims)
        return [integers.where(fits, *pair) for pair in zip(found, computed)]

    def _written(self, flat: Int, dims: Sequence[Int]) -> list[Int] | None:
        """The index that a position is written with, which is its own where it is within the dims."""
        if not is_open(flat):
            return None
        made = self._made.get(flat.get_id())
        if made is not None and len(made[2]) == len(dims) and all(map(same, made[2], dims)):
            return made[1]
        index: list[Int] = []
        for dim in reversed(dims[1:]):
            peeled = _peeled(self._integers, flat, dim)
            if peeled is None:
                return None
            flat, rest = peeled
            index.insert(0, rest)
        return [flat, *index]

    def _bound(self, flat: Int, index: Sequence[Int], dims: Sequence[Int]) -> None:
        """An index within the dims has a position within their product."""
        inside = _inside(self._integers, index, dims)
        within = self._integers.all(flat >= 0, flat < self._integers.product(dims))
        if is_open(within):
            self._integers.learn(z3.Implies(opened(inside), within))


def _inside(integers: Integers, index: Sequence[Int], dims: Sequence[Int]) -> z3.BoolRef | bool:
    return integers.all(*(integers.all(at >= 0, at < dim) for at, dim in zip(index, dims)))


def _peeled(integers: Integers, flat: Int, dim: Int) -> tuple[Int, Int] | None:
    """A position as turns of ``dim`` and what remains, where it is written so."""
    flat = integers.sum(flat)
    if not is_open(flat):
        return None
    parts = flat.children() if flat.decl().kind() == z3.Z3_OP_ADD else [flat]
    while parts[0].decl().kind() == z3.Z3_OP_ADD:
        parts = [*parts[0].children(), *parts[1:]]
    for part in parts:
        turns = _factor(integers, part, dim)
        if turns is not None:
            return turns, integers.sum(flat - part)
    return None


def _factor(integers: Integers, part: Int, dim: Int) -> Int | None:
    """What ``part`` is a multiple of ``dim`` by; None where it is not written as one."""
    if part.num_args() != 2 or not (part.decl().eq(integers.times) or part.decl().kind() == z3.Z3_OP_MUL):
        return None
    one, other = part.children()
    number = opened(dim)
    return one if other.eq(number) else other if one.eq(number) else None
