"""Thousands of whole random sessions; each hundred in a process of its own, so that one that dies is counted and seen.

``PADOPS_SESSIONS`` sets how many of the small and large ones; of the huge ones, which go past the caches, there are a
fiftieth as many.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "csrc" / "test_session_fuzz.py"
SESSIONS = int(os.environ.get("PADOPS_SESSIONS", "10000"))
BATCH = 100


@pytest.mark.parametrize(
    ("sizes", "count", "tried"),
    [
        ("small,small,large", SESSIONS, "random sessions of one to three Pads, up to 6 MB, against the reference"),
        ("huge", SESSIONS // 50, "random sessions past the caches, up to 96 MB, against the reference"),
    ],
    ids=["small and large", "huge"],
)
def test_sessions(tally, sizes: str, count: int, tried: str) -> None:
    seen: Counter[str] = Counter()
    harmed = 0
    environment = {**os.environ, "PYTHONPATH": str(FUZZ.parents[1] / "models")}
    batch = BATCH if count >= BATCH else count
    for start in range(0, count, batch):
        command = [sys.executable, str(FUZZ), str(min(batch, count - start)), str(start), sizes]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600, env=environment)
        if done.returncode:
            harmed += 1
            print(" ".join(command), f"exit code {done.returncode}", done.stderr[-6000:], sep="\n")
        else:
            seen.update(json.loads(done.stdout))
    print(dict(seen))
    tally(tried, seen["sessions"] + harmed, harmed)
