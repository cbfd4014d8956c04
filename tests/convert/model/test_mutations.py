"""A few damaged files of each kind that the converter reads; ``tests/long/long_counts.py`` tries thousands."""

from __future__ import annotations

from itertools import islice

import pytest
from broken_files import server
from mutation.kinds import KINDS
from mutation.runner import harmed, tried
from slow import MORE

SEED, COUNT = 11, 2_000 if MORE else 25


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_file_is_refused_or_converted(kind: str) -> None:
    found = [tried(server(), mutant) for mutant in islice(KINDS[kind](SEED), COUNT)]
    assert not harmed(found), "\n".join(map(str, harmed(found)))
    refused = sum(outcome.code in (1, 2) for outcome in found)  # 2: what --inputs names is wrong
    assert refused, "none of the files was wrong enough"
