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


@pytest.fixture
def lint(environment: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, in a .venv where it runs nothing: ``ran`` has the commands, ``failing`` the programs that fail."""
    module = importlib.import_module("lint")
    module.ran, module.failing = [], set()

    def hand_over(command: list, folder: Path) -> int:
        module.ran.append([Path(command[0]).name, *map(str, command[1:])])
        return int(Path(command[0]).name in module.failing)

    monkeypatch.setattr(environment, "ensure", lambda extras: tmp_path / "bin" / "python")
    monkeypatch.setattr(environment, "hand_over", hand_over)
    return module


def test_lint_runs_every_tool_though_one_fails(lint: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main([]) == 0
    assert [command[:2] for command in lint.ran[:3]] == [["ruff", "check"], ["ruff", "format"], ["python", "-m"]]
    every, lint.ran = lint.ran, []
    lint.failing = {"ruff"}
    assert lint.main([]) == 1 and lint.ran == every
    assert "failed: ruff-check, ruff-format\n" in capsys.readouterr().err


def test_commits_are_checked_as_ci_checks(lint: ModuleType) -> None:
    hooks = re.findall(r"entry: python3 scripts/lint.py (.+)", (ROOT / ".pre-commit-config.yaml").read_text())
    assert set(lint.checks()) == set(hooks)
    assert "\npython3 scripts/lint.py\n" in (ROOT / ".ci" / "run").read_text()


PYTEST = ["python", "-m", "pytest"]


@pytest.fixture
def script(environment: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """test.py, in a .venv where it runs nothing.

    ``extras`` has those that were asked for, ``steps`` and ``ran`` the commands, ``code`` the exit code of each.
    """
    spec = importlib.util.spec_from_file_location("script_test", SCRIPTS / "test.py")  # "test" is Python's own package
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.extras, module.steps, module.ran, module.code = [], [], [], 0

    def ensure(extras: list[str]) -> Path:
        module.extras += extras
        return Path("python")

    def hand_over(command: list, folder: Path) -> int:
        assert folder == ROOT
        module.ran.append(list(map(str, command)))
        return module.code

    monkeypatch.setattr(environment, "ensure", ensure)
    monkeypatch.setattr(environment, "step", lambda label, command: module.steps.append(list(map(str, command))))
    monkeypatch.setattr(environment, "hand_over", hand_over)
    monkeypatch.delenv("PADOPS_PEERS", raising=False)
    module.environments = []
    monkeypatch.setattr(module.peers, "main", lambda names: module.environments.append(names) or 0)
    monkeypatch.setenv("PADOPS_ENVIRONMENTS", str(tmp_path))
    monkeypatch.setattr(os, "environ", dict(os.environ))  # --peers sets a variable of the process
    return module


def test_the_quick_run(script: ModuleType) -> None:
    assert script.main([]) == 0
    spread = ["-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"]
    noted = [f"--note-passed={Path('build', 'passed.txt')}"]
    assert script.ran == [[*PYTEST, *spread, *noted, "--without-slow"]]


def test_the_whole_run(script: ModuleType) -> None:
    assert script.main(["--all"]) == 0
    assert script.extras == ["test"] and "PADOPS_PEERS" not in os.environ
    assert script.steps == [["python", str(SCRIPTS / "fetch_models.py")]]
    spread = ["-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"]
    noted = [f"--note-passed={Path('build', 'passed.txt')}"]
    assert script.ran == [[*PYTEST, *spread, *noted], ["python", str(SCRIPTS / "conformance.py"), "--quick"]]


def test_the_whole_run_with_peers(script: ModuleType) -> None:
    asked = ["onnxruntime-web", "ort-openvino", "ort-qnn"]
    assert script.main(["--peers"]) == 0
    assert script.extras == ["lint", "peers", "test"] and os.environ["PADOPS_PEERS"] == ",".join(asked)
    assert script.environments == [asked]
    isolated = ("dask", "onnxruntime-web-webgpu", "opencv", "tinygrad", "tract", "tvm")
    sharing = (
        "without-pad-opencv",
        "without-pad-tract",
        "without-pad-tvm",
        "padops-beside-webgpu",
        "padops-for-webgpu",
        "padops-for-web-webgpu",
    )
    others = [f"--without={name}" for name in (*isolated, "ort-webgpu", *sharing)]
    assert script.ran[1][-15:-13] == ["--quick", "--require-peers"] and sorted(script.ran[1][-13:]) == sorted(others)


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


@pytest.fixture
def checkout(script: ModuleType, environment: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where test.py looks for sources, and for what a run before has passed: two seconds younger than the sources."""
    folder = tmp_path / "checkout"
    (folder / "tests").mkdir(parents=True)
    (folder / "build").mkdir()
    for i, name in enumerate(("tests/test_x.py", "build/passed.txt")):
        (folder / name).touch()
        os.utime(folder / name, (1000 + 2 * i, 1000 + 2 * i))
    monkeypatch.setattr(environment, "ROOT", folder)
    monkeypatch.setattr(environment, "hand_over", lambda command, root: script.ran.append([*map(str, command)]) or 0)
    return folder


def test_the_rest(script: ModuleType, checkout: Path) -> None:
    assert script.main(["--peers", "--rest"]) == 0
    assert script.ran[0][-1] == f"--without-passed={Path('build', 'passed.txt')}"
    assert "--rest" not in script.ran[0] and script.ran[1][-15:][:2] == ["--quick", "--require-peers"]


def test_there_is_no_rest_of_other_sources(
    script: ModuleType, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["--rest", "tests/test_x.py"]) == 2
    assert "error: --rest is for a run of all tests\n" in capsys.readouterr().err
    os.utime(checkout / "tests" / "test_x.py", (1003, 1003))
    assert script.main(["--rest"]) == 2
    newer = checkout / "tests" / "test_x.py"
    assert f"error: --rest: {newer} is newer than the last whole run: " in capsys.readouterr().err
    (checkout / "build" / "passed.txt").unlink()
    assert script.main(["--rest"]) == 2
    assert "error: --rest: there has been no whole run: python3 scripts/test.py\n" in capsys.readouterr().err
    assert script.ran == script.extras == []
