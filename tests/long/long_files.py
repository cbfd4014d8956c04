"""Conversions are killed, interrupted, out of room, or concurrent: every file stays whole and none is left over."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from command import mounted
from killed import Ended, Runner, contents
from trials import CODES, KINDS, SIGNALS, Trial, end_at, make_source

TIMES = 50  # for each signal and kind
WRITERS, ROUNDS = 8, 20


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


def harmed(check: object, *arguments: object) -> int:
    """1 where a check fails, which it also prints."""
    try:
        check(*arguments)
    except AssertionError as error:
        print(error)
        return 1
    return 0


@pytest.mark.parametrize("name", SIGNALS)
def test_at_every_step(name: str, runner: Runner, tmp_path: Path, tally) -> None:
    count = bad = 0
    for kind in KINDS:
        trial = Trial(runner, tmp_path / kind, kind)
        for step in range(1, trial.ended.steps + 1):
            bad += harmed(end_at, trial, name, [step])
            count += 1
    tally(f"SIG{name} at every step that a conversion makes on files, then a second run", count, bad)


@pytest.mark.parametrize("kind", ["over an older one", "in place"])
@pytest.mark.parametrize("name", SIGNALS)
def test_at_any_moment(name: str, kind: str, runner: Runner, tmp_path: Path, tally) -> None:
    """With 8 MB of data, so that the window in which they are written is most of the time."""
    trial = Trial(runner, tmp_path, kind, elements=1 << 20)
    chance, bad, hit = random.Random(name + kind), 0, 0
    while hit < TIMES:
        trial.prepare()
        ended = trial.run(number=SIGNALS[name], delay=chance.uniform(0, 1.1 * trial.ended.seconds))
        hit += ended.code == CODES[name]
        bad += harmed(trial.check, ended)
    tally(f"SIG{name} at any moment while 8 MB are converted, {kind}, then a second run", hit, bad)


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
                bad += (
                    contents(disk) != before
                    or "No space left on device; nothing has been left behind" not in ended.said
                )
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
        runs = [
            runner.run("convert", source, *where, "-q")
            for where in (("--in-place",), ("-o", disk / "n.onnx"), ("--dry-run", "--report", disk / "r.json"))
        ]
        bad = sum(run.code != 1 or "Read-only file system" not in run.said for run in runs) + (contents(disk) != before)
    tally("a disk that is read-only: in place, -o, --report", len(runs), bad)


def passed(runs: list[Ended]) -> bool:
    return all(run.code == 0 for run in runs)


@pytest.mark.parametrize("kind", ["over an older one", "in place"])
def test_writers_of_one_model(kind: str, runner: Runner, tmp_path: Path, tally) -> None:
    trial, bad = Trial(runner, tmp_path, kind), 0
    for _ in range(ROUNDS):
        trial.prepare()
        runs = runner.run_together([trial.arguments] * WRITERS)
        bad += not passed(runs) or {**contents(trial.folder), "r.json": b""} != {**trial.after, "r.json": b""}
    tally(f"{WRITERS} conversions of one model at once, {kind}", ROUNDS, bad)


def test_writers_of_different_models(runner: Runner, tmp_path: Path, tally) -> None:
    """All want one name for the model and the same names for their data."""
    sources, bad = [], 0
    for i in range(WRITERS):
        sources.append(make_source(tmp_path / str(i)))
        (tmp_path / str(i) / "a.bin").write_bytes(np.full(4, i, np.float32).tobytes())
        (tmp_path / str(i) / "deep" / "b.bin").write_bytes(np.full(4, 10 * i, np.float32).tobytes())
    for turn in range(ROUNDS):
        out = tmp_path / f"out{turn}"
        out.mkdir()
        runs = runner.run_together([("convert", source, "-o", out / "m.onnx", "-q") for source in sources])
        found = {t.name: np.frombuffer(t.raw_data, np.float32) for t in onnx.load(out / "m.onnx").graph.initializer}
        whole = found["b"].tolist() == (10 * found["a"]).tolist()
        told = all(run.code == 0 or "try again; nothing has been left behind" in run.said for run in runs)
        stray = [name for name in contents(out) if name.endswith(".part")]
        bad += not whole or not told or bool(stray) or 0 not in [run.code for run in runs]
    tally(f"{WRITERS} different models to one name at once", ROUNDS, bad)
