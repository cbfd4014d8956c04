"""Whole sessions of random Pads against the reference. ``PADOPS_SESSIONS`` sets how many are drawn.

tests/long/long_sessions.py draws more of them, and larger ones.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter

import case_strategies
from hypothesis import given, seed, settings
from session_models import Drawn, check, sessions

SESSIONS = int(os.environ.get("PADOPS_SESSIONS", "40"))


def check_sessions(count: int, sizes: list[str], start: int | None = None) -> Counter[str]:
    """Draws so many sessions and checks them; always the same ones, or those that follow from a number."""
    seen: Counter[str] = Counter()

    @settings(case_strategies.drawn(count), derandomize=start is None)
    @given(sessions(sizes))
    def checked(drawn: Drawn) -> None:
        check(drawn, seen)

    (checked if start is None else seed(start)(checked))()
    return seen


def test_sessions() -> None:
    sizes = ["small", "small", "large"]
    seen = check_sessions(SESSIONS, sizes)
    parts = {"sessions": SESSIONS - 1, "runs": SESSIONS, "large runs": SESSIONS // 4, "bound": SESSIONS // 10}
    parts |= {"errors": SESSIONS // 20}
    met = lambda: all(seen[part] > least for part, least in parts.items())
    case_strategies.until(sessions(sizes), lambda drawn: check(drawn, seen), met)
    print(dict(seen))


if __name__ == "__main__":
    print(json.dumps(check_sessions(int(sys.argv[1]), sys.argv[3].split(","), int(sys.argv[2]))))
