"""Rows as real tensors have them: a long window between short borders, which the engine writes in loops of their own."""

from __future__ import annotations

import native
import numpy as np
import pytest
from native import bits, random_array

from padops import reference
from padops.dtypes import by_name

TYPES = ("uint2", "int4", "uint8", "float16", "float", "int64")
WIDTHS = (16, 20, 61, 64, 65, 130, 1300)  # short; about a cache line, in some of the types; two; long enough to align
AMOUNTS = ((1, 1), (3, 2), (6, 6), (0, 5), (7, 0), (16, 17), (-3, 4))


@pytest.mark.parametrize("name", [n for n in TYPES if by_name(n) in native.TYPES])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_rows(mode: str, name: str) -> None:
    rng = np.random.default_rng(0)
    dtype = by_name(name)
    for width in WIDTHS:
        for inner in (1, 3):  # elements that stay together
            for amounts in AMOUNTS:
                data = random_array(rng, dtype, (2, 5, width, inner))
                begin, end = ([1, 2, amount, 0] for amount in amounts)
                inputs = [data, np.array(begin + end)]
                if mode == "constant":
                    inputs.append(random_array(rng, dtype, ()))
                expected = reference.run("Pad_25", {"mode": mode}, inputs)
                assert bits(native.run("Pad_25", {"mode": mode}, inputs)) == bits(expected), (width, inner, amounts)


@pytest.mark.parametrize("name", [n for n in TYPES if by_name(n) in native.TYPES])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_rows_of_several_tasks(mode: str, name: str) -> None:
    """Tasks begin at any row; none may write beyond its own."""
    rng = np.random.default_rng(1)
    dtype = by_name(name)
    data = random_array(rng, dtype, (3, (8 << 20) // dtype.bits // 257, 257))
    inputs = [data, np.array([1, 1, 3, 1, 2, 2])]
    expected = reference.run("Pad_25", {"mode": mode}, inputs)
    assert bits(native.run("Pad_25", {"mode": mode}, inputs)) == bits(expected)
