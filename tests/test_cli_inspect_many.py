"""``padops inspect`` of standard input, of a folder, and of a model with many Pads."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from onnx import TensorProto
from small_models import FLOAT, external, model, one_pad, pad, tensor
from test_cli_inspect import run

import padops
from padops.cli.tables import SHOWN_ALIKE
from padops.convert import records
from padops.runtime.installed import versions

ALIKE = SHOWN_ALIKE + 3


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_model_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    give(monkeypatch, one_pad(1).SerializeToString())
    code, out, err = run(capsys, "-", "--strict")
    assert (code, err) == (3, "")
    assert out.startswith("the model: 1 Pad: 1 refused (onnxruntime")
    assert "  padops convert model.onnx -o OUT.onnx\n" in out


def test_standard_input_that_is_no_model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    give(monkeypatch, b"")
    assert run(capsys, "-") == (1, "", "error: standard input is empty: no model came through it\n")
    give(monkeypatch, model([pad()], tensors=[external("pads", "w.bin", 32)]).SerializeToString())
    code, out, err = run(capsys, "-")
    assert (code, out) == (1, "") and "the model from standard input has external data (w.bin)" in err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that runs, one that is refused, and one that is none."""
    (tmp_path / "more").mkdir()
    (tmp_path / "good.onnx").write_bytes(one_pad(13).SerializeToString())
    (tmp_path / "more" / "old.onnx").write_bytes(one_pad(1).SerializeToString())
    (tmp_path / "notes.txt").write_text("no model", encoding="utf-8")
    return tmp_path


def test_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = [
        f"{folder}/good.onnx: 1 Pad: 1 run",
        f"{folder}/more/old.onnx: 1 Pad: 1 refused",
        "To see why, and what helps: padops inspect with one model",
    ]
    assert run(capsys, folder) == (0, "\n".join(expected) + "\n", "")
    assert run(capsys, folder, "--strict")[0] == 3


def test_a_folder_with_what_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.onnx").write_bytes(b"\xff\xff")
    code, out, err = run(capsys, folder, "--strict")
    assert (code, err) == (1, "")
    first, *others = out.splitlines()
    assert first.startswith(f"{folder}/broken.onnx: error: is not an ONNX model")
    assert len(others) == 3


def test_a_folder_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.onnx").write_bytes(b"\xff\xff")
    code, out, _ = run(capsys, folder, "--json")
    told = json.loads(out)
    broken, good, old = told["models"]
    assert (code, list(told)) == (1, ["schema", "versions", "models"])
    assert list(broken) == ["schema", "versions", "path", "error"]
    assert {told["schema"], broken["schema"]} == {good["schema"]}
    assert good == padops.inspect(folder / "good.onnx").to_json()
    assert old["counts"]["refuses"] == 1


def test_one_file_that_cannot_be_read_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was printed for a program to read."""
    path = tmp_path / "none.onnx"
    code, out, err = run(capsys, path, "--json")
    assert (code, err) == (1, f"error: {path} does not exist\n")
    assert json.loads(out) == {
        "schema": records.SCHEMA, "versions": versions(), "path": str(path), "error": f"{path} does not exist"
    }  # fmt: skip


def test_a_folder_without_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, tmp_path) == (1, "", f"error: {tmp_path} has no .onnx file in it\n")


def test_of_many_that_are_alike_some_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [pad(["x", "pads"], f"y{i}", name=f"pad{i}", mode="reflect") for i in range(ALIKE)]
    outputs = [(f"y{i}", TensorProto.INT16, None) for i in range(ALIKE)]
    inputs = [("x", TensorProto.INT16, (4, 4))]
    other = pad(["z", "pads"], "w", name="other")
    message = model(
        [*nodes, other],
        18,
        inputs=[*inputs, ("z", FLOAT, (4, 4))],
        outputs=[*outputs, ("w", FLOAT, None)],
        tensors=[tensor("pads", [0, 1, 0, 1])],
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(message.SerializeToString())
    code, out, _ = run(capsys, path)
    assert code == 0
    assert sum(line.startswith("graph/pad") for line in out.splitlines()) == SHOWN_ALIKE
    assert "\ngraph/other  runs\n" in out
    assert (
        "\nand 3 more of Pad-18 inputs with the same verdict (refuses)\n"
        "  ONNX Runtime has no Pad of int16 at opset 18\n--json lists all Pads\n"
    ) in out
    assert len(json.loads(run(capsys, path, "--json")[1])["pads"]) == ALIKE + 1
