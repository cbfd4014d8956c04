"""Long tests: ``python3 scripts/test.py --long`` runs them; pytest alone collects none, because of their files' names.

Each says what it tried, how often, and how often that did harm. With ``--record`` these rows go into the table of
``docs/reliability.md``; a row that is there already is replaced.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- reliability table -->\n", "<!-- /reliability table -->\n"
HEAD = "| tried | count | harmed | seconds | command |\n|---|--:|--:|--:|---|\n"

Tally = Callable[[str, int, int], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the rows of this run into docs/reliability.md")


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Tally]:
    """``tally(tried, count, harmed)``: one row of the table; fails the test where anything was harmed or nothing tried."""
    start = time.monotonic()

    def add(tried: str, count: int, harmed: int) -> None:
        command = f"`scripts/test.py --long {shlex.quote(request.node.nodeid)}`"
        row = f"| {tried} | {count:,} | {harmed:,} | {time.monotonic() - start:.0f} | {command} |\n"
        print(row, end="")
        if request.config.getoption("--record"):
            record(tried, row)
        assert count > 0 and harmed == 0, row

    yield add


def record(tried: str, row: str) -> None:
    """Puts a row into the document's table, in the place of the one that tried the same."""
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = table.removeprefix(HEAD).splitlines(keepends=True)
    kept = [old for old in rows if not old.startswith(f"| {tried} |")]
    where = next((i for i, old in enumerate(rows) if old.startswith(f"| {tried} |")), len(kept))
    kept.insert(where, row)
    DOCUMENT.write_text(before + BEGIN + HEAD + "".join(kept) + END + after, encoding="utf-8")
