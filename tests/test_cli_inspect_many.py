"""``padops inspect`` of standard input, and of a model with many Pads."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from small_irs import PAD_IR, PAD_IR_WEIGHTS
from small_models import external, model, one_pad, pad
from test_cli_inspect import run


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


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
