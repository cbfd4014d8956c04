"""``padops info`` and ``padops describe``, and the ways in which the command is started."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from command_lines import ROOT, columns, run, save
from small_models import one_pad, same_but_for_the_pads

import padops
from padops.runtime import installed


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "info")
    assert (code, err) == (0, "")
    lines = columns(out)
    for package, stated in installed.versions().items():
        assert lines_of(lines, package) == [package, stated]
    assert lines_of(lines, "library")[-1] == padops.get_library_path()
    described = padops.describe()
    count = f"{len(described['ops'])} operators, {len(described['types'])} element types"
    assert [f"domain padops, version {described['version']}: {count}"] in lines
    assert types_told(out) == {op["name"]: sorted(op["types"]) for op in described["ops"]}
    assert [line for line in out.splitlines() if len(line) > 80 and "library" not in line] == []
    assert lines[-1] == ["self-check: padops::Pad_18 of int16 in a session: equal to the reference"]


def types_told(out: str) -> dict[str, list[str]]:
    """The element types of each operator, as ``padops info`` lists them: "and" adds to those of the group above."""
    told: dict[str, list[str]] = {}
    names: list[str] = []
    types: set[str] = set()
    for line in out.splitlines():
        indent, words = len(line) - len(line.lstrip()), line.replace(",", "").split()
        if indent == 2:
            names = words
        elif indent == 6:
            types = types | set(words[1:]) if words[0] == "and" else set(words)
            told |= {name: sorted(types) for name in names}
    return told


def lines_of(lines: list[list[str]], name: str) -> list[str]:
    return next(line for line in lines if line and line[0].split()[0] == name)


def test_info_fails_where_the_library_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import padops.runtime.library

    def missing() -> str:
        raise FileNotFoundError("libpadops.so is not there")

    monkeypatch.setattr(padops.runtime.library, "get_library_path", missing)
    code, _, err = run(capsys, "info")
    assert (code, err) == (1, "error: libpadops.so is not there\n")


@pytest.mark.parametrize("command", ["info", "describe"])
def test_another_library(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = importlib.util.find_spec("onnx.onnx_cpp2py_export").origin
    monkeypatch.setenv("PADOPS_LIBRARY", other)
    result = subprocess.run([sys.executable, "-m", "padops", command], capture_output=True, text=True)
    told = f"error: {Path(other).resolve()} is not the library of padops: it has no function padops_describe; "
    assert (result.returncode, result.stderr.startswith(told), result.stderr.count("\n")) == (1, True, 1), result.stderr


@pytest.mark.parametrize("command", ["info", "describe"])
def test_a_rebuild_that_fails(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import padops.runtime.session

    def fails() -> dict[str, object]:
        raise RuntimeError("the editable install of padops could not rebuild its library")

    monkeypatch.setattr(padops.runtime.session, "describe", fails)
    code, _, err = run(capsys, command)
    assert (code, err) == (1, "error: the editable install of padops could not rebuild its library\n")


def test_info_fails_where_the_library_computes_nonsense(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from padops.spec import reference

    monkeypatch.setattr(reference, "run", lambda *arguments: np.zeros((2, 8), np.int16))
    code, _, err = run(capsys, "info")
    assert code == 1
    assert err.startswith("error: the self-check failed: 1 output differs; y: ")


def test_describe(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "describe")
    assert (code, json.loads(out)) == (0, padops.describe())


def test_as_a_module_from_an_empty_folder(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-m", "padops", "info"], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1].endswith("equal to the reference")


def test_the_script_is_the_command(tmp_path: Path) -> None:
    save(tmp_path / "in.onnx", one_pad(13))
    script = ROOT / "scripts" / "convert.py"
    command = [sys.executable, str(script), "in.onnx", "-o", "out.onnx", "--verify", "--run", "--no-fallback"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "the outputs are bit-equal" in result.stdout
    assert same_but_for_the_pads(one_pad(13), onnx.load(tmp_path / "out.onnx"))
    result = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2


def test_the_script_where_padops_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It hands over to the checkout's own Python."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    spec = importlib.util.spec_from_file_location("convert_script", ROOT / "scripts" / "convert.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    import environment

    called = []
    monkeypatch.setattr(script.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(environment, "ensure", lambda extras: Path("python"))
    monkeypatch.setattr(environment, "hand_over", lambda command: called.append(command) or 7)
    assert script.main(["a", "-o", "b"]) == 7
    assert called == [[Path("python"), "-m", "padops", "convert", "a", "-o", "b"]]


def test_other_providers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It says for which of them padops has no rules."""
    names = ["OpenVINOExecutionProvider", "CUDAExecutionProvider", "OtherExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: names)
    code, shown, _ = run(capsys, "info")
    assert code == 0
    assert "OpenVINOExecutionProvider: rules of onnxruntime-openvino 1.24.1\n" in shown
    assert "CUDAExecutionProvider: rules read in its source, not run\n" in shown
    assert "OtherExecutionProvider: padops has no rules for it, and stands behind it\n" in shown
    assert "CPUExecutionProvider:" not in shown
