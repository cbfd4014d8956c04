"""Positions in a tensor that is laid out flat, and the indices that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from padops.convert.proof.symbolic.integers import Int, Integers, is_open, same


def place_of(integers: Integers, index: Sequence[Int], dims: Sequence[Int]) -> Int:
    """The position of an index, where the last axis runs first."""
    flat: Int = 0
    for position, dim in zip(index, dims):
        flat = integers.mul(flat, dim) + position
    return flat


def place_in(integers: Integers, flat: Int, dims: Sequence[Int]) -> list[Int]:
    """The index of a position: the other way round."""
    index: list[Int] = []
    for dim in reversed(dims[1:]):
        turns, rest = _peeled(integers, flat, dim)
        index.append(rest)
        flat = turns
    return [*([flat] if dims else []), *reversed(index)]


def _peeled(integers: Integers, flat: Int, dim: Int) -> tuple[Int, Int]:
    """A position as turns of ``dim`` and what remains: read off where it is written so, and computed elsewhere."""
    if is_open(flat) and flat.decl().kind() == z3.Z3_OP_ITE:
        condition, yes, no = flat.children()
        first, second = _peeled(integers, yes, dim), _peeled(integers, no, dim)
        return integers.where(condition, first[0], second[0]), integers.where(condition, first[1], second[1])
    computed = integers.div(flat, dim), integers.mod(flat, dim)
    parts = flat.children() if is_open(flat) and flat.decl().kind() == z3.Z3_OP_ADD else [flat]
    for part in parts:
        turns = _factor(integers, part, dim)
        if turns is None:
            continue
        rest: Int = 0
        for other in parts:
            rest = rest if other is part else other if same(rest, 0) else rest + other
        fits = integers.all(rest >= 0, rest < dim)
        return integers.where(fits, turns, computed[0]), integers.where(fits, rest, computed[1])
    return computed


def _factor(integers: Integers, part: Int, dim: Int) -> Int | None:
    """What ``part`` is a multiple of ``dim`` by; None where it is not written as one."""
    if not is_open(part) or part.num_args() != 2:
        return None
    if not (part.decl().eq(integers.times) or part.decl().kind() == z3.Z3_OP_MUL):
        return None
    one, other = part.children()
    number = z3.IntVal(dim) if not is_open(dim) else dim
    return one if other.eq(number) else other if one.eq(number) else None
