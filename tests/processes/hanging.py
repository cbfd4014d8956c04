"""Peers that hang, and a limit that ends when one does: nobody waits, and a process that is slow to start has its time."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest


class WhenItHangs(threading.Timer):
    """In the place of a timer: it rings as soon as the peer says, by a file, that it hangs."""

    def run(self) -> None:
        while not self.finished.wait(0.01):
            if Path(os.environ["HANGS"]).exists():
                self.function()
                return


def ring_when_it_hangs(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Has the time of a peer be over that makes the file ``HANGS``, an environment variable, and of no other."""
    monkeypatch.setenv("HANGS", str(folder / "hangs"))
    monkeypatch.setattr(threading, "Timer", WhenItHangs)
