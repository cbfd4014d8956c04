"""Pairs of models that look alike and differ for some input: a run shows that they do, and none is proved."""

from __future__ import annotations

import pytest
from crafted_pair import answers
from every_pair import KINDS, PAIRS


def test_there_are_many_of_each_kind() -> None:
    assert min(map(len, KINDS.values())) > 15
    assert sum(map(len, KINDS.values())) == len(PAIRS) > 200, "and no two of them have one name"


@pytest.mark.parametrize("name", PAIRS)
def test_they_differ(name: str) -> None:
    """The first one runs, and the second gives something else, or fails."""
    one = PAIRS[name]
    expected = answers(one.original, one.feeds)
    assert not isinstance(expected, str), expected
    assert answers(one.converted, one.feeds) != expected
