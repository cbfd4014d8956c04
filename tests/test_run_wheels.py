"""``scripts/run_wheels.py`` and what it is made of: what ends it, what counts as good, what it writes down."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    module = importlib.import_module("run_wheels")
    monkeypatch.setattr(module, "WORK", tmp_path)
    return module


@pytest.mark.parametrize("count", [0, 2])
def test_a_wheel_that_is_not_there(count: int, tmp_path: Path, script: ModuleType) -> None:
    for version in range(count):
        (tmp_path / f"padops-{version}-py3-none-win_amd64.whl").touch()
    with pytest.raises(SystemExit) as ending:
        script.find_wheel("windows-amd64", tmp_path)
    told = f"error: {tmp_path} has {count} wheels for windows-amd64, expected one; make it with: "
    assert ending.value.code == told + "python3 scripts/build_wheels.py windows-amd64"


def test_the_tests_are_counted_together(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that fails, or ends its process, is named."""
    program = tmp_path / "tests.py"
    program.write_text("import sys\nif sys.argv[1] == 'c': raise SystemExit(139)\nprint('20 passed in 3 s')\n")
    monkeypatch.setattr(script.wheel_tests, "CHOSEN", ["a", "b", "c"])
    done = script.run_tests([sys.executable, program], tmp_path)
    assert (done.good, done.result) == (False, "40 passed; failed: tests/c.py")
    monkeypatch.setattr(script.wheel_tests, "CHOSEN", ["a", "b"])
    done = script.run_tests([sys.executable, program], tmp_path)
    assert (done.good, done.result) == (True, "40 passed")


def test_every_left_out_test_exists(script: ModuleType) -> None:
    for name in (*script.NOT_IN_QEMU, *script.wheel_tests.BUILDS):
        file, function = name.split("::")
        assert f"def {function}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")
    for name in script.wheel_tests.CHOSEN:
        assert (ROOT / "tests" / f"{name}.py").is_file()


# --- scripts/wheel_tests.py, as cibuildwheel runs it
# -------------------------------------------------------------------


def test_the_choice_runs_where_padops_is_installed(script: ModuleType, tmp_path: Path) -> None:
    """One file of it, from another folder."""
    command = [sys.executable, ROOT / "scripts" / "wheel_tests.py", "spec/test_plan"]
    done = script.run("spec/test_plan", command, r"\d+ passed")
    assert done.good and int(done.result.split()[0]) > 30
