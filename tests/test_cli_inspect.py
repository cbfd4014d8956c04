"""``padops inspect``: what it prints, as text of 80 columns and as JSON, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import command_lines
import pytest
from command_lines import give
from onnx import helper
from small_models import external, model, one_pad, pad, tensor

import padops
from padops.convert.records import SCHEMA
from padops.runtime.provider import FIRST_MINOR, runtime_minor

MODELS = Path(__file__).resolve().parent.parent / "models"
ROADS = ["session" if runtime_minor() >= FIRST_MINOR else "memory", "convert", "lower"]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    return command_lines.run(capsys, "inspect", *arguments)


def test_a_model_that_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    path = MODELS / "int16.onnx"
    code, out, err = run(capsys, path)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"{path}: 1 Pad: 1 refused (onnxruntime")
    assert lines[1:6] == [
        "",
        "graph/padded_pad  refuses",
        "  Pad (opset 18): reflect, int16 [1, samples] → [1, ?], axis 1: 4 before, 4 after",
        "  ONNX Runtime has no Pad of int16 at opset 18",
        "",
    ]
    assert lines[6] == "Fixes, best first:"
    assert f"  padops convert {path} -o OUT.onnx" in lines
    assert run(capsys, path, "--check")[0] == 3


def test_a_model_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, MODELS / "pad_02.onnx", "--check")
    assert (code, "Fixes" in out) == (0, False)
    code, out, _ = run(capsys, MODELS / "pad_02.onnx", "--select", "needed")
    assert (code, "graph/" in out) == (0, False)
    assert out.startswith(f"{MODELS / 'pad_02.onnx'}: 3 Pads, 0 selected (onnxruntime ")


def test_json_has_what_the_report_of_a_conversion_has(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, MODELS / "int16.onnx", "--json")
    (told,) = json.loads(out)["models"]
    assert (code, told["schema"], told["roads"], list(told["commands"])) == (0, SCHEMA, ROADS, ROADS)
    assert told["counts"]["refuses"] == 1
    (facts,) = told["pads"]
    assert facts == {
        "path": "graph/padded_pad", "name": "padded_pad", "form": "Pad-18 inputs", "operator": "Pad", "opset": 18,
        "mode": "reflect", "type": "int16", "input_shape": [1, "samples"], "output_shape": [1, None],
        "amounts": [[0, 0], [4, 4]], "fill": None, "verdict": "refuses",
        "why": "ONNX Runtime has no Pad of int16 at opset 18",
        "roads": [road for road in ROADS if road != "memory"],
    }  # fmt: skip
    (record,) = padops.convert(MODELS / "int16.onnx").to_json()["pads"]
    assert {name: record[name] for name in facts if name != "roads"} == {
        name: value for name, value in facts.items() if name != "roads"
    }


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "missing.onnx"
    assert run(capsys, missing) == (1, "", f"error: {missing} does not exist\n")
    (tmp_path / "m.onnx").write_bytes(
        model([pad()], 17, tensors=[external("w", "w.bin", 4), tensor("pads", [0] * 4)]).SerializeToString()
    )
    code, _, err = run(capsys, tmp_path / "m.onnx")
    assert (code, "w.bin" in err) == (1, True)
    (tmp_path / "n.onnx").write_bytes(model([helper.make_node("Identity", ["x"], ["y"])]).SerializeToString())
    assert run(capsys, tmp_path / "n.onnx")[1].splitlines()[-1] == "the model has no Pad"


def test_a_link_that_leads_to_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "loop.onnx"
    path.symlink_to(path)
    assert run(capsys, path) == (1, "", f"error: {path} does not exist: it is a link to {path}\n")


def test_a_model_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    give(monkeypatch, one_pad(1).SerializeToString())
    code, out, err = run(capsys, "-", "--check")
    assert (code, err) == (3, "")
    assert out.startswith("the model: 1 Pad: 1 refused (onnxruntime")
    assert "  padops convert model.onnx -o OUT.onnx\n" in out


def test_standard_input_that_is_no_model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    give(monkeypatch, b"")
    assert run(capsys, "-") == (1, "", "error: standard input is empty: no model came through it\n")
    give(monkeypatch, model([pad()], tensors=[external("pads", "w.bin", 32)]).SerializeToString())
    code, out, err = run(capsys, "-")
    assert (code, out) == (1, "") and "the model from standard input has external data (w.bin)" in err
