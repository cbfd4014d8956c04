"""``padops inspect`` of standard input, and of a model with many Pads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import give
from onnx import TensorProto
from small_irs import PAD_IR, PAD_IR_WEIGHTS
from small_models import FLOAT, external, model, one_pad, pad, tensor
from test_cli_inspect import run

from padops.cli.tables import SHOWN_ALIKE

ALIKE = SHOWN_ALIKE + 3


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


def test_a_folder_of_irs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.xml").write_text(PAD_IR)
    (tmp_path / "m.bin").write_bytes(PAD_IR_WEIGHTS)
    code, out, err = run(capsys, tmp_path)
    assert (code, err, out.splitlines()[0]) == (0, "", f"{tmp_path}/m.xml: 1 Pad: 1 refused")


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
    assert len(json.loads(run(capsys, path, "--json")[1])["models"][0]["pads"]) == ALIKE + 1
