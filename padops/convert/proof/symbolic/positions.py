"""Positions in flattened tensors, and the indices that they stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import z3

from padops.convert.proof import plan
from padops.convert.proof.symbolic.bounds import parts_of_sum
from padops.convert.proof.symbolic.integers import Int, Integers, is_open, opened, same


class Flat:
    """The facts of flat positions. A position that was made from an index gives that index back."""

    def __init__(self, integers: Integers) -> None:
        self.dims: list[Sequence[Int]] = []  # the dims of tensors that may be flattened
        self.totals: list[z3.BoolRef] = []  # facts: flattened tensors have no more elements than P10 allows
        self._integers = integers
        self._made: dict[int, tuple[Int, list[Int], list[Int]]] = {}  # the position, its index and the dims

    def place_of(self, index: Sequence[Int], dims: Sequence[Int]) -> Int:
        """The flat position of an index, in row-major order."""
        flat: Int = 0
        integers, index = self._integers, [self._integers.sum(one) for one in index]
        for position, dim in zip(index, dims):
            flat = integers.sum(integers.mul(flat, dim) + position)
        if is_open(flat):
            self._made[flat.get_id()] = (flat, index, list(dims))
            self._bound(flat, index, dims)
        return flat

    def place_in(self, flat: Int, dims: Sequence[Int]) -> list[Int]:
        """The index of a flat position."""
        integers, flat = self._integers, self._integers.sum(flat)
        if len(dims) < 2:
            return [flat] if dims else []
        if is_open(flat) and flat.decl().kind() == z3.Z3_OP_ITE:
            condition, yes, no = flat.children()
            sides = zip(self.place_in(yes, dims), self.place_in(no, dims))
            return [integers.where(condition, *pair) for pair in sides]
        found = self._written(flat, dims)
        if found is None:
            *others, last = dims
            return [*self.place_in(integers.div(flat, last), others), integers.mod(flat, last)]
        self._bound(flat, found, dims)
        fits = _inside(integers, found, dims)
        return [integers.where(fits, one, z3.FreshInt("elsewhere")) for one in found]

    def note(self, value: Int) -> None:
        """Learns the bounds of a value that is a position in one of the tensors, or in its first axes."""
        if is_open(value) and value.decl().kind() == z3.Z3_OP_ITE:
            self.note(value.arg(1))
            self.note(value.arg(2))
            return
        for dims in self.dims:
            for count in range(2, len(dims) + 1):
                index = self._written(value, dims[:count])
                if index is not None:
                    self._bound(value, index, dims[:count])
                    total = self._integers.product(dims) <= plan.MOST
                    if is_open(total):
                        self.totals.append(total)

    def _written(self, flat: Int, dims: Sequence[Int]) -> list[Int] | None:
        """The index that a position was made from, if its form tells; within the dims, it is the position's index."""
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
        """Learns that an index within the dims has a position within their product."""
        inside = _inside(self._integers, index, dims)
        within = self._integers.all(flat >= 0, flat < self._integers.product(dims))
        if is_open(within):
            self._integers.learn(z3.Implies(opened(inside), within))


def _inside(integers: Integers, index: Sequence[Int], dims: Sequence[Int]) -> z3.BoolRef | bool:
    return integers.all(*(integers.all(at >= 0, at < dim) for at, dim in zip(index, dims)))


def _peeled(integers: Integers, flat: Int, dim: Int) -> tuple[Int, Int] | None:
    """Splits ``turns * dim + rest`` into turns and rest; None for another form."""
    flat = integers.sum(flat)
    if not is_open(flat) or (not is_open(dim) and dim <= 0):
        return None
    turns: Int = 0
    for part in parts_of_sum(flat):
        turns = integers.sum(turns + _factor(integers, part, dim))
    rest = integers.sum(flat - integers.mul(turns, dim))
    if not is_open(dim):  # a number may belong to either: keep the rest at 0 or more
        low = integers.bounds(rest)[0]
        more = 0 if math.isinf(low) else int(low) // dim
        turns, rest = integers.sum(turns + more), integers.sum(rest - more * dim)
    return None if same(turns, 0) else (turns, rest)


def _factor(integers: Integers, part: Int, dim: Int) -> Int:
    """The factor of ``dim`` in ``part``; 0 if its form shows none."""
    if z3.is_int_value(part) or part.num_args() != 2:
        return 0
    one, other = part.children()
    if part.decl().eq(integers.times):
        return one if same(other, dim) else other if same(one, dim) else 0
    if part.decl().kind() != z3.Z3_OP_MUL:
        return 0
    factor, unknown = (one, other) if z3.is_int_value(one) else (other, one)
    number = factor.as_long() if z3.is_int_value(factor) else 0
    if is_open(dim):
        inner = _factor(integers, unknown, dim) if not same(unknown, dim) else 1
        return integers.mul(number, inner)
    return unknown * (number // dim) if number % dim == 0 else 0
