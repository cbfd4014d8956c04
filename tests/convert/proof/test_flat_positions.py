"""Positions in flat tensors, of which an axis may be empty."""

from __future__ import annotations

import z3

from padops.convert.proof.symbolic.integers import Integers
from padops.convert.proof.symbolic.positions import Flat


def test_an_index_is_read_off_its_position() -> None:
    integers = Integers()
    flat, row, column = Flat(integers), z3.Int("row"), z3.Int("column")
    place = integers.sum(3 * row + column)
    solver = z3.Solver()
    solver.add(row >= 0, row < 5, column >= 0, column < 3)
    found = flat.place_in(place, [5, 3])
    solver.add(*integers.facts, z3.Or(found[0] != row, found[1] != column))
    assert solver.check() == z3.unsat


def test_an_axis_without_elements_has_no_positions_and_divides_nothing() -> None:
    integers = Integers()
    place = integers.bound(z3.Int("place"), 0, 9)
    assert len(Flat(integers).place_in(3 * place, [z3.Int("rows"), 0])) == 2
