"""Conversions as processes: ended at any step, beside others, through standard streams and links."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from command import padops as run_text
from command_lines import give
from external_data import refusal, save, write_floats
from killed import Runner, contents
from slow import MORE
from small_models import COMPLEX64, FLOAT, convert, external, one_pad
from trials import CODES, KINDS, SIGNALS, Trial, make_source

import padops
from padops import cli


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
    codes = []
    for step in range(1 + (not MORE and len(kind) % 2), trial.ended.steps + 1, 1 if MORE else 5):
        trial.prepare()
        ended = trial.run(step=step, number=SIGNALS[name])
        trial.check(ended)
        codes.append(ended.code)
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


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(143)])
def test_a_signal_after_the_conversion(ending: BaseException, tmp_path: Path, monkeypatch, capsys) -> None:
    """As while a large model is let go of: the command has returned, and not ended."""

    @contextlib.contextmanager
    def interrupted(what: str) -> Iterator[None]:
        yield
        raise ending

    monkeypatch.setattr(cli, "needing", interrupted)
    target = tmp_path / "out.onnx"
    assert cli.main(["convert", str(make_source(tmp_path)), str(target), "-q"]) == 0
    assert capsys.readouterr() == ("", f"interrupted, but {target} had been written\n") and target.is_file()


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


def test_writers_of_different_models(runner: Runner, tmp_path: Path, out: Path) -> None:
    """Two writers want the same data file names: the final model has its own data, whichever it is."""
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


TABLE = "1 Pad: 1 converted; wrote standard output ("


def run(*arguments: object, stdin: bytes = b"", **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "padops", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=600, **options)


def test_a_pipe(source: Path, tmp_path: Path) -> None:
    """From standard input to standard output, with the report in a file and every table on standard error."""
    report = tmp_path / "r.json"
    ended = run("convert", "-", "-o", "-", "--verify", "--run", "--report", report, stdin=source.read_bytes())
    assert ended.returncode == 0, ended.stderr
    padops.convert(source, tmp_path / "out.onnx")
    assert ended.stdout == (tmp_path / "out.onnx").read_bytes()
    assert "the outputs are bit-equal" in ended.stderr.decode() and TABLE in ended.stderr.decode()
    told = json.loads(report.read_text())
    assert told["source"]["files"][0]["name"] == "standard input"
    assert told["output"]["path"] == "-" and told["output"]["files"][0]["bytes"] == len(ended.stdout)
    assert contents(tmp_path).keys() == {"in.onnx", "out.onnx", "r.json"}
    ended = run("verify", source, "-", "--run", stdin=ended.stdout)
    assert (ended.returncode, ended.stderr) == (0, b"") and b"bit-equal" in ended.stdout


@pytest.mark.parametrize(("kind", "arguments"), [(FLOAT, ["o.onnx"]), (COMPLEX64, ["--dry-run", "--strict"])])
def test_the_report_of_standard_input_is_the_same_in_a_file(
    kind: int, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    content = one_pad(13, inputs=[("x", kind, [2, 3])], outputs=[("y", kind, None)]).SerializeToString()
    told = []
    for report in ("-", "r.json"):
        give(monkeypatch, content)
        assert cli.main(["convert", "-", *arguments, "--report", report]) == (0 if kind == FLOAT else 3)
        out = capfd.readouterr().out
        told.append(json.loads(out if report == "-" else Path(report).read_text())["source"])
    assert told[0] == told[1]
    [file] = told[0]["files"]
    assert (file["name"], file["bytes"]) == ("standard input", len(content))


WRONG = [
    ("verify - -", b"x", 2, "standard input can bring one of the models; name a file for the other\n"),
    ("convert - -o - --report -", b"x", 2, "standard output can take the model or the report; name a file"),
    ("convert - --in-place", b"MODEL", 2, "--in-place needs a file"),
    ("convert - -o o.onnx", b"", 1, "standard input is empty: no model came through it"),
    ("convert - -o o.onnx", b"no model", 1, "standard input: not an ONNX model: it cannot be parsed"),
    ("convert - -o o.onnx", b"DATA", 1, "the model from standard input has external data (w.bin), and a stream"),
    ("convert data.onnx -o -", b"", 1, "the model has external data (w.bin), which standard output cannot hold"),
]


@pytest.mark.parametrize(("arguments", "stdin", "code", "told"), WRONG, ids=[row[3][:40] for row in WRONG])
def test_what_cannot_be(
    arguments: str, stdin: bytes, code: int, told: str, source: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(source.parent)
    with_data = save(source.parent, [external("w", "w.bin", 4)], "data.onnx")
    write_floats(source.parent / "w.bin", *range(4))
    content = {b"MODEL": source, b"DATA": with_data}[stdin].read_bytes() if stdin.isupper() else stdin
    give(monkeypatch, content)
    assert cli.main(arguments.split()) == code
    said = capfd.readouterr()
    assert said.out == "" and said.err.startswith(f"error: {told}") and said.err.count("\n") == 1
    assert contents(source.parent).keys() == {"in.onnx", "data.onnx", "w.bin"}


def test_a_reader_that_has_gone(source: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = run_text("convert", source, "-o", "-", "-q", stdout=writing)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, "error: cannot write to standard output: Broken pipe\n")


def test_a_terminal_is_no_file(source: Path) -> None:
    ours, terminal = pty.openpty()
    ended = run_text("convert", source, "-o", "-", stdout=terminal)
    assert (ended.returncode, "error: standard output is a terminal" in ended.stderr) == (2, True)
    ended = run_text("convert", "-", "--dry-run", stdin=terminal)
    told = "error: cannot read standard input: it is a terminal; pipe a file into it\n"
    assert (ended.returncode, ended.stderr) == (1, told)
    os.close(ours)
    os.close(terminal)


def test_the_target_of_a_link_is_written(source: Path, tmp_path: Path) -> None:
    """With data beside it; the link stays, and so does that of the report."""
    (tmp_path / "deep").mkdir()
    real, told = tmp_path / "deep" / "real.onnx", tmp_path / "deep" / "r.json"
    for name, file in (("link.onnx", real), ("link.json", told)):
        file.write_text("old")
        (tmp_path / name).symlink_to(file.relative_to(tmp_path))
    assert convert(source, tmp_path / "link.onnx", report=tmp_path / "link.json").output == real
    assert all((tmp_path / name).is_symlink() for name in ("link.onnx", "link.json"))
    convert(source, tmp_path / "out.onnx")
    assert real.read_bytes() == (tmp_path / "out.onnx").read_bytes()
    assert json.loads(told.read_text())["output"]["path"] == str(real)


def test_in_place_through_a_link(source: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    real = source.rename(tmp_path / "deep" / "real.onnx")
    source.symlink_to(real)
    conversion = convert(source, in_place=True)
    assert source.is_symlink() and conversion.output == real and len(conversion.converted) == 1
    assert onnx.load(real).graph.node[0].domain == "padops"
    before = real.stat().st_mtime_ns
    assert convert(source, in_place=True).output is None
    assert real.stat().st_mtime_ns == before, "what does not change is not written"


def test_a_read_only_file_stays(source: Path, tmp_path: Path) -> None:
    source.chmod(0o444)
    before = source.read_bytes()
    told = "it is read-only; change its permissions, or name another file"
    assert refusal(source, in_place=True) == f"cannot write {source}: {told}"
    report = tmp_path / "r.json"
    report.write_text("old")
    report.chmod(0o444)
    assert refusal(source, tmp_path / "out.onnx", report=report) == f"cannot write {report}: {told}"
    assert (source.read_bytes(), report.read_text()) == (before, "old")
    assert contents(tmp_path).keys() == {"in.onnx", "r.json"}
