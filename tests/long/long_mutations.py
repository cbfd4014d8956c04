"""Thousands of wrong files of each kind that the converter reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mutation.kinds import KINDS
from mutation.runner import harmed, outcomes

SEED, COUNT = 1, 2_000


@pytest.mark.parametrize("kind", KINDS)
def test_mutants(kind: str, tally: Callable[[str, int, int], None]) -> None:
    bad = harmed(outcomes(KINDS[kind], SEED, COUNT))
    print(*bad, sep="\n")
    tally(f"{kind} mutants converted", COUNT, len(bad))
