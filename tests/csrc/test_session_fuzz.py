"""Whole sessions of random Pads against the reference. ``PADOPS_SESSIONS`` sets how many are drawn.

tests/long/long_sessions.py draws more of them, and larger ones.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter

import case_strategies
import session_checks
import session_models
from hypothesis import given, seed, settings

SESSIONS = int(os.environ.get("PADOPS_SESSIONS", "40"))


def check_sessions(count: int, sizes: tuple[str, ...], start: int | None = None) -> Counter[str]:
    """Draws so many sessions and checks them; always the same ones, or those that follow from a number."""
    seen: Counter[str] = Counter()
    chosen = case_strategies.drawn(count)

    @settings(chosen, derandomize=start is None)
    @given(session_models.sessions(sizes))
    def check(drawn: session_models.Drawn) -> None:
        session_checks.check(drawn, seen)

    (check if start is None else seed(start)(check))()
    return seen


def test_sessions() -> None:
    sizes = ("small", "small", "large")
    seen = check_sessions(SESSIONS, sizes)
    parts = {"sessions": SESSIONS - 1, "runs": SESSIONS, "large runs": SESSIONS // 4, "bound": SESSIONS // 10}
    parts |= {"errors": SESSIONS // 20}
    met = lambda: all(seen[part] > least for part, least in parts.items())
    case_strategies.until(session_models.sessions(sizes), lambda drawn: session_checks.check(drawn, seen), met)
    print(dict(seen))


if __name__ == "__main__":
    print(json.dumps(check_sessions(int(sys.argv[1]), tuple(sys.argv[3].split(",")), int(sys.argv[2]))))
