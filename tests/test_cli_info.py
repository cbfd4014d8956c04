"""``padops info`` and ``padops describe``, and the ways in which the command is started."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from command_lines import ROOT, Cli, columns, save
from small_models import model, one_pad, pad, same_but_for_the_pads, tensor

import padops
from padops.convert.records import SCHEMA
from padops.runtime import installed


def test_info(cli: Cli) -> None:
    code, out, err = cli("info")
    assert (code, err) == (0, "")
    lines = columns(out)
    for package, stated in installed.versions().items():
        assert lines_of(lines, package) == [package, stated]
    assert lines_of(lines, "library")[-1] == padops.get_library_path()
    described = padops.describe()
    names = ", ".join(op["name"] for op in described["ops"])
    assert [f"domain padops, version {described['version']}: {names}"] in lines
    assert lines[-1] == ["self-check: padops::Pad_18 of int16 in a session: equal to the reference"]


def test_another_distribution_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "version_of", {"onnx-weekly": "1.24.0.dev1", "numpy": "2.5.5"}.get)
    installed.installed_version.cache_clear()
    told = installed.versions()
    installed.installed_version.cache_clear()
    assert (told["onnx"], told["numpy"], told["onnxruntime"]) == ("1.24.0.dev1 (onnx-weekly)", "2.5.5", None)


def lines_of(lines: list[list[str]], name: str) -> list[str]:
    return next(line for line in lines if line and line[0].split()[0] == name)


FAILURES: dict[str, tuple[str, Any, str, str]] = {  # what fails in place of what, the error, and the self-check
    "no library": ("padops.runtime.library.get_library_path", OSError("no library"), "no library\n", "not run"),
    "nonsense": (
        "padops.spec.reference.run",
        np.zeros((2, 8), np.int16),
        "the self-check failed: [[2, 1, 0, ",
        "failed",
    ),
    "no rebuild": ("padops.runtime.library.describe", RuntimeError("no rebuild"), "no rebuild\n", "not run"),
}


@pytest.mark.parametrize(("where", "what", "error", "check"), FAILURES.values(), ids=FAILURES)
def test_info_fails(where: str, what: Any, error: str, check: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    names = set(json.loads(cli("info", "--json")[1]))

    def fail(*arguments: object) -> object:
        if isinstance(what, Exception):
            raise what
        return what

    monkeypatch.setattr(where, fail)
    code, _, err = cli("info")
    assert code == 1 and err.startswith(f"error: {error}")
    code, out, err = cli("info", "--json")
    told = json.loads(out)
    assert (code, err, told["self_check"], set(told)) == (1, f"error: {told['error']}\n", check, names)
    assert (told["library"] is None) is (what is FAILURES["no library"][1])
    if where.endswith("describe"):
        assert cli("describe") == (1, "", f"error: {error}")


def fields(page: str, heading: str) -> set[str]:
    """The fields that the first table behind a text of a page names."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(heading)[2]
    rows = itertools.takewhile(lambda line: line.startswith("|"), text[text.index("|") :].splitlines())
    return {name for row in rows for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])}


def test_info_as_json(cli: Cli) -> None:
    code, out, err = cli("info", "--json")
    told, described = json.loads(out), padops.describe()
    assert (code, err, told["schema"], told["error"], told["why"]) == (0, "", 1, None, None)
    assert (told["versions"], told["library"]) == (installed.versions(), padops.get_library_path())
    assert (told["domain"], told["version"]) == (described["domain"], described["version"])
    assert told["operators"] == {op["name"]: op["types"] for op in described["ops"]}
    assert (told["self_check"], isinstance(told["providers"], dict)) == ("equal", True)
    assert fields("ci.md", "`padops info --json` describes") == set(told) - {"why"}


def test_verify_as_json(cli: Cli, tmp_path: Path) -> None:
    source, out_file = save(tmp_path / "m.onnx", one_pad(13)), tmp_path / "out.onnx"
    verification = padops.convert(source, out_file, verify=True).verification
    code, out, err = cli("verify", source, out_file, "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    about = {"schema": SCHEMA, "versions": installed.versions(), "original": str(source), "converted": str(out_file)}
    assert {name: told.pop(name) for name in [*about, "exit"]} == about | {"exit": 0}
    assert told == json.loads(json.dumps(verification.to_json()))
    assert fields("verification.md", "`Verification.to_json()` have:") == set(told)
    edge = model([pad(name="p", mode="edge")], 13, tensors=[tensor("pads", [1, 0, 0, 2])])
    other = save(tmp_path / "other.onnx", edge)
    code, out, _ = cli("verify", source, other, "--json", "--run")
    told = json.loads(out)
    assert (code, told["exit"], told["verdict"]) == (4, 4, "different")


def test_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    other = importlib.util.find_spec("onnx.onnx_cpp2py_export").origin
    monkeypatch.setenv("PADOPS_LIBRARY", other)
    result = subprocess.run([sys.executable, "-m", "padops", "info"], capture_output=True, text=True)
    told = f"error: {Path(other).resolve()} is not the library of padops: it has no function padops_describe; "
    assert (result.returncode, result.stderr.startswith(told), result.stderr.count("\n")) == (1, True, 1), result.stderr


def test_info_where_onnxruntime_refuses_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADOPS_COPY", "foo")
    command = [sys.executable, "-m", "padops", "info", "--json"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1 and padops.get_library_path() in result.stdout
    assert "Traceback" not in result.stderr and "error: the self-check failed: " in result.stderr
    assert "PADOPS_COPY is 'foo', expected baseline, avx2 or string" in result.stderr.splitlines()[-1]
    assert json.loads(result.stdout)["self_check"] == "failed"


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


def test_other_providers(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    names = ["OpenVINOExecutionProvider", "CUDAExecutionProvider", "OtherExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: names)
    code, shown, _ = cli("info")
    assert code == 0 and "CPUExecutionProvider:" not in shown
    assert "OpenVINOExecutionProvider: rules of onnxruntime-openvino 1.24.1\n" in shown
    assert "CUDAExecutionProvider: rules read in its source, not run\n" in shown
    assert "OtherExecutionProvider: padops has no rules for it, and stands behind it; " in shown
    assert ": padops probe OtherExecutionProvider\n" in shown
