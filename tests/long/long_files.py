"""Conversions are killed at any moment, or out of room: every file stays whole and none is left over."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import mounted
from killed import Runner, contents
from trials import CODES, SIGNALS, Trial, make_source

TIMES = 50  # for each signal and kind


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


@pytest.mark.parametrize("kind", ["over an older one", "in place"])
@pytest.mark.parametrize("name", SIGNALS)
def test_at_any_moment(name: str, kind: str, runner: Runner, tmp_path: Path, tally) -> None:
    """With 8 MB of data, so that the window in which they are written is most of the time."""
    trial = Trial(runner, tmp_path, kind, elements=1 << 20)
    chance, hit = random.Random(name + kind), 0
    while hit < TIMES:
        trial.prepare()
        ended = trial.run(number=SIGNALS[name], delay=chance.uniform(0, 1.1 * trial.ended.seconds))
        hit += ended.code == CODES[name]
        trial.check(ended)
    tally(f"SIG{name} at any moment while 8 MB are converted, {kind}, then a second run", hit, 0)


def test_a_full_disk(runner: Runner, tmp_path: Path, tally) -> None:
    """Every number of free pages from none to enough."""
    source, page = make_source(tmp_path / "in", elements=4096), 4096
    count = bad = 0
    with mounted(tmp_path / "disk", "512k"):
        disk, codes = tmp_path / "disk", []
        filler = disk / "filler"
        arguments = ("convert", source, "-o", disk / "m.onnx", "--report", disk / "r.json", "-q")
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            while True:
                file.write(bytes(page))
        while 0 not in codes:
            before = contents(disk)
            ended = runner.run(*arguments)
            codes.append(ended.code)
            count += 1
            if ended.code:
                full = "No space left on device; nothing has been left behind" in ended.said
                bad += contents(disk) != before or not full
            else:
                bad += contents(disk).keys() != {"a.bin", "deep", "deep/b.bin", "filler", "m.onnx", "r.json"}
            with filler.open("r+b") as file:
                file.truncate(filler.stat().st_size - page)
    tally("a full disk, with one page more each time until the model fits", count, bad)


def test_a_disk_that_is_read_only(runner: Runner, tmp_path: Path, tally) -> None:
    with mounted(tmp_path / "disk", "512k"):
        disk = tmp_path / "disk"
        source = make_source(disk / "in")
        before = contents(disk)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        places = ("--in-place",), ("-o", disk / "n.onnx"), ("--dry-run", "--report", disk / "r.json")
        runs = [runner.run("convert", source, *where, "-q") for where in places]
        bad = sum(run.code != 1 or "Read-only file system" not in run.said for run in runs) + (contents(disk) != before)
    tally("a disk that is read-only: in place, -o, --report", len(runs), bad)
