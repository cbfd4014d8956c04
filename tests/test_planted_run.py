"""``tests/mutation/planted`` knows tests for each source, and its equivalent breaks are of lines that exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mutation.planted import campaign, cpp_changes, python_changes
from mutation.planted.change import Change
from mutation.planted.equivalent import EQUIVALENT, reason_of
from mutation.planted.relevant import CONVERT, CSRC, ROOT, stages_of


def changes_of(file: str) -> Callable[[str, str], Iterator[Change]]:
    return python_changes.changes if file.endswith(".py") else cpp_changes.changes


def test_every_source_has_tests() -> None:
    sources = [path.as_posix() for folder in (CSRC, CONVERT) for path in campaign.sources_of(folder)]
    assert len(sources) > 100
    for file in sources:
        source = (ROOT / file).read_text(encoding="utf-8")
        if any(True for _ in changes_of(file)(file, source)):
            stages = list(stages_of(file))  # raises where a file of tests is not there
            assert any(stage[0] == "pytest" and len(stage) > 1 for stage in stages), file


def test_each_equivalent_break_is_one_that_could_be_planted() -> None:
    for row in EQUIVALENT:
        source = (ROOT / row.file).read_text(encoding="utf-8")
        pairs = {change.lines(source) for change in changes_of(row.file)(row.file, source)}
        assert any(pair[0] == row.line and row.became in ("", pair[1]) for pair in pairs), row
        assert row.reason and reason_of(row.file, row.line, row.became)
