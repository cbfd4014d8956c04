"""The script that runs padops on every runtime, Python and set of dependencies: what it chooses, and what it writes down."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    module = importlib.import_module("matrix")
    document = tmp_path / "matrix.md"
    document.write_text("before\n" + "".join([*module.ROWS, "between\n", *module.VERSIONS, "after\n"]))
    monkeypatch.setattr(module, "DOCUMENT", document)
    monkeypatch.setattr(module, "WORK", tmp_path)
    return module


def test_it_reads_every_dependency(matrix: ModuleType) -> None:
    found = {name: rest for name, *rest in matrix.dependencies()}
    assert {"numpy", "onnx", "onnx-ir", "onnxruntime", "ml_dtypes", "rich"} < set(found)
    assert found["onnxruntime-extensions"] == ["0.13", "0.14.0", "3.14"]


def test_the_lowest_version_is_the_first_with_a_wheel(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"numpy": ("1.25.0", "2.1.0", "2.5.0"), "onnxruntime-extensions": ("0.14.0", "0.15.0"), "onnx": ("1.20.0",)}
    monkeypatch.setattr(matrix, "wheels", lambda python, name: there.get(name, ()))
    lowest = matrix.Cell("python", matrix.WORK / "python3.13-lowest", matrix.WORK / "wheel", True).lowest_versions()
    assert (lowest["numpy"], lowest["onnxruntime-extensions"], lowest["onnx"]) == ("2.1.0", "0.15.0", "1.20.0")
    assert "onnxruntime" not in lowest
    later = matrix.Cell("python", matrix.WORK / "python3.14-lowest", matrix.WORK / "wheel", True).lowest_versions()
    assert "onnxruntime-extensions" not in later


def test_a_cell_that_cannot_exist_is_named(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "wheels", lambda python, name: ("1.20.1", "1.23.2"))
    monkeypatch.setattr(matrix, "find_python", lambda version: "python")
    options = SimpleNamespace(only="onnxruntime 1.27.0", record=True, keep=False)
    assert matrix.run_environment("3.10", True, Path("wheel"), options) == 0
    monkeypatch.setattr(matrix, "find_python", lambda version: None)
    assert matrix.run_environment("3.11", False, Path("wheel"), options) == 0
    rows = matrix.DOCUMENT.read_text().split(matrix.ROWS_HEAD)[1].split(matrix.ROWS[1])[0].splitlines()
    assert [row.split(" | ")[0] for row in rows] == [
        "| python 3.10, lowest, onnxruntime 1.27.0",
        "| python 3.11, newest, onnxruntime 1.27.0",
    ]
    assert "onnxruntime 1.27.0 has no wheel for this Python" in rows[0]
    assert "this machine has no Python 3.11" in rows[1]


def test_a_cell_fails_by_its_exit_code(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything was done and said; but the process died when it ended."""
    models = matrix.WORK / "checkout" / "models"
    models.mkdir(parents=True)
    (models / "a.onnx").touch()
    (models / "pad_24.onnx").touch()
    ended = subprocess.CompletedProcess([], -11, "1 Pad: 1 converted\n", "")
    dying = SimpleNamespace(command=lambda *arguments: ended)
    wrong = [f"{name}: exit code -11: 1 Pad: 1 converted" for name in ("a.onnx", "pad_24.onnx")]
    assert matrix.convert_samples(dying, "1.20.1") == ("0 of 2", ["pad_24.onnx"], wrong)
    asked = []
    healthy = SimpleNamespace(
        command=lambda *arguments: asked.append(arguments[-1]) or subprocess.CompletedProcess([], 0, "", "")
    )
    assert matrix.convert_samples(healthy, "1.26.0") == ("1 of 2", ["pad_24.onnx"], [])
    assert matrix.convert_samples(healthy, "1.27.0") == ("2 of 2", [], [])
    assert [argument == "--verify" for argument in asked] == [True, False, True, True]


def test_rows_are_replaced_and_stay_in_order(matrix: ModuleType) -> None:
    options = SimpleNamespace(record=True)
    for name, result in (
        ("python 3.11, newest, onnxruntime newest (1.31.1)", "failed"),
        ("python 3.11, lowest, onnxruntime 1.20.1", "passed"),
        ("python 3.11, newest, onnxruntime newest (1.32.0)", "passed"),
    ):
        matrix.tell(options, name, "14 of 14", "300", result, 1)
    text = matrix.DOCUMENT.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "between\n" in text
    assert [line for line in text.splitlines() if line.startswith("| python")] == [
        "| python 3.11, lowest, onnxruntime 1.20.1 | 14 of 14 | 300 | passed | 1 |",
        "| python 3.11, newest, onnxruntime newest (1.32.0) | 14 of 14 | 300 | passed | 1 |",
    ]


def test_it_takes_no_python_of_another_version(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyenv has a command for each Python that it knows, and most of them only say that they are not chosen."""
    monkeypatch.setattr(matrix.shutil, "which", lambda name: sys.executable)
    monkeypatch.setattr(matrix.Path, "home", lambda: matrix.WORK)
    assert matrix.find_python(f"{sys.version_info.major}.{sys.version_info.minor}") == sys.executable
    assert matrix.find_python("3.99") is None
