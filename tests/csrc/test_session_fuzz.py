"""Whole sessions of random Pads against the reference; ``tests/long/long_counts.py`` draws 10,000, up to 96 MB."""

from __future__ import annotations

from collections import Counter

import case_strategies
import session_checks
import session_models
from slow import MORE

SESSIONS = 10_000 if MORE else 40
SIZES = ("small", "small", "large") * (33 if MORE else 1) + ("huge",) * MORE
LEAST = {"sessions": SESSIONS - 1, "runs": SESSIONS, "large runs": SESSIONS // 4, "bound": SESSIONS // 10,
         "errors": SESSIONS // 20}  # fmt: skip


def test_sessions() -> None:
    seen: Counter[str] = Counter()
    sessions, check = session_models.sessions(SIZES), lambda drawn: session_checks.check(drawn, seen)
    met = lambda: all(seen[part] > least for part, least in LEAST.items())
    case_strategies.explore(sessions, check, SESSIONS, met)
    print(dict(seen))
