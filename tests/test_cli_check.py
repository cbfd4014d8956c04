"""``padops inspect`` of several models, and ``--check``: what it exits with."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest
from command_lines import run
from inspected_models import MADE
from small_models import FLOAT, model, pad

import padops
from padops.cli.inspect import KINDS, RULES
from padops.convert.records import RUNNING, Verdict

ALONE = {"right": 0, "refused": 3, "broken": 3, "wrong": 4, "unsure": 5, "unreadable": 1}


def test_each_kind_has_its_code(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, expected in ALONE.items():
        assert run(capsys, "inspect", f"{name}.onnx", "--check")[0] == expected, name
        assert run(capsys, "inspect", f"{name}.onnx")[0] == (expected == 1), name


def test_of_several_the_worst_counts(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = [4, 1, 3, 5, 0]
    for names in combinations(ALONE, 2):
        worst = min((ALONE[name] for name in names), key=order.index)
        assert run(capsys, "inspect", *(f"{name}.onnx" for name in names), "--check")[0] == worst, names
    assert run(capsys, "inspect", ".", "--check")[0] == 4


def test_what_is_allowed_counts_for_nothing(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allow = [word for kind in KINDS for word in ("--allow", kind)]
    for name, expected in ALONE.items():
        assert run(capsys, "inspect", f"{name}.onnx", "--check", *allow)[0] == (expected == 1), name
    assert run(capsys, "inspect", "wrong.onnx", "refused.onnx", "--check", "--allow", "wrong")[0] == 3
    assert run(capsys, "inspect", "unsure.onnx", "refused.onnx", "--check", "--allow", "refused")[0] == 5


def test_every_verdict_that_does_not_run_has_a_kind() -> None:
    assert set(RULES) == set(get_args(Verdict)) - set(RUNNING)
    assert {rule.kind for rule in RULES.values()} == set(KINDS)


def test_what_is_said_of_several_models(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for one that runs, the reasons of the others, and a total."""
    (inspected / "more").mkdir()
    (inspected / "more" / "one.onnx").write_bytes(MADE["right"].SerializeToString())
    (inspected / "more" / "report.xml").write_text("<testsuites/>")
    (inspected / "more" / "net.xml").write_text('<?xml version="1.0"?>\n<net name="g" version="10"/>')
    (inspected / "more" / "pulled.onnx").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    )
    (inspected / "more" / "moved.onnx").symlink_to("nowhere.onnx")
    nodes = [pad(["x"], f"y{i}", domain=f"d{i // 2}") for i in range(10)]
    many = model(nodes, 13, outputs=[("y0", FLOAT, None)], imports=[(f"d{i}", 1) for i in range(5)])
    (inspected / "many.onnx").write_bytes(many.SerializeToString())
    names = ("refused.onnx", "more", "missing.onnx", "refused.onnx", "unreadable.onnx", "many.onnx")
    code, out, err = run(capsys, "inspect", *names)
    assert code == 1
    assert err.splitlines() == [
        "error: more/moved.onnx does not exist: it is a link to nowhere.onnx",
        "error: more/net.xml is an IR of version 10, expected 11; OpenVINO writes that with "
        "openvino.save_model(openvino.Core().read_model(...), ...)",
        "error: more/pulled.onnx is a Git LFS pointer; git lfs pull fetches the file",
        "error: missing.onnx does not exist",
        "error: unreadable.onnx: not an ONNX model: it cannot be parsed as a protobuf message",
    ]
    assert out.splitlines() == [
        "refused.onnx: 1 Pad: 1 refused",
        "  refuses: ONNX Runtime has no Pad of opset 1",
        "more/one.onnx: 1 Pad: 1 run",
        "many.onnx: 10 Pads: 10 unknown",
        *(f"  unknown: padops does not know Pad of the domain d{i} (2 Pads)" for i in range(5)),
        "8 models, 2 with failing Pads, 5 unreadable; 12 Pads: 1 run, 1 refused, 10 unknown",
        "For reasons and fixes, run `padops inspect MODEL`",
    ]
    assert run(capsys, "inspect", "more", "--check")[0] == 1
    assert run(capsys, "inspect", "more/one.onnx", "right.onnx")[1].splitlines()[-1] == "2 models; 2 Pads: 2 run"


@pytest.mark.parametrize("command", [("inspect",), ("convert", "--dry-run")])
def test_a_folder_without_models(command: tuple[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.xml").write_text("<testsuites/>")
    told = f"error: {tmp_path} has no .onnx or .xml file in it\n"
    assert run(capsys, *command, tmp_path) == (1, "", told)


def test_the_json_has_one_form(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "inspect", "right.onnx", "missing.onnx", "--json")
    told = json.loads(out)
    right, missing = told.pop("models")
    assert (code, err, right) == (1, "error: missing.onnx does not exist\n", padops.inspect("right.onnx").to_json())
    assert told == {name: right[name] for name in ("schema", "versions")}
    assert missing == told | {"path": "missing.onnx", "error": "missing.onnx does not exist"}
    assert run(capsys, "inspect", "right.onnx", "missing.onnx", "--format", "json")[1] == out
    for name, found in (("right.onnx", right), ("missing.onnx", missing)):
        assert json.loads(run(capsys, "inspect", name, "--json")[1]) == told | {"models": [found]}


def test_a_provider_that_is_not_there(inspected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "inspect", "right.onnx", "--providers", "cpu,Cupid")
    assert (code, out) == (2, "")
    assert re.search("onnxruntime .* knows no provider Cupid; expected one of .*CPUExecutionProvider.*$", err)
