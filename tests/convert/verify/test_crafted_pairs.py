"""Pairs of models that look alike and differ: none is proved, each model is proved to be itself, and runs tell most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain

import onnx
import pytest
from crafted_pair import answers
from pairs_of_texts import graph_pairs, pad_pairs, size_pairs, value_pairs, window_pairs
from pairs_of_trust import KINDS as TRUST
from pairs_of_trust import Row, refused

import padops
from padops.convert.errors import PadopsError
from padops.convert.verify import choice, compare
from padops.convert.verify.proof import prove
from padops.convert.verify.sessions import run_trials

MADE = (value_pairs, pad_pairs, size_pairs, graph_pairs, window_pairs)
KINDS = {made.__name__.removesuffix("_pairs"): made() for made in MADE}
PAIRS = {made.name: made for made in chain(*KINDS.values())}
# Runs do not tell these: floats that round, or a size that none has.
ROUNDED = {"minus 0 that an Add loses", "floats are not associative"}
HIDDEN = {"n > 20,000", "draws of other seeds", "AveragePool: no elements",
          "a mode that the operator does not know, in a branch that is never taken"}  # fmt: skip
PERIODS = "H of 14 by 101, and W of 14 by 97"  # too long to be tried as sizes


@pytest.mark.parametrize("name", PAIRS)
def test_they_differ_and_none_is_proved(name: str) -> None:
    one = PAIRS[name]
    expected = answers(one.original, one.feeds)
    assert not isinstance(expected, str), expected
    assert answers(one.converted, one.feeds) != expected
    proof = prove(one.original, one.converted)
    assert proof.verdict != "proved", proof.regions
    assert proof.why or any(region.why for region in proof.regions if region.verdict != "proved")
    assert "cannot evaluate a node" not in proof.why
    for model in (one.original, one.converted):
        assert prove(model, model).verdict == "proved", "it is not left out for something that no proof takes"


@pytest.mark.parametrize("kind", KINDS)
def test_runs_show_most_differences(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MANY", 500)
    chosen = [one for at, one in enumerate(KINDS[kind]) if not at % 10 or one.name == PERIODS]
    told = {one.name: padops.verify(one.original, one.converted).verdict for one in chosen}
    assert set(told.values()) <= {"different", "tested", "unknown"}
    assert {name for name, verdict in told.items() if verdict != "different"} <= ROUNDED | HIDDEN


def test_small_runs_end_with_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run here has a million elements, so that eight are enough, and not 500."""
    runs = list[object]()
    monkeypatch.setattr(compare, "run_trials", lambda *given: runs.append(0) or run_trials(*given))
    text = """<ir_version: 10, opset_import: ["" : 18]> g (float[N] x) => (float[M] y) {{
      s = Constant <value_ints = [1048576]> () a = Constant <value_ints = [0]> ()
      t = ReduceSum (x, a) e = Expand (t, s) y = {} (e, e) }}"""
    one, other = (onnx.parser.parse_model(text.format(operator)) for operator in ("Max", "Min"))
    monkeypatch.setattr(choice, "in_copy", lambda run, room: run())
    assert padops.verify(one, other).verdict == "tested" and 2 < len(runs) < 20


@pytest.mark.parametrize("kind", [kind for kind in TRUST if kind is not refused], ids=lambda kind: kind.__name__)
def test_nothing_is_believed_too_easily(kind: Callable[[], Iterator[Row]]) -> None:
    for name, one, other in kind():
        with suppress(PadopsError):
            proof = prove(one, other)
            assert proof.verdict != "proved" and "cannot evaluate a node" not in proof.why, name
            assert "without the import" not in name or "which is not imported" in proof.why


def test_a_model_that_the_runtime_refuses_is_different() -> None:
    for name, one, other in refused():
        with suppress(PadopsError):
            assert prove(one, other).verdict != "proved", name
        with suppress(PadopsError, onnx.checker.ValidationError):
            assert padops.verify(one, other).verdict == "different", name
