"""Pairs of models that look alike and differ for some input: a run shows that they do, and none is proved."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from crafted_pair import answers
from every_pair import KINDS, PAIRS

from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Proof, Verdict

LIMITS = Limits(goal_seconds=2, seconds=20)


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


@cache
def found(name: str) -> Proof:
    return prove(PAIRS[name].original, PAIRS[name].converted, limits=LIMITS)


@pytest.mark.parametrize("name", PAIRS)
def test_none_is_proved(name: str) -> None:
    proof = found(name)
    assert proof.verdict is not Verdict.PROVED, proof.regions
    assert proof.why or any(region.why for region in proof.regions if region.verdict is not Verdict.PROVED)


@pytest.mark.parametrize("name", PAIRS)
def test_each_model_is_proved_to_be_itself(name: str) -> None:
    """What is not proved above is not left out for something that no proof takes."""
    for model in (PAIRS[name].original, PAIRS[name].converted):
        assert prove(model, model, limits=LIMITS, functions=False).verdict is Verdict.PROVED


def test_many_are_suspected() -> None:
    """The rest is unknown, for a reason that is said."""
    counts = Counter(found(name).verdict for name in PAIRS)
    print(*(f"{count} {verdict.value}" for verdict, count in counts.items()), sep=", ")
    assert counts[Verdict.DIFFERENT] > 60 and counts[Verdict.PROVED] == 0
