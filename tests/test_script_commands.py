"""What lint.py and test.py run, and with which words they refuse: without a .venv, and without running anything."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
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


def test_commits_are_checked_as_ci_checks(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "ensure", lambda extras: Path("bin", "python"))
    hooks = re.findall(r"entry: python3 scripts/lint.py (.+)", (ROOT / ".pre-commit-config.yaml").read_text())
    assert set(importlib.import_module("lint").checks()) == set(hooks)
    assert "\npython3 scripts/lint.py\n" in (ROOT / ".ci" / "run").read_text()


PYTEST = ["python", "-m", "pytest"]


@pytest.fixture
def script(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """test.py, in a .venv where it runs nothing: ``ran`` has the commands."""
    spec = importlib.util.spec_from_file_location("script_test", SCRIPTS / "test.py")  # "test" is Python's own package
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ran = []
    monkeypatch.setattr(environment, "ensure", lambda extras: Path("python"))
    monkeypatch.setattr(environment, "step", lambda label, command: None)
    monkeypatch.setattr(environment, "hand_over", lambda command, folder: module.ran.append([*map(str, command)]) or 0)
    monkeypatch.setattr(module.peers, "main", lambda names: 0)
    monkeypatch.setattr(os, "environ", dict(os.environ))  # --peers sets a variable of the process
    return module


def test_the_quick_run(script: ModuleType) -> None:
    assert script.main([]) == 0
    spread = ["-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"]
    noted = [f"--note-passed={Path('build', 'passed.txt')}"]
    assert script.ran == [[*PYTEST, *spread, *noted, "--without-slow"]]


@pytest.mark.parametrize(
    ("arguments", "spread"),
    [
        (["tests/spec/test_plan.py", "tests/spec/test_shapes.py", "-n", "0", "-k", "one"], False),
        (["tests/spec/test_plan.py::test_x", "-k", "tests"], False),
        (["tests/spec/test_plan.py", "tests/spec/test_shapes.py"], True),
        (["tests/spec"], True),
    ],
)
def test_arguments_go_to_pytest(script: ModuleType, arguments: list[str], spread: bool) -> None:
    """One file runs in one process: each other would take seconds to start."""
    assert script.main(arguments) == 0
    processes = ["-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"] * spread
    assert script.ran == [[*PYTEST, *processes, *arguments]]


# Not the program of an archive of cases, which runs where the archive does.
CALLED = sorted(
    path
    for path in SCRIPTS.glob("*.py")
    if '\nif __name__ == "__main__":' in path.read_text("utf-8") and path.name != "run_cases.py"
)


@pytest.mark.parametrize("path", CALLED, ids=lambda path: path.name)
def test_a_script_answers_help_at_once(path: Path) -> None:
    """In a Python that has no package installed, and without an environment of its own."""
    assert len(CALLED) > 15
    command = [sys.executable, "-S", path, "--help"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert path.name in ran.stdout.partition("\n\n")[2] or ran.stdout.startswith(f"usage: {path.name}")
    assert not re.search(r"^[^\n]* \.\.\. ", ran.stdout, re.M), "a step of a set-up"
