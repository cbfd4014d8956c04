"""Pairs of models that look alike and differ: none is proved, each model is proved to be itself, and runs tell most."""

from __future__ import annotations

from collections import Counter

import onnx
import pytest
from crafted_pair import answers
from every_pair import KINDS, PAIRS
from pairs_of_trust import KINDS as TRUST

import padops
from padops.convert.errors import PadopsError
from padops.convert.verify import choice, compare
from padops.convert.verify.proof import prove
from padops.convert.verify.sessions import Trial, run_trials

# Runs do not tell these: floats that round, or a size that none has.
ROUNDED = {"minus 0 that an Add loses", "an Add that rounds", "a Mul that overflows", "floats are not associative"}
HIDDEN = {
    "amounts that overflow int32",
    "n > 20,000",
    "draws of other seeds",
    "AveragePool: no elements",
    "a mode that the operator does not know, in a branch that is never taken",
}
WEAK = 7  # of the kinds of ``TRUST``, the least pairs of each


def test_there_are_many_of_each_kind() -> None:
    assert min(map(len, KINDS.values())) > 15
    assert sum(map(len, KINDS.values())) == len(PAIRS) > 200, "and no two of them have one name"
    assert min(len(list(kind())) for kind in TRUST) >= WEAK


@pytest.mark.parametrize("name", PAIRS)
def test_they_differ_and_none_is_proved(name: str) -> None:
    """The first one runs, and the second gives something else, or fails."""
    one = PAIRS[name]
    expected = answers(one.original, one.feeds)
    assert not isinstance(expected, str), expected
    assert answers(one.converted, one.feeds) != expected
    proof = prove(one.original, one.converted)
    assert proof.verdict != "proved", proof.regions
    assert proof.why or any(region.why for region in proof.regions if region.verdict != "proved")
    for model in (one.original, one.converted):
        assert prove(model, model).verdict == "proved", "it is not left out for something that no proof takes"


@pytest.mark.parametrize("kind", KINDS)
def test_runs_show_most_differences(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every ninth pair."""
    monkeypatch.setattr(compare, "MANY", 500)
    told = {one.name: padops.verify(one.original, one.converted).verdict for one in KINDS[kind][::9]}
    assert set(told.values()) <= {"different", "tested", "unknown"}
    assert {name for name, verdict in told.items() if verdict != "different"} <= ROUNDED | HIDDEN


def test_periods_that_are_too_long_hide_no_difference() -> None:
    one = PAIRS["H of 14 by 101, and W of 14 by 97"]
    assert padops.verify(one.original, one.converted).verdict == "different"


def test_small_runs_end_with_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run here has a million elements, so that eight are enough, and not 500."""
    runs = []

    def counted(*given: object) -> list[Trial]:
        trials = run_trials(*given)  # type: ignore[arg-type]
        runs.append(trials)
        return trials

    monkeypatch.setattr(compare, "run_trials", counted)
    text = """<ir_version: 10, opset_import: ["" : 18]> g (float[N] x) => (float[M] y) {{
      s = Constant <value_ints = [1048576]> () a = Constant <value_ints = [0]> ()
      t = ReduceSum (x, a) e = Expand (t, s) y = {} (e, e) }}"""
    one, other = (onnx.parser.parse_model(text.format(operator)) for operator in ("Max", "Min"))
    monkeypatch.setattr(choice, "in_copy", lambda run, room: run())
    assert padops.verify(one, other).verdict == "tested" and 2 < len(runs) < 20


@pytest.mark.parametrize("kind", TRUST, ids=lambda kind: kind.__name__)
def test_nothing_is_believed_too_easily(kind: object) -> None:
    for name, one, other in kind():  # type: ignore[operator]
        try:
            proof = prove(one, other)
        except PadopsError:
            continue
        assert proof.verdict != "proved" or kind.__name__ == "refused", name  # type: ignore[attr-defined]


def test_a_model_that_the_runtime_refuses_is_different() -> None:
    (rows,) = (list(kind()) for kind in TRUST if kind.__name__ == "refused")
    answers_of = {name: verdict(one, other) for name, one, other in rows}
    assert Counter(answers_of.values()).keys() <= {"different", "error"}, answers_of


def verdict(one: onnx.ModelProto, other: onnx.ModelProto) -> str:
    try:
        return padops.verify(one, other).verdict
    except (PadopsError, onnx.checker.ValidationError):
        return "error"
