"""The script that runs padops on every runtime, Python and set of dependencies: what it selects and what it prints."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
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


def test_a_cell_that_cannot_exist_is_named(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(matrix, "wheels", lambda python, name: ("1.20.1", "1.23.2"))
    monkeypatch.setattr(matrix, "find_python", lambda version: "python")
    assert matrix.run_environment("3.10", True, ["1.27.0"], Path("wheel"), False) == ["not run"]
    monkeypatch.setattr(matrix, "find_python", lambda version: None)
    assert matrix.run_environment("3.14", False, ["1.27.0"], Path("wheel"), False) == ["not run"]
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("| python")] == [
        "| python 3.10, lowest, onnxruntime 1.27.0 |  |  | not run: onnxruntime 1.27.0 has no "
        "wheel for this Python | 0 |",
        "| python 3.14 |  |  | not run: this machine has no Python 3.14 | 0 |",
    ]


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


class Converting:
    """A cell whose ``padops convert`` writes a report of the models that it is given, and ends as it is told."""

    def __init__(self, code: int = 0, failing: str = "", reports: bool = True) -> None:
        self.code, self.failing, self.reports = code, failing, reports
        self.given: list[tuple[list[str], bool]] = []

    def command(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        names = sorted(path.name for path in Path(str(arguments[3])).iterdir())
        self.given.append((names, "--verify" in arguments))
        files = [{"source": f"x/{name}", "exit": int(name == self.failing), "error": "it broke"} for name in names]
        if self.reports:
            Path(str(arguments[arguments.index("--report") + 1])).write_text(json.dumps({"files": files}))
        return subprocess.CompletedProcess([], 1 if self.failing in names else self.code, "1 model\n", "")


@pytest.fixture
def samples(matrix: ModuleType) -> None:
    models = matrix.WORK / "checkout" / "models"
    models.mkdir(parents=True)
    for name in ("a.onnx", "pad_19.onnx", "pad_24.onnx"):
        (models / name).touch()


def test_a_conversion_that_fails(matrix: ModuleType, samples: None) -> None:
    """A model that fails is named. So is a process that died when it ended, after everything had been done and said."""
    failing = Converting(failing="pad_24.onnx")
    assert matrix.convert_samples(failing, "1.20.1") == ("1 of 3", ["pad_24.onnx: it broke"])
    assert matrix.convert_samples(failing, "1.27.0") == ("0 of 3", ["pad_24.onnx: it broke"])
    died = ["convert --verify --run: exit code -11: 1 model", "convert: exit code -11: 1 model"]
    assert matrix.convert_samples(Converting(-11), "1.20.1") == ("0 of 3", died)
    assert matrix.convert_samples(Converting(-11, reports=False), "1.20.1") == ("0 of 3", died)
    assert matrix.convert_samples(Converting(0, reports=False), "1.32.0")[0] == "0 of 3"


Ran = subprocess.CompletedProcess
ROW = "python 3.11, newest, onnxruntime 1.24.4"


@pytest.fixture
def ran(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """Replaces ``call``: a command that holds the first text of a pair in ``answers`` gets the second as its answer.

    An answer is an exit code, or a code with what was said on stdout. The list that it gives has the commands.
    """

    def replace(*answers: tuple[str, int | tuple[int, str]]) -> list[list[str]]:
        commands: list[list[str]] = []

        def call(command: list, folder: Path = matrix.ROOT) -> Ran:
            commands.append(list(map(str, command)))
            found = [answer for text, answer in answers if text in " ".join(commands[-1])]
            code, said = found[0] if found and isinstance(found[0], tuple) else (found[0] if found else 0, "")
            return Ran(command, code, said, "")

        monkeypatch.setattr(matrix, "call", call)
        return commands

    return replace


@pytest.fixture
def cell(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(matrix, "wheels", lambda python, name: ("1.20.1", "1.24.4"))
    return matrix.Cell("python", matrix.WORK / "python3.11-newest", matrix.WORK / "p.whl", False)


@pytest.mark.parametrize("step", ["uv venv", "pyproject.toml", "pytest"])
@pytest.mark.parametrize(
    "said", ["some words\nERROR: no | space\nmore", "error: none\n  cause: ERROR: no | space\n\nhint: x"]
)
def test_what_cannot_be_installed_is_a_row(matrix: ModuleType, cell, ran, capsys, step: str, said: str) -> None:
    commands = ran((step, (1, said)))
    assert matrix.run_cell(ROW, "1.24.4", cell) == "failed"
    assert re.search(r"not installed: (cause: )?ERROR: no / space \| 0 \|\n", capsys.readouterr().out)
    assert step in " ".join(commands[-1]), "nothing more is run"


INFO, TOLD = "-m padops info", "padops                   0.1.0\nonnxruntime              {}\nlibrary  x\n"
