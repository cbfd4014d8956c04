"""Programs that leave copies of themselves behind, which hold their pipes; and whether a process is still there."""

from __future__ import annotations

import time
from pathlib import Path

SOON = 20  # seconds, for what a loaded machine does at once; what holds the pipes lives three times as long
LASTING = 3 * SOON

# A copy of the process that holds its pipes, and outlives it.
FORKS = f"""
import os, sys, time
if not (child := os.fork()):
    time.sleep({LASTING})
    os._exit(0)
print(child, flush=True)
"""
# The same, out of the reach of those who end the group.
FORKS_APART = FORKS.replace("time.sleep(", "os.setsid() or time.sleep(")


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int) -> bool:
    limit = time.monotonic() + SOON
    while is_there(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not is_there(pid)
