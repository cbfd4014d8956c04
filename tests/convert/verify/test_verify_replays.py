"""Inputs for which a part seems to differ, run on the whole models: those that end a process do not end this one."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from padops.convert.verify import replay


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize(
    ("what", "lives"),
    [
        (lambda: None, True),
        (lambda: 1 / 0, True),  # refused
        (lambda: os.kill(os.getpid(), signal.SIGFPE), False),
        (lambda: time.sleep(60), False),
    ],
)
def test_a_run_that_dies_or_does_not_end(what, lives: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Session:
        def __init__(self, path: Path, optimised: bool) -> None:
            pass

        def run(self, feeds: dict) -> None:
            what()

    monkeypatch.setattr(replay, "Session", Session)
    monkeypatch.setattr(replay, "PATIENCE", 1)
    assert replay.survive([Path("a.onnx"), Path("b.onnx")], {}) is lives
