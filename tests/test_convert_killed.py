"""Conversions ended at any step: the model is the old one or the new one, whole, and the next run leaves nothing else."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from killed import Ended, Runner, contents
from onnx import helper
from small_models import FLOAT, external, model, pad, tensor

import padops

SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}
CODES = {"KILL": -signal.SIGKILL, "TERM": 128 + signal.SIGTERM, "INT": 130}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


def make_source(folder: Path) -> Path:
    """A model with data in two files, one of them in a folder."""
    (folder / "deep").mkdir(parents=True)
    (folder / "a.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    (folder / "deep" / "b.bin").write_bytes(np.arange(4, 8, dtype=np.float32).tobytes())
    tensors = [external("a", "a.bin", 4), external("b", "deep/b.bin", 4), tensor("two", [1, 2])]
    nodes = [helper.make_node("Sum", ["x", "a", "b"], ["s"]), pad(["s", "two"])]
    made = model(nodes, 17, inputs=[("x", FLOAT, [4])], outputs=[("y", FLOAT, [7])], tensors=tensors)
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    return folder / "m.onnx"


class Trial:
    """One conversion, as often as it is ended: into a new folder, over an older model there, or in place."""

    def __init__(self, runner: Runner, tmp_path: Path, kind: str) -> None:
        self.runner, self.kind, self.folder = runner, kind, tmp_path / "out"
        source = make_source(tmp_path / "in")
        self.before: dict[str, bytes] = {}
        if kind == "in place":
            self.before = {name: data for name, data in contents(tmp_path / "in").items() if data is not None}
            self.arguments: tuple[object, ...] = ("convert", self.folder / "m.onnx", "--in-place", "-q")
        else:
            self.arguments = ("convert", source, "-o", self.folder / "m.onnx", "-q")
        if kind == "over an older one":
            self.before = {"m.onnx": b"what was there", "own.txt": b"somebody else's"}
        self.arguments += ("--no-fallback", "--report", self.folder / "r.json")
        self.prepare()
        self.ended = self.run()
        assert self.ended.code == 0, self.ended.said
        self.after = contents(self.folder)

    def prepare(self) -> None:
        """The folder as it was before."""
        import shutil

        shutil.rmtree(self.folder, ignore_errors=True)
        for name, data in self.before.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(data)
        self.folder.mkdir(exist_ok=True)

    def run(self, **how: object) -> Ended:
        return self.runner.run(*self.arguments, below=str(self.folder), **how)

    def check(self, ended: Ended) -> None:
        """What must hold after a run that was ended, and after the next one."""
        found = {name: data for name, data in contents(self.folder).items() if data is not None}
        new = found.get("m.onnx") == self.after["m.onnx"]
        assert new or found.get("m.onnx") == self.before.get("m.onnx"), ended
        if new:  # then with all its data
            assert all(found[name] == data for name, data in self.after.items() if name.endswith(".bin")), ended
        if ended.code >= 0:  # it could clear up
            assert (ended.code == 0) == new, ended
            kept = set(self.after if new else self.before) | {"r.json"}
            assert set(contents(self.folder)) - {"deep"} <= kept, ended
            assert not new or "r.json" in found, ended
        for name, data in self.before.items():
            assert name == "m.onnx" or found[name] == data, ended
        again = self.run()
        assert again.code == 0, again.said
        assert contents(self.folder).keys() == self.after.keys(), ended
        assert all(
            data == self.after[name] for name, data in contents(self.folder).items() if name != "r.json"
        ), ended


@pytest.mark.parametrize("kind", ["into a new folder", "over an older one", "in place"])
@pytest.mark.parametrize("name", SIGNALS)
def test_ended_at_every_step(name: str, kind: str, runner: Runner, tmp_path: Path) -> None:
    trial = Trial(runner, tmp_path, kind)
    assert trial.ended.steps > 20
    codes = []
    for step in range(1, trial.ended.steps + 1):
        trial.prepare()
        ended = trial.run(step=step, number=SIGNALS[name])
        trial.check(ended)
        codes.append(ended.code)
    assert codes.count(CODES[name]) > 10
    assert set(codes) <= {0, CODES[name]} and (name != "KILL" or 0 not in codes)


def test_the_interrupt_that_came_too_late(runner: Runner, tmp_path: Path) -> None:
    """The model is in place: the exit code and the message say so."""
    trial = Trial(runner, tmp_path, "over an older one")
    said = set()
    for step in range(1, trial.ended.steps + 1):
        trial.prepare()
        ended = trial.run(step=step, number=signal.SIGINT)
        said.add((ended.code, ended.said))
    assert said == {
        (130, "interrupted; nothing has been left behind\n"),
        (0, f"interrupted, but {trial.folder / 'm.onnx'} had been written\n"),
    }


@pytest.mark.parametrize("limit", [0, 10, 15, 100, 200, 300, 400, 600])
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


def test_writers_of_one_model(runner: Runner, tmp_path: Path) -> None:
    trial = Trial(runner, tmp_path, "over an older one")
    for _ in range(3):
        trial.prepare()
        runs = runner.run_together([trial.arguments] * 4)
        assert [run.code for run in runs] == [0] * 4, runs
        found = contents(trial.folder)
        assert {**found, "r.json": b""} == {**trial.after, "r.json": b""}


def test_writers_of_different_models(runner: Runner, tmp_path: Path) -> None:
    """They want the same names for their data: whichever model is there at the end, its own data are with it."""
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


def test_writers_in_place(runner: Runner, tmp_path: Path) -> None:
    trial = Trial(runner, tmp_path, "in place")
    for _ in range(3):
        trial.prepare()
        arguments = [argument for argument in trial.arguments if argument != "-q"][:3]
        runs = runner.run_together([(*arguments, "-q", "--no-fallback")] * 4)
        assert [run.code for run in runs] == [0] * 4, runs
        assert contents(trial.folder) == {name: data for name, data in trial.after.items() if name != "r.json"}
