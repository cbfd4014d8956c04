"""The script that runs padops on every runtime, Python and set of dependencies: what it selects and what it prints."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    module = importlib.import_module("matrix")
    monkeypatch.setattr(module, "WORK", tmp_path)
    return module


@pytest.mark.parametrize(
    ("arguments", "outcomes", "code"),
    [
        (["--ci"], ["passed", "passed"], 0),
        (["--ci"], ["passed", "failed"], 1),
        (["--ci"], ["not run", "passed"], 1),
        (["--only", "1.22.1"], ["not run"] * 10, 0),
        (["--only", "python 3.11, lowest, onnxruntime newest (1.32.0)"], ["passed"], 0),
        (["--only", "python 3.13, lowest"], ["passed"] * 4 + ["failed"], 1),
    ],
)
def test_the_exit_code(matrix: ModuleType, monkeypatch, arguments: list[str], outcomes: list[str], code: int) -> None:
    cells: list[tuple] = []

    def run_cells(version: str, lowest: bool, runtimes: list[str], wheel: Path, keep: bool) -> list[str]:
        cells.extend((version, lowest, runtime) for runtime in runtimes)
        return outcomes[len(cells) - len(runtimes) : len(cells)]

    monkeypatch.setattr(matrix, "build", lambda: Path("wheel"))
    monkeypatch.setattr(matrix, "copy_tests", lambda: None)
    monkeypatch.setattr(matrix, "run_environment", run_cells)
    monkeypatch.setattr(sys, "argv", ["matrix.py", *arguments])
    assert matrix.main() == code
    assert len(cells) == len(outcomes)
    if arguments == ["--ci"]:
        this = f"{sys.version_info.major}.{sys.version_info.minor}"
        assert cells == [(this, True, "1.20.1"), (this, False, "1.24.4")]
