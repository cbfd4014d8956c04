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
