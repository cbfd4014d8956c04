"""JAX itself: lax.pad, which is nGraph's Pad with interior, and its SAME, against padops.

``PADOPS_EXAMPLES`` sets how many Pads are drawn.
"""

from __future__ import annotations

import os
from collections import Counter

import jax
import native
import numpy as np
import pytest
from case_strategies import TYPES, Case, explore
from hypothesis import strategies as st
from jax import lax

from padops.spec.dialects import same_padding
from padops.spec.dtypes import by_numpy

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "800"))
BATCH = 10  # Pads that are compiled in one function: compiling is what takes the time

JAX_TYPES = [name for name in TYPES if name != "string"]
LONGEST = (1, 12, 6, 4, 3)  # dims by rank


@st.composite
def cases(draw) -> Case:
    """Interior and crops, dims of 0, and outputs that lie wholly outside the dilated data; no negative dims."""
    rank = draw(st.integers(0, 4))
    rng = np.random.default_rng([draw(st.integers(0, 2**32 - 1)), rank])
    dtype = TYPES[JAX_TYPES[rng.integers(len(JAX_TYPES))]]  # not drawn: Hypothesis likes some better than others
    shape, below, above, interior = [], [], [], []
    for _ in range(rank):
        n, r = draw(st.integers(0, LONGEST[rank])), draw(st.integers(0, 3))
        d = (n - 1) * (r + 1) + 1 if n else 0
        p = draw(st.integers(-d - 3, 5))
        shape.append(n)
        interior.append(r)
        below.append(p)
        above.append(draw(st.integers(-d - p, max(-d - p, 0) + 5)))
    attributes = {"padding_below": below, "padding_above": above, "padding_interior": interior}
    data, fill = (movable(native.random_array(rng, dtype, dims)) for dims in (shape, ()))
    return Case("NGraphPad_0", attributes, [data, fill], frozenset({1}) if draw(st.booleans()) else frozenset())


def movable(array: np.ndarray) -> np.ndarray:
    """Without NaNs where XLA moves elements by way of a larger type, which changes their payload."""
    if by_numpy(array.dtype).name not in ("bfloat16", "float8e5m2"):
        return array
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return np.where(np.isnan(array), np.zeros((), array.dtype), array)


def configuration(case: Case) -> list[tuple[int, int, int]]:
    """The amounts in the form that lax.pad takes."""
    names = ("padding_below", "padding_above", "padding_interior")
    return list(zip(*(case.attributes[name] for name in names)))


def lax_pad(batch: list[Case]) -> list[np.ndarray]:
    """lax.pad of each case."""

    def pad(inputs):
        return [lax.pad(*pair, configuration(case)) for pair, case in zip(inputs, batch)]

    return [np.asarray(output) for output in jax.jit(pad)([case.inputs for case in batch])]


def test_lax_pad_agrees() -> None:
    """P1, P3 FULL, P6 and P7: every bit."""
    seen: Counter[str] = Counter()

    def check(batch: list[Case]) -> None:
        for case, expected in zip(batch, lax_pad(batch)):
            got = native.run(case.op, case.attributes, case.inputs, "n", case.constants)
            assert native.bits(got) == native.bits(expected), case
            seen["agree"] += 1
            seen[by_numpy(got.dtype).name] += 1
            seen["interior"] += any(case.attributes["padding_interior"]) and got.size > 0
            seen["crop"] += any(min(low, high) < 0 for low, high, _ in configuration(case)) and got.size > 0
            seen["empty data"] += case.inputs[0].size == 0 and got.size > 0
            dilated = [
                (n - 1) * (r + 1) + 1 if n else 0 for n, (_, _, r) in zip(case.inputs[0].shape, configuration(case))
            ]
            beyond = any(low <= -d or high <= -d for d, (low, high, _) in zip(dilated, configuration(case)) if d)
            seen["beyond the data"] += beyond and got.size > 0

    least = {"agree": EXAMPLES}
    if EXAMPLES >= 800:  # of fewer, not every kind need come up
        least |= {"interior": EXAMPLES // 4, "crop": EXAMPLES // 4, "empty data": 20, "beyond the data": 20}
        least |= dict.fromkeys(JAX_TYPES, 10)
    batches = st.lists(cases(), min_size=BATCH, max_size=BATCH)
    explore(batches, check, -(-EXAMPLES // BATCH), lambda: all(seen[key] >= count for key, count in least.items()))
    print(dict(seen))


@pytest.mark.parametrize(
    "rule, shape, below, above, interior",
    [
        ("P1", [3], [-2], [-2], [0]),
        ("P1", [0], [-1], [0], [3]),
        ("P1", [2], [-9], [3], [2]),
        ("P6", [3], [0], [0], [-1]),
    ],
)
def test_lax_pad_refuses_too(rule: str, shape: list, below: list, above: list, interior: list) -> None:
    """A negative dim and a negative interior are errors on both sides."""
    attributes = {"padding_below": below, "padding_above": above, "padding_interior": interior}
    case = Case("NGraphPad_0", attributes, [np.zeros(shape, np.float32), np.zeros((), np.float32)])
    with pytest.raises((TypeError, ValueError), match="at least 0|negative"):
        lax_pad([case])
    with pytest.raises(Exception, match=rf"\[{rule}\]"):
        native.run(case.op, attributes, case.inputs, "n")


@pytest.mark.parametrize("mode", ["SAME", "SAME_UPPER", "SAME_LOWER", "VALID"])
def test_padtype_to_pads_agrees(mode: str) -> None:
    """S1: 2,100 windows. A dilated kernel is, to JAX, a larger one."""
    of_jax = {"SAME_UPPER": "SAME"}.get(mode, mode)
    for n in range(15):
        for k in range(1, 6):
            for s in range(1, 8):
                for d in range(1, 5):
                    expected = lax.padtype_to_pads([n], [(k - 1) * d + 1], [s], of_jax)
                    assert [same_padding(n, k, s, d, mode)] == [tuple(pair) for pair in expected], (n, k, s, d)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-s"]))
