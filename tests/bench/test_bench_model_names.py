"""What ``padops bench --model`` calls a model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_lines import ROOT

from padops import cli
from padops.bench import models


def test_the_file_of_a_model_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It was "/m.onnx" for one in the working folder, and a long name was broken into lines."""
    name = f"{'long_' * 40}m.onnx"
    shutil.copy(ROOT / "models" / "pad_19.onnx", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["bench", "--quick", "--threads", "1", "--model", name]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if name in line)
    assert line.split()[0] == name
    for given, named in (("m.onnx", "m.onnx"), ("a/m.onnx", "a/m.onnx"), ("/x/a/m.onnx", "a/m.onnx")):
        assert models.short_name(Path(given)) == str(Path(named))
    (tmp_path / "none.onnx").write_bytes(b"no model")
    assert cli.main(["bench", "--model", "none.onnx"]) == 1
    assert capsys.readouterr().err.startswith("error: none.onnx is not an ONNX model")
