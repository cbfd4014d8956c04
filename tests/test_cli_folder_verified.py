"""What ``padops convert --verify`` of a folder says of the verifications."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_lines import run
from onnx import helper
from small_models import model, one_pad, pad, tensor

from padops.convert.rewrite import TARGETS


def test_the_summary_counts_what_was_verified(
    unproved: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, out, report = tmp_path / "in", tmp_path / "out", tmp_path / "r.json"
    made.mkdir()
    noise = helper.make_node("RandomNormalLike", ["p"], ["y"])
    untold = model([pad(output="p"), noise], tensors=[tensor("pads", [0, 1, 0, 1])])
    for name, source in (("a", one_pad(13)), ("b", one_pad(1)), ("untold", untold)):
        (made / f"{name}.onnx").write_bytes(source.SerializeToString())
    (made / "broken.onnx").write_bytes(b"no model")
    code, text, err = run(capsys, "convert", made, out, "--verify", "--run", "--report", report)
    why = "not verified: y of the original changes from run to run: only types and shapes are compared"
    assert code == 1 and (out / "untold.onnx").exists()
    assert f"{made / 'untold.onnx'}: warning: {why}; 1 Pad: 1 converted; wrote {out / 'untold.onnx'}" in err
    lines = text.splitlines()[-2:]
    assert lines[0].startswith("4 models, 1 failed; 3 Pads: 3 converted")
    assert lines[1:] == [
        "verification: 0 proved, 2 tested, 0 different, 1 unknown, 1 not verified",
    ]
    told = json.loads(report.read_text())
    assert told["verification"] == {"proved": 0, "tested": 2, "different": 0, "unknown": 1, "not verified": 1}
    assert [row["warning"] for row in told["files"] if row["exit"] == 5] == [why]
    assert "verification" not in run(capsys, "convert", made, tmp_path / "other")[1]


def test_the_summary_names_what_is_different(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = TARGETS["padops"]

    def emit(replacement, found, constants, types) -> None:
        real(replacement, found, constants, types)
        found.node.replace_input_with(1, constants.add(np.array([0, 0, 1, 2]), found, "wrong"))

    monkeypatch.setitem(TARGETS, "padops", emit)
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / "a.onnx"
    source.write_bytes(one_pad(13).SerializeToString())
    code, text, err = run(capsys, "convert", tmp_path / "in", tmp_path / "out", "--verify", "--run")
    assert (code, err) == (4, f"{source}: error: 1 output differs; y: shape [5, 3] became [3, 5]\n")
    assert text.splitlines()[-1] == "verification: 0 proved, 0 tested, 1 different, 0 unknown, 0 not verified"


def test_the_summary_counts_what_was_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --strict, what is only tested fails, and is named."""
    made, report = tmp_path / "in", tmp_path / "r.json"
    made.mkdir()
    (made / "a.onnx").write_bytes(one_pad(13).SerializeToString())
    code, text, err = run(capsys, "convert", made, tmp_path / "out", "--verify", "--strict", "--report", report)
    assert (code, err) == (0, "")
    assert text.splitlines()[-1] == "verification: 1 proved, 0 tested, 0 different, 0 unknown, 0 not verified"
    assert json.loads(report.read_text())["files"][0]["report"]["verification"]["verdict"] == "proved"
