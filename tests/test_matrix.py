"""The script that runs padops on every runtime, Python and set of dependencies: what it chooses, and what it writes down."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
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


Ran = subprocess.CompletedProcess
ROW = "python 3.11, newest, onnxruntime 1.24.4"


@pytest.fixture
def ran(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """``ran(answers)``: ``call`` runs nothing; a command that holds the first text of a pair is answered with its second.

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


def test_an_environment_is_made_once_and_installed_into(matrix: ModuleType, cell, ran) -> None:
    commands = ran()
    assert cell.install("1.24.4") is None
    made, installed = commands
    assert made == ["python", "-m", "venv", "--without-pip", str(cell.venv)]
    wanted = [f"{cell.wheel}[convert,pyop]", "onnxruntime==1.24.4", "pytest", "hypothesis"]
    assert installed[:5] == ["python", "-m", "pip", "--python", str(cell.venv)] and installed[-4:] == wanted
    cell.interpreter.parent.mkdir(parents=True)
    cell.interpreter.touch()
    assert cell.install("1.20.1") is None
    assert len(commands) == 3 and "onnxruntime==1.20.1" in commands[2]


def test_the_lowest_versions_are_pinned(cell, ran, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = ran()
    cell.lowest = True
    monkeypatch.setattr(cell, "lowest_versions", lambda: {"numpy": "1.26.0"})
    assert cell.install("1.24.4") is None
    assert commands[-1][-3:] == ["numpy==1.26.0", "pytest", "hypothesis"]


@pytest.mark.parametrize("step", ["-m venv", "-m pip"])
def test_what_cannot_be_installed_is_a_row(matrix: ModuleType, cell, ran, step: str) -> None:
    commands = ran((step, (1, "some words\nERROR: no | space\nmore words")))
    assert matrix.run_cell(ROW, "1.24.4", cell, SimpleNamespace(record=True)) == 1
    assert f"| {ROW} |  |  | not installed: ERROR: no / space | 0 |\n" in matrix.DOCUMENT.read_text()
    assert step in " ".join(commands[-1]), "nothing more is run"


INFO, TOLD = "-m padops info", "padops                   0.1.0\nonnxruntime              {}\nlibrary  x\n"


@pytest.mark.parametrize(
    ("info", "tests", "result", "passed"),
    [
        ((0, TOLD.format("1.24.4")), (0, "12 passed in 3 s"), "passed", "12"),
        ((0, TOLD.format("1.24.41")), (0, "12 passed"), "failed: info names onnxruntime 1.24.41, not 1.24.4", "12"),
        ((0, "1.24.4\n"), (0, "12 passed"), "failed: info names onnxruntime of no version, not 1.24.4", "12"),
        ((1, "it is broken"), (0, "12 passed"), "failed: info: exit code 1: it is broken", "12"),
        (
            (0, TOLD.format("1.24.4")),
            (1, "".join(f"FAILED tests/test_{x}.py::test - why\n" for x in "abcd") + "4 failed, 8 passed in 3 s"),
            "failed: tests: exit code 1; tests/test_a.py::test; tests/test_b.py::test; tests/test_c.py::test",
            "8",
        ),
        ((0, TOLD.format("1.24.4")), (0, "nothing"), "failed: tests: exit code 0", ""),
        ((0, TOLD.format("1.24.4")), (-11, "12 passed"), "failed: tests: exit code -11", "12"),
    ],
)
def test_a_cell(matrix: ModuleType, cell, ran, info: tuple, tests: tuple, result: str, passed: str) -> None:
    ran((INFO, info), ("-m pytest", tests), ("print(', '.join", (0, "numpy 2.0\n")))
    assert matrix.run_cell(ROW, "1.24.4", cell, SimpleNamespace(record=True)) == (result != "passed")
    text = matrix.DOCUMENT.read_text()
    assert f"| {ROW} | 0 of 0 | {passed} | {result} | 0 |\n" in text
    assert "| python 3.11, newest | numpy 2.0 |\n" in text


def test_the_newest_runtime_is_named_with_its_version(matrix: ModuleType, cell, ran, capsys) -> None:
    ran((INFO, (0, TOLD.format("1.24.4"))), ("-m pytest", (0, "1 passed")))
    name = "python 3.11, newest, onnxruntime newest"
    assert matrix.run_cell(name, "newest", cell, SimpleNamespace(record=False)) == 0
    assert capsys.readouterr().out == f"| {name} (1.24.4) | 0 of 0 | 1 | passed | 0 |\n"
    assert name not in matrix.DOCUMENT.read_text()


@pytest.mark.parametrize("there", [True, False])
def test_tests_of_the_python_kernel_need_its_package(matrix: ModuleType, cell, ran, there: bool) -> None:
    commands = ran(("version('onnxruntime-extensions')", int(not there)), ("-m pytest", (0, "5 passed")))
    assert matrix.run_tests(cell) == ("5", [])
    assert ("tests/runtime/test_pyop.py" in commands[-1]) == there
    assert "tests/csrc/test_load.py" in commands[-1]
    assert all((matrix.ROOT / "tests" / f"{name}.py").is_file() for name in matrix.TESTS)


def test_the_tests_have_no_sources_beside_them(matrix: ModuleType) -> None:
    matrix.copy_tests()
    assert {path.name for path in (matrix.WORK / "checkout").iterdir()} == {
        "tests", "models", "scripts", "pyproject.toml", "README.md",
    }  # fmt: skip
    assert (matrix.WORK / "checkout" / "tests" / "test_matrix.py").read_bytes() == Path(__file__).read_bytes()
    assert not [*(matrix.WORK / "checkout").rglob("__pycache__")]


def test_one_wheel_is_built(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    work = matrix.WORK / "work"
    monkeypatch.setattr(matrix, "WORK", work)
    work.mkdir()
    (work / "old.whl").touch()
    name, commands = "padops-1-py3-none-linux.whl", []

    def step(label: str, command: list) -> None:
        commands.append(list(map(str, command)))
        (work / name).touch()

    monkeypatch.setattr(matrix.environment, "ensure", lambda extras: Path("python"))
    monkeypatch.setattr(matrix.environment, "step", step)
    assert matrix.build() == work / name
    assert [path.name for path in work.iterdir()] == [name]
    assert commands[0][:5] == ["python", "-m", "pip", "wheel", str(matrix.ROOT)]
    name = "padops-1-cp311-cp311-linux.whl"
    with pytest.raises(AssertionError, match="cp311"):
        matrix.build()


def test_a_document_without_its_markers_is_left_alone(matrix: ModuleType) -> None:
    for text in ("before\n", matrix.ROWS[0], "".join(reversed(matrix.ROWS))):
        matrix.DOCUMENT.write_text(text)
        with pytest.raises(SystemExit, match="matrix.md has not the lines <!-- matrix --> and <!-- /matrix -->, one"):
            matrix.tell(SimpleNamespace(record=True), ROW, "", "", "passed", 1)
        assert matrix.DOCUMENT.read_text() == text


def test_a_dependency_that_it_cannot_read(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(matrix, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text('dependencies = [\n  "numpy>=1.26",\n  "onnx~=1.20",\n]\n')
    with pytest.raises(SystemExit, match="a dependency in pyproject.toml has a form that this script cannot read"):
        matrix.dependencies()


def test_versions_come_from_pip(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "ERROR: No matching version (from versions: 1.10.0, 1.9.0, 2.0.0rc1, 1.9)"
    monkeypatch.setattr(matrix, "call", lambda command: Ran(command, 1, "", said))
    assert matrix.wheels("one python", "numpy") == ("1.9.0", "1.9", "1.10.0")
    monkeypatch.setattr(matrix, "call", lambda command: Ran(command, 1, "", "ERROR: no network"))
    with pytest.raises(SystemExit, match="error: pip does not tell the versions of numpy: ERROR: no network"):
        matrix.wheels("another python", "numpy")
