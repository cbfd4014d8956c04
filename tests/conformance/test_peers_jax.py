"""S1 in JAX itself; how its Pad moves elements is the suite's business."""

from __future__ import annotations

from itertools import product

import pytest
from jax import lax

from padops.spec.dialects import same_padding


@pytest.mark.parametrize("mode", ["SAME", "SAME_UPPER", "SAME_LOWER", "VALID"])
def test_padtype_to_pads_agrees(mode: str) -> None:
    """S1: 2,100 windows. A dilated kernel is, to JAX, a larger one."""
    of_jax = {"SAME_UPPER": "SAME"}.get(mode, mode)
    for n, k, s, d in product(range(15), range(1, 6), range(1, 8), range(1, 5)):
        expected = lax.padtype_to_pads([n], [(k - 1) * d + 1], [s], of_jax)
        assert [same_padding(n, k, s, d, mode)] == [tuple(pair) for pair in expected], (n, k, s, d)
