"""Long tests: ``python3 scripts/test.py --long`` runs them; pytest alone collects none, because of their files' names.

Each prints what it tried, how often, and how often that did harm; docs/contributing.md has the sums.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator

import pytest

Tally = Callable[..., None]


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
        assert count > 0 and harmed <= allowed * count, row

    yield add
