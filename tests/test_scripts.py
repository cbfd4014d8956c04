"""The scripts of the checkout: their set-up, what they run, what they write; without a network and installations."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
from xml.etree import ElementTree

import environment
import matrix
import pytest
import release
import slow
import wheel_tests
from terminals import AtTerminal

from padops.runtime.provider import EP_NAMES

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"


@pytest.mark.parametrize("name", ["environment", "demo", "test", "fetch_models", "matrix", "peers"])
def test_scripts_start_with_the_standard_library_alone(name: str) -> None:
    """And an old Python can parse three of them far enough to be told."""
    text = (SCRIPTS / f"{name}.py").read_text()
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    own = {"environment", "fetch_models", "help_first", "peers"}
    assert modules and {module.split(".")[0] for module in modules} <= sys.stdlib_module_names | own
    if name in ("environment", "demo", "test"):
        ast.parse(text, feature_version=(3, 7))


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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_job_ends_with_its_script(number: int, code: int, tmp_path: Path) -> None:
    """A signal to the script alone ends the job that it has handed over as well."""
    job = "import time; print('begun', flush=True); time.sleep(600)"
    script = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import environment; "
    script += f"sys.exit(environment.hand_over([{sys.executable!r}, '-c', {job!r}]))"
    with AtTerminal("-c", script, cwd=tmp_path) as run:
        run.wait_for(lambda: "begun" in run.said())
        assert len(run.pids()) == 2
        if number == signal.SIGINT:
            run.press_ctrl_c()
        else:
            os.kill(run.process.pid, number)
        assert (run.wait(), run.left()) == (code, [])


# --- the set-up -------------------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose set-up commands are written to `ran` instead of run, and whose .venv then counts as working."""
    root, ran = tmp_path / "checkout", tmp_path / "checkout" / "ran"
    (root / "padops" / "csrc" / "core").mkdir(parents=True)
    (root / "padops" / "rules").mkdir()
    for file in ("pyproject.toml", "CMakeLists.txt", "padops/csrc/core/engine.cpp", "ran"):
        (root / file).write_text("")

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
    ran = (checkout / "ran").read_text().split()
    (checkout / "ran").write_text("")
    return ran


def test_set_up_once_and_again_only_where_a_source_changed(checkout: Path) -> None:
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


def test_a_killed_set_up_is_begun_anew(checkout: Path) -> None:
    environment.ensure([], checkout)
    (checkout / ".venv" / "padops-unfinished").touch()
    (checkout / ".venv" / "half-made").touch()
    steps(checkout)
    environment.ensure([], checkout)
    assert steps(checkout) == ["venv", "tools", "."]
    assert not (checkout / ".venv" / "half-made").exists()


def test_a_set_up_that_fails_is_not_taken_for_a_whole_one(checkout: Path) -> None:
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


# --- release.py and the tests that scripts choose --------------------------------------------------------------------


def test_the_tests_that_scripts_choose_are_there() -> None:
    chosen = (*matrix.TESTS, *matrix.PROVIDER_TESTS, *wheel_tests.CHOSEN)
    files = [*(f"{name}.py" for name in chosen), *slow.FILES]
    assert [file for file in files if not (ROOT / "tests" / file).is_file()] == [], "they have moved"


@pytest.mark.parametrize(("arguments", "outcomes", "code"), [
    (["--ci"], ["passed", "passed"], 0),
    (["--ci"], ["passed", "failed"], 1),
    (["--ci"], ["not run", "passed"], 1),
    (["--only", "1.22.1"], ["not run"] * 10, 0),
])  # fmt: skip
def test_the_exit_code_of_the_matrix(monkeypatch, arguments, outcomes, code) -> None:
    left = list(outcomes)
    monkeypatch.setattr(matrix, "build", lambda: Path("wheel"))
    monkeypatch.setattr(matrix, "copy_tests", lambda: None)
    monkeypatch.setattr(
        matrix, "run_environment", lambda version, lowest, runtimes, wheel, keep: [left.pop(0) for _ in runtimes]
    )
    monkeypatch.setattr(sys, "argv", ["matrix.py", *arguments])
    assert (matrix.main(), left) == (code, [])


ABOUT = {"VERSION": "1.2.3", "ID": "Padops.ML.OnnxRuntime.EP", "DESCRIPTION": "Pads", "SHA256": "0" * 64, "URL": "file"}


def test_the_wheel_of_the_plugin(tmp_path: Path) -> None:
    """It needs padops in its own version, and has the functions that onnxruntime expects."""
    release.write_ep_wheel(tmp_path, ABOUT)
    (wheel,) = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        told = message_from_bytes(archive.read("onnxruntime_ep_padops-1.2.3.dist-info/METADATA"))
    assert (told["Name"], told["Version"], told["Requires-Dist"]) == ("onnxruntime-ep-padops", "1.2.3", "padops==1.2.3")
    command = "import onnxruntime_ep_padops as ep; print(*ep.get_ep_names(), ep.get_ep_name(), ep.get_library_path())"
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(wheel), *sys.path])}
    done = subprocess.run([sys.executable, "-c", command], env=variables, capture_output=True, text=True)
    *names, library = done.stdout.split()
    assert names == [*EP_NAMES, EP_NAMES[0]] and Path(library).is_file(), done.stderr


def test_the_nuget_package(tmp_path: Path) -> None:
    """Each part has a type; the source names the providers; the same parts give the same bytes."""
    made = []
    parts = {f"runtimes/{rid}/native/libpadops.so": b"x" for rid in release.RIDS.values()}
    for _ in range(2):
        release.write_nuget(tmp_path, ABOUT, parts)
        (package,) = tmp_path.glob("*.nupkg")
        made.append(package.read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(package) as archive:
        assert {*parts, "README.md", "_rels/.rels", f"{ABOUT['ID']}.nuspec"} < set(archive.namelist())
        code = archive.read("contentFiles/cs/any/Padops.cs").decode()
        told = ElementTree.fromstring(archive.read(f"{ABOUT['ID']}.nuspec"))
        kinds = {row.get("Extension") for row in ElementTree.fromstring(archive.read("[Content_Types].xml"))}
    assert kinds == {"rels", "so", "cs", "md", "nuspec"}
    assert ", ".join(f'"{name}"' for name in EP_NAMES) in code and "@" not in code
    assert next(row.text for row in told.iter() if row.tag.endswith("}version")) == "1.2.3"
