"""Ctrl-C and SIGTERM end a run with all of its processes, and what was measured is kept."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from xml.etree import ElementTree

import pytest
from terminals import AtTerminal

from padops.conformance import record

# Answers three cases. With the fourth it has a child, and neither ends for ten minutes.
SLOW = """
import subprocess, time
from pathlib import Path
import padops
PACKAGES = ("numpy",)
count = 0

def {name}(op, attributes, inputs):
    global count
    count += 1
    if count == 4:
        child = subprocess.Popen(["sleep", "600"])
        Path(__file__).with_name("{name}.begun").write_text(str(child.pid))
        time.sleep(600)
    return padops.run_reference(op, attributes, inputs)
"""
# The command, with cases that take no seconds to make.
COMMAND = """
import sys
from padops import cli
from padops.conformance import cases
cases.collect = lambda *asked: list(cases.table.cases(["Pad_2"], 1, 1, 0))
sys.exit(cli.main(sys.argv[1:]))
"""


def two_slow_peers(folder: Path) -> list[str]:
    for name in ("slow", "slower"):
        (folder / f"{name}.py").write_text(SLOW.format(name=name))
    return [f"--peer={folder / name}.py:{name}" for name in ("slow", "slower")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_a_run(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "report"
    command = ["-c", COMMAND, "conformance", "--out", out, *two_slow_peers(tmp_path), "--peer=reference"]
    with AtTerminal(*command, cwd=tmp_path) as run:
        run.wait_for(lambda: all((tmp_path / f"{name}.begun").exists() for name in ("slow", "slower")))
        assert len(run.pids()) >= 5, "the command, two workers and a child of each"
        run.press_ctrl_c() if number == signal.SIGINT else os.kill(run.process.pid, number)  # the command alone
        code, left, said = run.wait(), run.left(), run.said()
    assert (code, left) == (128 + number, [])
    whole = record.read(out / record.FILE)
    assert f"interrupted: {len(whole.results)} results; {out} has the results until then, marked as cut short" in said
    assert "Traceback" not in said and "nothing has been" not in said
    assert whole.footer["exit"] == 1 and set(whole.footer["cut_short"]) == {"slow:slow", "slower:slower"}
    mine = [result for result in whole.results if result["peer"] == "slow:slow"]
    assert len(mine) == 3 and whole.footer["cut_short"]["slow:slow"] > 10
    assert {result["outcome"] for result in whole.results} == {"agree"}, "what was not asked is no crash"
    assert "Cut short: " in (out / "report.md").read_text()
    assert '<p class="verdict bad">cut short</p>' in (out / "report.html").read_text()
    suites = ElementTree.parse(out / "junit.xml").getroot()
    assert suites.find("testsuite[@name='run']/testcase/failure").get("type") == "cut short"
