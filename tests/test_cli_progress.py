"""``padops convert`` shows bars over thousands of Pads where standard error is a terminal, and nothing elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import onnx
import pad_chains
import pytest

from padops import terminal
from padops.convert import convert

COUNT = 5  # of Pads; the programs below take that for thousands
PROGRAM = (
    f"import sys; from padops import cli, terminal; terminal.FEWEST = {COUNT}; "
    "sys.exit(cli.main(['convert', 'in.onnx', 'out.onnx', *sys.argv[1:]]))"
)
STEPS = ("looking at Pads", "looking for what folds", "deciding", "converting")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    onnx.save(pad_chains.reflecting(COUNT), tmp_path / "in.onnx")
    return tmp_path


def at_a_terminal(folder: Path, *options: str) -> tuple[str, str]:
    """Return the printed text, and what the terminal on standard error shows."""
    terminal, there = pty.openpty()
    try:
        command = [sys.executable, "-c", PROGRAM, *options]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=there, text=True) as running:
            os.close(there)
            shown = b""
            while part := _read(terminal):
                shown += part
            printed = running.communicate(timeout=600)[0]
        assert running.returncode == 0, shown
        return printed, shown.decode()
    finally:
        os.close(terminal)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so where the other end is closed
        return b""


def test_a_terminal_shows_how_far_it_is(folder: Path) -> None:
    printed, shown = at_a_terminal(folder)
    assert [step for step in STEPS if step not in shown] == [] and f"{COUNT}/{COUNT}" in shown
    assert f"{COUNT} Pads: {COUNT} converted" in printed and not any(step in printed for step in STEPS)
    assert at_a_terminal(folder, "-q") == ("", "")
    ran = subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, timeout=600)
    assert (ran.returncode, ran.stderr) == (0, "") and not any(step in ran.stdout for step in STEPS)  # a pipe


@pytest.mark.parametrize("fold", [True, False])
def test_each_step_is_told_from_0_to_its_end(fold: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    source = pad_chains.reflecting(COUNT)
    convert(source, fold=fold, progress=lambda *step: told.append(step))
    assert told == []  # of so few
    monkeypatch.setattr(terminal, "FEWEST", COUNT)
    monkeypatch.setattr(terminal, "STEP", 2)
    convert(source, fold=fold, progress=lambda *step: told.append(step))
    steps = {what: [(done, total) for _, done, total in of_it] for what, of_it in groupby(told, lambda step: step[0])}
    assert list(steps) == [step for step in STEPS if fold or "fold" not in step]
    assert all(of_it == [(0, COUNT), (2, COUNT), (4, COUNT), (COUNT, COUNT)] for of_it in steps.values())
