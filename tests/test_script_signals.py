"""A script of the checkout hands a job over: a signal to the script alone ends the job as well."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from terminals import AtTerminal

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
JOB = "import time; print('begun', flush=True); time.sleep(600)"
SCRIPT = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
import environment
sys.exit(environment.hand_over([{sys.executable!r}, "-c", {JOB!r}]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_the_job_ends_with_its_script(number: int, code: int, tmp_path: Path) -> None:
    with AtTerminal("-c", SCRIPT, cwd=tmp_path) as run:
        run.wait_for(lambda: "begun" in run.said())
        assert len(run.pids()) == 2
        if number == signal.SIGINT:
            run.press_ctrl_c()
        else:
            os.kill(run.process.pid, number)
        assert (run.wait(), run.left()) == (code, [])


INTERRUPTED_LATE = f"""
import os, signal, sys
sys.path.insert(0, {str(SCRIPTS)!r})
import environment
wait = os.waitpid
def and_then_interrupted(pid, flags):
    ended, status = wait(pid, flags)
    if ended:
        signal.raise_signal(signal.SIGINT)
    return ended, status
os.waitpid = and_then_interrupted
sys.exit(environment.hand_over([{sys.executable!r}, "-c", "raise SystemExit(7)"]))
"""


def test_an_interrupt_does_not_hide_how_the_job_ended(tmp_path: Path) -> None:
    """The script is told that the job has ended, and interrupted before it has looked with which code."""
    with AtTerminal("-c", INTERRUPTED_LATE, cwd=tmp_path) as run:
        assert (run.wait(), run.left()) == (7, []), run.said()


@pytest.mark.parametrize(("before", "after"), [("SIG_IGN", "SIG_IGN"), ("default_int_handler", "SIG_DFL")])
def test_the_job_has_the_signals_of_its_script(before: str, after: str, tmp_path: Path) -> None:
    """In the background an interrupt is meant for neither."""
    job = "import signal; print(signal.getsignal(signal.SIGINT) in (signal.SIG_IGN,))"
    script = (
        SCRIPT.replace(repr(JOB), repr(job)).replace(
            "import environment\n", f"import environment, signal\nsignal.signal(signal.SIGINT, signal.{before})\n"
        )
        + f"assert signal.getsignal(signal.SIGINT) == signal.{before}\n"
    )
    script = script.replace("sys.exit(", "code = (")
    with AtTerminal("-c", script, cwd=tmp_path) as run:
        assert (run.wait(), run.said()) == (0, f"{after == 'SIG_IGN'}\n")
