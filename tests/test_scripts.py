"""The set-up that demo.py and test.py share: without a network and without installing."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("environment")


@pytest.mark.parametrize("name", ["environment", "demo", "test", "fetch_models", "matrix", "peers"])
def test_scripts_start_with_the_standard_library_alone(name: str) -> None:
    tree = ast.parse((SCRIPTS / f"{name}.py").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {name.name for node in imports if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    assert modules, "a script without imports: this test looks at the wrong thing"
    own = {"environment", "fetch_models", "help_first", "peers"}
    assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names | own


def test_the_tests_that_scripts_choose_are_there(environment: ModuleType) -> None:
    matrix, wheels = importlib.import_module("matrix"), importlib.import_module("wheel_tests")
    names = [*matrix.TESTS, *matrix.PROVIDER_TESTS, *wheels.CHOSEN]
    assert [name for name in names if not (ROOT / "tests" / f"{name}.py").is_file()] == []


@pytest.mark.parametrize(
    ("arguments", "outcomes", "code"),
    [
        (["--ci"], ["passed", "passed"], 0),
        (["--ci"], ["passed", "failed"], 1),
        (["--ci"], ["not run", "passed"], 1),
        (["--only", "1.22.1"], ["not run"] * 10, 0),
    ],
)
def test_the_exit_code_of_the_matrix(
    arguments: list[str], outcomes: list[str], code: int, environment: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, left = importlib.import_module("matrix"), list(outcomes)
    monkeypatch.setattr(matrix, "build", lambda: Path("wheel"))
    monkeypatch.setattr(matrix, "copy_tests", lambda: None)
    monkeypatch.setattr(
        matrix, "run_environment", lambda version, lowest, runtimes, wheel, keep: [left.pop(0) for _ in runtimes]
    )
    monkeypatch.setattr(sys, "argv", ["matrix.py", *arguments])
    assert (matrix.main(), left) == (code, [])


@pytest.mark.parametrize("name", ["environment", "demo", "test"])
def test_an_old_python_can_parse_far_enough_to_be_told(name: str) -> None:
    ast.parse((SCRIPTS / f"{name}.py").read_text(), feature_version=(3, 7))


def test_demo_without_a_network_says_so_and_shows_a_sample_instead(tmp_path: Path) -> None:
    cut_off = {"PADOPS_CACHE": str(tmp_path / "cache"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    command = [sys.executable, str(SCRIPTS / "demo.py"), "--inside"]
    result = subprocess.run(command, env={**os.environ, **cut_off}, cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "No real model, models/nested.onnx instead" in result.stdout
    assert "models/nested.onnx: 4 Pads" in result.stdout
    assert "NOT" not in result.stdout.replace("NOT_IMPLEMENTED", "")


@pytest.fixture
def checkout(tmp_path: Path, environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose set-up commands are written to `ran` instead of run, and whose .venv then counts as working."""
    root = tmp_path / "checkout"
    (root / "padops" / "csrc" / "core").mkdir(parents=True)
    (root / "padops" / "rules").mkdir()
    for file in ("pyproject.toml", "CMakeLists.txt", "padops/csrc/core/engine.cpp"):
        (root / file).write_text(file)
    ran = root / "ran"
    ran.touch()

    def step(label: str, command: list, folder: Path) -> None:
        words = [str(part) for part in command]
        what = words[-1] if "--editable" in words else "tools" if "pip" in words else "venv"
        ran.write_text(f"{ran.read_text()}{what}\n")
        if (root / "pip-fails").exists() and "pip" in words:
            sys.exit("pip failed")
        python = environment.interpreter(root / ".venv")
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()

    monkeypatch.setattr(environment, "step", step)
    monkeypatch.setattr(environment, "_ask", lambda venv, question: environment.interpreter(venv).exists())
    return root


def steps(checkout: Path) -> list[str]:
    """What was run since the last call."""
    ran = (checkout / "ran").read_text().split()
    (checkout / "ran").write_text("")
    return ran


def test_set_up_once_and_again_only_where_a_source_changed(environment: ModuleType, checkout: Path) -> None:
    environment.ensure(["test"], checkout)
    assert steps(checkout) == ["venv", "tools", ".[test]"]
    environment.ensure(["test"], checkout)
    environment.ensure([], checkout)
    assert steps(checkout) == []
    sources = ("padops/csrc/core/engine.cpp", "padops/csrc/core/new.h", "padops/rules/cpu.json")
    for file in ("pyproject.toml", "CMakeLists.txt", *sources):
        (checkout / file).write_text("changed")
        environment.ensure([], checkout)
        assert steps(checkout) == ["tools", ".[test]"], file


def test_a_killed_set_up_is_begun_anew(environment: ModuleType, checkout: Path) -> None:
    environment.ensure([], checkout)
    (checkout / ".venv" / "padops-unfinished").touch()
    (checkout / ".venv" / "half-made").touch()
    steps(checkout)
    environment.ensure([], checkout)
    assert steps(checkout) == ["venv", "tools", "."]
    assert not (checkout / ".venv" / "half-made").exists()


def test_a_set_up_that_fails_is_not_taken_for_a_whole_one(environment: ModuleType, checkout: Path) -> None:
    environment.ensure([], checkout)
    (checkout / ".venv" / "mine").touch()
    (checkout / "CMakeLists.txt").write_text("changed")
    (checkout / "pip-fails").touch()
    for _ in range(2):
        with pytest.raises(SystemExit, match="pip failed"):
            environment.ensure([], checkout)
    (checkout / "pip-fails").unlink()
    steps(checkout)
    environment.ensure([], checkout)
    assert steps(checkout) == ["tools", "."]
    assert (checkout / ".venv" / "mine").exists(), "pip failing is no reason to throw a .venv away"
