"""What ``padops convert --verify`` of a folder says of the verifications."""

from __future__ import annotations

import json
from pathlib import Path

from command_lines import Cli, save
from onnx import helper
from small_models import model, one_pad, pad, tensor


def test_the_summary_counts_what_was_verified(unproved: None, tmp_path: Path, cli: Cli) -> None:
    made, out, report = tmp_path / "in", tmp_path / "out", tmp_path / "r.json"
    made.mkdir()
    noise = helper.make_node("RandomNormalLike", ["p"], ["y"])
    untold = model([pad(output="p"), noise], tensors=[tensor("pads", [0, 1, 0, 1])])
    for name, source in (("a", one_pad(13)), ("b", one_pad(1)), ("untold", untold)):
        save(made / f"{name}.onnx", source)
    (made / "broken.onnx").write_bytes(b"no model")
    code, text, err = cli("convert", made, out, "--verify", "--run", "--report", report)
    why = "y of the original changes from run to run: only types and shapes are compared"
    assert code == 1 and (out / "untold.onnx").exists()
    assert f"{made / 'untold.onnx'}: warning: not verified: {why}; 1 Pad: 1 converted; wrote " in err
    total, *lines = text.splitlines()[-4:]
    assert total.startswith("4 models, 1 failed; 3 Pads: 3 converted")
    assert lines[:2] == [
        "verification: 0 proved, 2 tested, 0 different, 1 unknown, 1 not verified",
        f"  {made / 'untold.onnx'}  unknown: {why}",
    ]
    assert lines[2].startswith(f"  {made / 'broken.onnx'}  not verified: {made / 'broken.onnx'}: not an ONNX model: ")
    told = json.loads(report.read_text())
    assert told["verification"] == {"proved": 0, "tested": 2, "different": 0, "unknown": 1, "not verified": 1}
    assert [row["warning"] for row in told["files"] if row["exit"] == 5] == [f"not verified: {why}"]
    assert "verification" not in cli("convert", made, tmp_path / "other")[1]


def test_the_summary_names_what_is_different(wrong_amounts: None, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "in").mkdir()
    source = save(tmp_path / "in" / "a.onnx", one_pad(13))
    code, text, _ = cli("convert", tmp_path / "in", tmp_path / "out", "--verify", "--run")
    assert code == 4
    assert text.splitlines()[-2:] == [
        "verification: 0 proved, 0 tested, 1 different, 0 unknown, 0 not verified",
        f"  {source}  different: 1 output differs; y: shape [5, 3] became [3, 5]",
    ]


def test_the_summary_counts_what_was_proved(tmp_path: Path, cli: Cli) -> None:
    """With --strict, what is only tested fails, and is named."""
    made, report = tmp_path / "in", tmp_path / "r.json"
    made.mkdir()
    (made / "a.onnx").write_bytes(one_pad(13).SerializeToString())
    code, text, err = cli("convert", made, tmp_path / "out", "--verify", "--strict", "--report", report)
    assert (code, err) == (0, "")
    assert text.splitlines()[-1] == "verification: 1 proved, 0 tested, 0 different, 0 unknown, 0 not verified"
    assert json.loads(report.read_text())["files"][0]["report"]["verification"]["verdict"] == "proved"
