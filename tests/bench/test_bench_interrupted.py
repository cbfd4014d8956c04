"""Ctrl-C and SIGTERM end a benchmark with its processes, and what was measured is kept."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from leftovers import LASTING
from terminals import AtTerminal

from padops.bench.table import Measurement
from padops.bench.timing import measure

ROOT = Path(__file__).resolve().parents[2]
FIRST = ["bench", "--quick", "--only", "image", "--threads", "1"]  # several workloads, of half a second each


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_it(number: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "bench.json"
    with AtTerminal("-m", "padops", *FIRST, "--json", data, cwd=tmp_path) as run:
        run.wait_for(lambda: "image reflect 1/" in run.said())  # the second one
        assert len(run.pids()) >= 2
        run.press_ctrl_c() if number == signal.SIGINT else os.kill(run.process.pid, number)  # the command alone
        code, left, said = run.wait(), run.left(), run.said()
    assert (code, left) == (128 + number, [])
    assert f"interrupted: {data} has the results until then, marked as cut short" in said and "Traceback" not in said
    assert "cut short after 1 workload" in " ".join(said.split())
    assert list(tmp_path.iterdir()) == [data]
    written = json.loads(data.read_text())
    assert {row["workload"] for row in written["measurements"]} == {"image constant"}
    assert written["machine"]["cut short"] == "after 1 workload"


def test_before_anything_was_measured(tmp_path: Path) -> None:
    data = tmp_path / "bench.json"
    with AtTerminal("-m", "padops", *FIRST, "--json", data, cwd=tmp_path) as run:
        run.wait_for(lambda: "image constant 0/" in run.said())
        run.press_ctrl_c()
        code, left, said = run.wait(), run.left(), run.said()
    assert (code, left) == (130, [])
    assert "interrupted before anything was measured; no file has been written" in said
    assert list(tmp_path.iterdir()) == []


def leave(threads: int, seconds: float) -> list[Measurement]:
    if not os.fork():
        time.sleep(LASTING)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_a_process_that_dies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = time.monotonic()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where the process finds the step
    with pytest.raises(RuntimeError, match=r"the measuring process has died \(SIGKILL\)"):
        measure([("leaving", leave)], 1, 0.5, lambda measured: None, lambda *step: None)
    assert time.monotonic() - begin < LASTING
