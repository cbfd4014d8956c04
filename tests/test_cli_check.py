"""``padops inspect`` of several models, and ``--check``: what it exits with."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest
from command_lines import run
from inspected_models import MADE, write_models

import padops
from padops.cli.findings import EXIT_CODES, KINDS, RULES
from padops.convert.facts import RUNNING, Verdict

ALONE = {"right": 0, "refused": 3, "broken": 3, "wrong": 4, "unsure": 5, "unreadable": 1}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_models(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_kind_has_its_code(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, expected in ALONE.items():
        assert run(capsys, "inspect", f"{name}.onnx", "--check")[0] == expected, name
        assert run(capsys, "inspect", f"{name}.onnx")[0] == (expected == 1), name


def test_of_several_the_worst_counts(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong result is worse than none, one that cannot be told better than that."""
    order = [4, 1, 3, 5, 0]
    for names in combinations(ALONE, 2):
        worst = min((ALONE[name] for name in names), key=order.index)
        assert run(capsys, "inspect", *(f"{name}.onnx" for name in names), "--check")[0] == worst, names
    assert run(capsys, "inspect", ".", "--check")[0] == 4


def test_what_is_allowed_counts_for_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allow = [word for kind in KINDS for word in ("--allow", kind)]
    for name, expected in ALONE.items():
        assert run(capsys, "inspect", f"{name}.onnx", "--check", *allow)[0] == (expected == 1), name
    assert run(capsys, "inspect", "wrong.onnx", "refused.onnx", "--check", "--allow", "wrong")[0] == 3
    assert run(capsys, "inspect", "unsure.onnx", "refused.onnx", "--check", "--allow", "refused")[0] == 5


def test_every_verdict_that_does_not_run_has_a_kind() -> None:
    assert set(RULES) == set(get_args(Verdict)) - set(RUNNING)
    assert {rule.kind for rule in RULES.values()} == set(KINDS)
    assert set(EXIT_CODES) == {*KINDS, None}


def test_several_models_are_told_in_a_line_each(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "more").mkdir()
    (place / "more" / "one.onnx").write_bytes(MADE["right"].SerializeToString())
    code, out, err = run(capsys, "inspect", "refused.onnx", "more", "missing.onnx", "refused.onnx", "unreadable.onnx")
    lines = out.splitlines()
    assert (code, err, len(lines)) == (1, "", 5)
    assert lines[:3] == [
        "refused.onnx: 1 Pad: 1 refused",
        "more/one.onnx: 1 Pad: 1 run",
        "missing.onnx: error: does not exist",
    ]
    assert lines[3].startswith("unreadable.onnx: error: is not an ONNX model")
    assert lines[4] == "To see why, and what helps: padops inspect with one model"


def test_several_models_as_json(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "inspect", "right.onnx", "missing.onnx", "--json")
    right, missing = json.loads(out)["models"]
    assert (code, right) == (1, padops.inspect("right.onnx").to_json())
    head = {name: right[name] for name in ("schema", "versions")}
    assert missing == head | {"path": "missing.onnx", "error": "missing.onnx does not exist"}
    assert run(capsys, "inspect", "right.onnx", "missing.onnx", "--format", "json")[1] == out
    one = run(capsys, "inspect", "right.onnx", "--json")[1]
    assert json.loads(one) == padops.inspect("right.onnx").to_json()
    assert run(capsys, "inspect", "right.onnx", "--format", "json")[1] == one


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("right.onnx --allow wrong", "--allow needs --check"),
        ("right.onnx --check --allow wron", "did you mean wrong?"),
        ("right.onnx --check --strict", "argument --strict: not allowed with argument --check"),
        ("right.onnx --json --format sarif", "argument --format: not allowed with argument --json"),
        ("- right.onnx -", "- is named twice, but standard input has one model"),
    ],
)
def test_what_contradicts_itself(arguments: str, said: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "inspect", *arguments.split())
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].endswith(said)
