"""A conversion ended at any step leaves the old or the new model, whole, and its data; the next run is not hindered."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from killed import Runner, contents
from slow import MORE
from trials import CODES, KINDS, SIGNALS, Trial, end_at, make_source

import padops


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SIGNALS)
def test_ended_at_a_step(name: str, kind: str, runner: Runner, tmp_path: Path) -> None:
    """At every fifth; ``long/long_counts.py`` takes all of them."""
    trial = Trial(runner, tmp_path, kind)
    assert trial.ended.steps > 10
    codes = end_at(trial, name, range(1 + (not MORE and len(kind) % 2), trial.ended.steps + 1, 1 if MORE else 5))
    assert codes.count(CODES[name]) >= 2
    assert set(codes) <= {0, CODES[name]} and (name != "KILL" or 0 not in codes)


def test_the_interrupt_that_came_too_late(runner: Runner, tmp_path: Path) -> None:
    """The model is in place: the exit code and the message say so."""
    trial = Trial(runner, tmp_path, "over an older one")
    said = set()
    for step in range(trial.ended.steps // 3, trial.ended.steps + 1, 2):
        trial.prepare()
        ended = trial.run(step=step, number=signal.SIGINT)
        said.add((ended.code, ended.said))
    assert said == {
        (130, "interrupted; nothing has been left behind\n"),
        (0, f"interrupted, but {trial.folder / 'm.onnx'} had been written\n"),
    }


@pytest.mark.parametrize("limit", [0, 100, 400, 600])
def test_no_room(limit: int, runner: Runner, tmp_path: Path) -> None:
    """A file may have so many bytes and no more, as where a disk is full."""
    trial = Trial(runner, tmp_path, "over an older one")
    trial.prepare()
    before = contents(trial.folder)
    largest = max(len(data or b"") for data in trial.after.values())
    assert limit < largest
    ended = trial.run(limit=limit)
    assert (ended.code, contents(trial.folder)) == (1, before)
    last = trial.folder / ("r.json" if limit >= len(trial.after["m.onnx"]) else "m.onnx")
    assert ended.said == f"error: cannot write {last}: File too large; nothing has been left behind\n"


@pytest.mark.parametrize("kind", ["over an older one", "in place"])
def test_writers_of_one_model(kind: str, runner: Runner, tmp_path: Path) -> None:
    trial = Trial(runner, tmp_path, kind)
    for _ in range(20 if MORE else 2):
        trial.prepare()
        arguments = trial.arguments if kind != "in place" else trial.arguments[:-2]  # a report has one writer
        runs = runner.run_together([arguments] * 4)
        assert [run.code for run in runs] == [0] * 4, runs
        found, after = contents(trial.folder), dict(trial.after)
        assert found.pop("r.json", b"") is not None and after.pop("r.json") and found == after


def test_writers_of_different_models(runner: Runner, tmp_path: Path) -> None:
    """Two writers want the same data file names: the final model has its own data, whichever it is."""
    out = tmp_path / "out"
    out.mkdir()
    sources = []
    for i in range(4):
        folder = tmp_path / str(i)
        sources.append(make_source(folder))
        (folder / "a.bin").write_bytes(np.full(4, i, np.float32).tobytes())
        (folder / "deep" / "b.bin").write_bytes(np.full(4, 10 * i, np.float32).tobytes())
    runs = runner.run_together([("convert", source, "-o", out / "m.onnx", "-q") for source in sources])
    assert 0 in [run.code for run in runs]
    for run in runs:
        assert run.code == 0 or "another program has written a file of this name meanwhile; try again" in run.said, run
    tensors = {t.name: np.frombuffer(t.raw_data, np.float32) for t in onnx.load(out / "m.onnx").graph.initializer}
    assert tensors["b"].tolist() == (10 * tensors["a"]).tolist()
    assert not [name for name in contents(out) if name.endswith(".part")]
    assert padops.convert(out / "m.onnx").records
