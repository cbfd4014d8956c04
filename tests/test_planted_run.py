"""``tests/mutation/planted``: what it plants, what it runs, and what it says of a run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from mutation.planted import campaign, cpp_changes, python_changes, workshop
from mutation.planted.campaign import Outcome, drawn, every_change, outcomes, read, summary
from mutation.planted.change import Change
from mutation.planted.equivalent import EQUIVALENT, reason_of
from mutation.planted.relevant import CONVERT, CSRC, ROOT, stages_of

CPP = """// a < b
#include <c>  // 1
static_assert(a < 2);
int f(int a) {
  if (a < 1 && b) return std::min(a, b);
  g("x < 2");
  std::vector<int> c;
  return true;
}
"""
PYTHON = '''"""a < 1"""
import b
def f(a: int = 1) -> int:
    """2"""
    if a and not b:
        g(f"{3}", "4 < 5")
    return min(a, b)
'''


def change_source(change: Change) -> str:
    return CPP if change.file == "a.cpp" else PYTHON


def lines(changes) -> set[tuple[str, str]]:
    return {(change.kind, change.lines(change_source(change))[1]) for change in changes}


def test_breaks_of_cpp() -> None:
    """Comments, texts, the preprocessor, static assertions and templates stay as they are."""
    line = "if (a < 1 && b) return std::min(a, b);"
    assert lines(cpp_changes.changes("a.cpp", CPP)) == {
        ("comparison", line.replace("<", "<=")),
        ("logic", line.replace("&&", "||")),
        ("constant", line.replace("1", "2")),
        ("condition", line.replace("a < 1 && b", "!(a < 1 && b)")),
        ("word", line.replace("min", "max")),
        ("returned", line.replace("std::min(a, b)", "{}")),
        ("arguments", line.replace("a, b", "b, a")),
        ("dropped", ";"),
        ("word", "return false;"),
    }


def test_breaks_of_python() -> None:
    """Docstrings, texts and annotations stay as they are."""
    assert lines(python_changes.changes("a.py", PYTHON)) == {
        ("constant", "def f(a: int = 2) -> int:"),
        ("logic", "if (a or not b):"),
        ("condition", "if (not (a and (not b))):"),
        ("condition", "if a and b:"),
        ("dropped", "pass"),
        ("word", "return max(a, b)"),
        ("returned", "return None"),
    }


@pytest.mark.parametrize("folder", ["padops/csrc", "padops/convert"])
def test_every_source_has_breaks_and_tests(folder: str) -> None:
    changes = [change for change, _ in every_change(folder)]
    assert len(changes) > 2_000
    for file in {change.file for change in changes}:
        stages = list(stages_of(file))  # raises where a file of tests is not there
        assert any(stage[0] == "pytest" and len(stage) > 1 for stage in stages), file
    sources = {change.file: (ROOT / change.file).read_text(encoding="utf-8") for change in changes}
    assert [change for change in changes if change.applied(sources[change.file]) == sources[change.file]] == []
    if folder == CONVERT.strip("/"):
        for change in changes[::50]:
            ast.parse(change.applied(sources[change.file]))


def test_the_same_seed_draws_the_same_breaks() -> None:
    chosen = drawn(20, 1)
    assert chosen == drawn(20, 1)
    assert set(chosen) < set(drawn(30, 1)) and set(chosen) != set(drawn(20, 2))
    assert sum(change.file.startswith(CSRC) for change in chosen) == 10


def test_each_equivalent_break_is_one_that_could_be_planted() -> None:
    """A row of the reviewed list goes where its line does."""
    for row in EQUIVALENT:
        source = (ROOT / row.file).read_text(encoding="utf-8")
        found = python_changes.changes if row.file.endswith(".py") else cpp_changes.changes
        pairs = {change.lines(source) for change in found(row.file, source)}
        assert any(pair[0] == row.line and row.became in ("", pair[1]) for pair in pairs), row
        assert row.reason and reason_of(row.file, row.line, row.became)


class FakeWorkshop:
    """Sees the breaks of one line only."""

    tried_changes: list[Change] = []

    def __init__(self, folder: Path) -> None:
        pass

    def tried(self, change: Change) -> tuple[str, str]:
        self.tried_changes.append(change)
        return ("killed", "test_a") if len(self.tried_changes) % 2 else ("survived", "")


def test_a_run_goes_on_where_it_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(campaign, "Workshop", FakeWorkshop)
    monkeypatch.setattr(FakeWorkshop, "tried_changes", [])
    results, changes = tmp_path / "results.jsonl", drawn(6, 1)
    first = list(outcomes(changes[:4], tmp_path, results))
    assert len(FakeWorkshop.tried_changes) == sum(row.outcome != "equivalent" for row in first)
    assert list(read(results).values()) == first
    before = len(FakeWorkshop.tried_changes)
    rows = list(outcomes(changes, tmp_path, results))
    assert rows[:4] == first and len(rows) == 6
    assert set(FakeWorkshop.tried_changes[before:]) <= set(changes[4:])
    survivors = [row for row in rows if row.outcome == "survived"]
    again = list(outcomes(changes, tmp_path, results, ["survived"]))
    assert survivors and len(again) == 6
    assert {row.key for row in again} == {row.key for row in rows}


def test_the_page_says_what_was_not_seen() -> None:
    rows = [
        Outcome("a.py", 3, "a | b", "a & b", "survived", "", 1.0),
        *(Outcome("b.py", i, "c", "d", "killed", "test", 1.0) for i in range(3)),
        Outcome("c.cpp", 1, "e", "f", "does not build", "error", 1.0),
        Outcome("c.cpp", 2, "e", "f", "equivalent", "why", 1.0),
    ]
    text = summary(rows, 7)
    assert "planted 6 breaks (seed 7). 1 did not build, and 1 change no result. Of the other 4 the tests saw 3" in text
    assert "which is 75 %." in text
    assert "| `a.py` | ``a \\| b`` | ``a & b`` |" in text.splitlines()


def test_a_copy_has_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a worktree .git is a file: git, in the copy, would have been at work on the checkout's own."""
    for name in (".git", ".gitignore", "padops/a.py", "padops/__pycache__/a.pyc", "build/libpadops.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(workshop, "ROOT", tmp_path)
    assert sorted(map(str, workshop._files())) == [".gitignore", "padops/a.py"]
