"""A second run takes what the first did not run; planted breaks have tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from mutation.planted import campaign
from mutation.planted.equivalent import EQUIVALENT, reason_of
from mutation.planted.relevant import stages_of

ROOT = Path(__file__).resolve().parent.parent


MADE = """
import pytest

def test_passes(): pass
def test_fails(): assert False
def test_is_skipped(): pytest.skip()
@pytest.mark.needs("nothing that there is", "torch-like")
def test_is_left_out(): assert False
@pytest.mark.adapts_to("torch-like")
def test_compares_with_less(): pass
@pytest.fixture
def ends_badly():
    yield
    assert False
def test_whose_end_fails(ends_badly): pass
@pytest.mark.parametrize("x", ["a b", "c"])
def test_each(x): pass
"""
# The conftest.py of all tests, in which other things are not here.
CONFTEST = """
import needs
needs.NOT_HERE = {!r}
exec(open({!r}).read())
"""


def test_two_runs_are_all_tests(tmp_path: Path) -> None:
    """The second run takes exactly the tests that failed, were skipped or lacked something in the first."""
    for name, text in (("tests/test_x.py", MADE), ("build/passed.txt", "stale\n"),
                       ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n')):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "-n", "1"]

    def run(lacking: set[str], option: str) -> tuple[set[str], str]:
        (tmp_path / "tests" / "conftest.py").write_text(CONFTEST.format(lacking, f"{ROOT}/tests/conftest.py"))
        found = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "processes"), str(ROOT)])}
        ran = subprocess.run([*command, option], cwd=tmp_path, env=found, capture_output=True, text=True)
        names = re.findall(r"^(?:PASSED|FAILED|ERROR) tests/test_x.py::(\w+(?:\[.*?\])?)", ran.stdout, re.MULTILINE)
        return {*names, *(["test_is_skipped"] if "1 skipped" in ran.stdout else [])}, ran.stdout + ran.stderr

    passed = {"test_passes", "test_each[a b]", "test_each[c]"}
    left = {"test_fails", "test_is_skipped", "test_compares_with_less", "test_whose_end_fails"}
    first, said = run({"torch-like"}, "--note-passed=build/passed.txt")
    assert first == passed | left, said
    noted = (tmp_path / "build" / "passed.txt").read_text()
    assert noted == "".join(f"tests/test_x.py::{name}\n" for name in sorted(passed))
    second, said = run(set(), "--without-passed=build/passed.txt")
    assert second == left | {"test_is_left_out"}, said
    assert "there is no nowhere.txt" in run(set(), "--without-passed=nowhere.txt")[1]


# --- planted breaks ---------------------------------------------------------------------------------------------------


def test_every_native_source_has_tests() -> None:
    sources = campaign.sources_of("padops/csrc")
    assert len(sources) > 40
    for path in sources:
        if any(True for _ in campaign.changes_of(path)):
            stages = list(stages_of(path.as_posix()))  # raises where a file of tests is not there
            assert any(stage[0] == "pytest" and len(stage) > 1 for stage in stages), path


def test_each_equivalent_break_is_one_that_could_be_planted() -> None:
    for reason, rows in EQUIVALENT.items():
        for file, line, became in rows:
            source = (ROOT / file).read_text(encoding="utf-8")
            pairs = {change.lines(source) for change in campaign.changes_of(Path(file))}
            assert any(pair[0] == line and became in ("", pair[1]) for pair in pairs), (file, line)
            assert reason and reason_of(file, line, became)
