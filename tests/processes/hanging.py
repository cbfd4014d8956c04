"""A time limit for peers that hang: it ends at once when a peer hangs, and gives a slowly starting process its time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from padops import processes

LATER = 3600  # seconds, longer than any limit


def limit_ends_when_it_hangs(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Has the time of a peer be over once it makes the file ``HANGS``, an environment variable."""
    hangs = folder / "hangs"
    monkeypatch.setenv("HANGS", os.fspath(hangs))
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + LATER * hangs.exists())
    monkeypatch.setattr(processes, "time", clock)
