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

Tally = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the rows of this run into docs/reliability.md")


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Tally]:
    """``tally(tried, count, harmed)``: one row of the table; fails the test where anything was harmed or nothing tried.

    ``allowed`` is the part of the count that may be harmed, ``seconds`` the time where that of the test is not what it
    took.
    """
    start = time.monotonic()

    def add(tried: str, count: int, harmed: int, allowed: float = 0.0, seconds: float | None = None) -> None:
        took = time.monotonic() - start if seconds is None else seconds
        command = f"`scripts/test.py --long {shlex.quote(request.node.nodeid)}`"
        row = f"| {tried} | {count:,} | {harmed:,} | {took:.0f} | {command} |\n"
        print(row, end="")
        if request.config.getoption("--record"):
            record(tried, row)
        assert count > 0 and harmed <= allowed * count, row

    yield add


def record(tried: str, row: str) -> None:
    """Puts a row into the document's table, in the place of the one that tried the same."""
    table = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = table.removeprefix(HEAD).splitlines(keepends=True)
    kept = [old for old in rows if not old.startswith(f"| {tried} |")]
    where = next((i for i, old in enumerate(rows) if old.startswith(f"| {tried} |")), len(kept))
    kept.insert(where, row)
    put(DOCUMENT, BEGIN, END, HEAD + "".join(kept))


def put(document: Path, begin: str, end: str, text: str) -> None:
    """Puts text between two lines of a document, in the place of what is there."""
    before, _, rest = document.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    document.write_text(before + begin + text + end + after, encoding="utf-8")
