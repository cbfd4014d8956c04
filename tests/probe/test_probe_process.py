"""The process that runs one model beside a provider: what it says, and what is said of one that dies or hangs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_providers import PROGRAM, Fake
from provider_sessions import CPU
from stand_in_sessions import in_a_process, stand_in

from padops.convert.errors import PadopsError
from padops.probe import running
from padops.probe.outcome import Asked, probe, text_of
from padops.probe.probes import PROBES, Case, expected_of, feeds_of, model_of

PLAIN, NAMED = {row.mode: row for row in PROBES[:4]}, {row.name: row for row in PROBES}
NAME = "StandInExecutionProvider"


def question(row: Case, **other: object) -> dict:
    given = {"provider": CPU, "library": "", "options": {}, "rules": None}
    return given | {"model": model_of(row), "feeds": feeds_of(row), "expected": expected_of(row)} | other


def test_what_a_process_does() -> None:
    dying = Asked("Fake", program=(*PROGRAM, "dying"))
    dead = dying.model(PLAIN["edge"])
    assert (dead.does, dead.why, dead.fails) == ("dies", "the process has died (SIGABRT)", True)
    assert dying.model(PLAIN["wrap"]) == Fake("Fake", "dying").model(PLAIN["wrap"])
    assert (dying.about(), dying.model(PLAIN["wrap"]).does) == (Fake("Fake", "dying").about(), "wrong")
    late = replace(dying, seconds=1).model(PLAIN["reflect"])
    assert (late.does, late.why) == ("dies", "the process gave no answer within 1 s")
    with pytest.raises(PadopsError, match="Fake: onnxruntime has left Fake out of a session"):
        Asked("Fake", program=(*PROGRAM, "dropped")).model(PLAIN["edge"])


def test_a_provider_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PadopsError, match=f"has no provider {NAME} here; it has .*{CPU}.*; for a plugin, name its lib"):
        Asked(NAME).about()
    broken = tmp_path / "broken.so"
    broken.write_text("no library")
    with pytest.raises(PadopsError, match=rf"^{NAME}: .*broken\.so"):
        Asked(NAME, str(broken)).about()
    with pytest.raises(PadopsError, match=rf"^{NAME}: the process has died \(exit code 3\) while it loaded"):
        Asked(NAME, program=("-c", "raise SystemExit(3)")).about()


def test_what_the_process_says() -> None:
    """Of a provider, and of a wrong answer."""
    told = running.answer({"provider": CPU, "library": "", "options": {}})
    assert CPU in told["providers"] and told["plugin"] == "" and "CPU of " in told["devices"][0]
    zero = NAMED["constant negative zero"]
    for row, expected, why in (
        (PLAIN["constant"], np.zeros((2, 3), np.float32), "float32[1, 2, 6, 9] in the place of float32[2, 3]"),
        (PLAIN["constant"], np.zeros((1, 2, 6, 9), np.float32), "40 of 108 elements differ"),
        (zero, np.abs(expected_of(zero)), "the sign of a zero differs"),
    ):
        told = running.answer(question(row, expected=expected))
        assert (told["does"], told["why"]) == ("wrong", why)
    assert running.difference(np.array([np.nan, 1]), np.array([-np.nan, 1])) == ""


def test_what_the_processor_refuses_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    told = running.answer(question(NAMED["constant of rank 0"]))
    assert told["does"] == "leaves" and "Pad" in told["why"]
    assert running.answer(question(PLAIN["edge"])) == {"does": "right", "why": "", "is_shared": True}
    # A provider's own refusal in the same words: the Pad is not listed as one of the processor's.
    monkeypatch.setattr(running, "_leaves_pad", lambda session: False)
    assert running.answer(question(NAMED["constant of rank 0"]))["does"] == "refuses"


def test_a_session_without_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    found = running.Ran(expected_of(PLAIN["edge"]), [CPU], running.Counter())
    monkeypatch.setattr(running, "run_model", lambda create, feeds: found)
    with pytest.raises(RuntimeError, match=f"onnxruntime has left {NAME} out of a session that has {CPU}"):
        running.answer(question(PLAIN["edge"], provider=NAME))
    ran = replace(found, nodes=running.Counter({("Pad", CPU): 1, ("Relu", NAME): 2}), providers=[NAME, CPU])
    monkeypatch.setattr(running, "run_model", lambda create, feeds: ran)
    assert running.answer(question(PLAIN["edge"], provider=NAME))["does"] == "leaves"


def test_a_library_from_asking_it_to_a_session_with_the_rules(tmp_path: Path) -> None:
    said = in_a_process(NAME, "name")
    assert said.stderr.count(f"{NAME}: padops has no rules for it, and stands behind it; to measure it") == 1
    assert f"padops probe {NAME}\n" in said.stderr
    found = probe(Asked(NAME, str(stand_in())), PROBES[:4])
    assert [(rule.does, rule.when, rule.modes) for rule in found.rules] == [("refuses", "always", ())]
    assert "the stand-in runs no Pad" in found.seen[0].why and found.unexplained == ()
    assert [(row.does, row.is_shared) for row in found.beside] == [("right", True)] * 4
    file = tmp_path / "rules.json"
    file.write_text(text_of(found))
    said = in_a_process(NAME, f"rules {file}")
    assert "the stand-in runs no Pad" not in said.stdout and "has no rules" not in said.stderr
    # In the user's folder, a session finds it by itself, where it has the same options.
    (tmp_path / f"{NAME}.json").write_text(text_of(found))
    said = in_a_process(NAME, "twice", PADOPS_RULES=str(tmp_path))
    assert "the stand-in runs no Pad" not in said.stdout and said.stderr == ""
    assert json.loads(said.stdout)["edge"]["rules"][NAME].startswith(f"{tmp_path / NAME}.json (onnxruntime ")
    said = in_a_process(NAME, "registered", PADOPS_RULES=str(tmp_path))
    assert "options was {} when they were measured, and is {'one': '1'} in this session" in said.stderr
