"""``padops convert`` of a folder: each model for itself, one report, the worst exit code."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_lines import run
from onnx import helper
from small_irs import PAD_IR, PAD_IR_WEIGHTS
from small_models import COMPLEX64, FLOAT, model, one_pad, pad, tensor
from terminals import PATIENCE

from padops.cli.parsing import models_in
from padops.convert.rewrite import TARGETS


def mixed() -> onnx.ModelProto:
    nodes = [pad(), pad(["c", "pads"], "z", name="complex")]
    return model(nodes, 13, inputs=[("x", FLOAT, [2, 3]), ("c", COMPLEX64, [2, 3])],
                 outputs=[("y", FLOAT, None), ("z", COMPLEX64, None)],
                 tensors=[tensor("pads", [0, 0, 0, 1])])  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three models, one of them in a folder, and a file that is none."""
    made = tmp_path / "in"
    (made / "deep").mkdir(parents=True)
    (made / "a.onnx").write_bytes(one_pad(13).SerializeToString())
    (made / "broken.onnx").write_bytes(b"no model")
    (made / "deep" / "b.onnx").write_bytes(one_pad(2).SerializeToString())
    (made / "mixed.onnx").write_bytes(mixed().SerializeToString())
    (made / "notes.txt").write_text("left alone")
    return made


def test_a_model_that_fails_stops_no_other(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "out", tmp_path / "r.json"
    code, text, err = run(capsys, "convert", folder, out, "--report", report, "--no-fallback")
    assert code == 1
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()) == [
        "a.onnx", "deep/b.onnx", "mixed.onnx"
    ]  # fmt: skip
    size = (out / "a.onnx").stat().st_size
    assert text.splitlines()[0] == f"{folder / 'a.onnx'}: 1 Pad: 1 converted; wrote {out / 'a.onnx'} ({size:,} bytes)"
    assert text.splitlines()[-1] == "4 models, 1 failed; 4 Pads: 3 converted, 1 unconverted"
    broken = folder / "broken.onnx"
    why = "not an ONNX model: it cannot be parsed as a protobuf message"
    assert err == f"{broken}: error: {why}\n"
    told = json.loads(report.read_text())
    assert (told["exit"], told["counts"]["converted"], told["counts"]["unconverted"]) == (1, 3, 1)
    assert [(Path(row["source"]).name, row["exit"], row["error"]) for row in told["files"]] == [
        ("a.onnx", 0, None), ("broken.onnx", 1, f"{broken}: {why}"), ("b.onnx", 0, None), ("mixed.onnx", 0, None)
    ]  # fmt: skip
    assert told["files"][0]["report"]["pads"][0]["mode"] == "constant"


def test_a_folder_that_disappears_ends_no_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As padops' own temporary folders do."""
    for name in ("first", "gone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.onnx").touch()
    scandir = os.scandir

    def disappearing(path: os.PathLike[str] | str | int) -> object:
        if not isinstance(path, int) and Path(path) != tmp_path:
            shutil.rmtree(tmp_path / "gone", ignore_errors=True)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", disappearing)
    assert models_in(tmp_path) == [tmp_path / "first" / "m.onnx"]


def test_a_folder_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A check must not pass because it did not see a model. Root reads every folder, so the system's call refuses."""
    (tmp_path / "m.onnx").write_bytes(one_pad(13).SerializeToString())
    locked, scandir = tmp_path / "locked", os.scandir
    locked.mkdir()

    def refusing(path: os.PathLike[str] | str) -> object:
        if Path(path) == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    for words in (("inspect", tmp_path, "--check"), ("convert", tmp_path, tmp_path.with_name("out"))):
        assert run(capsys, *words) == (1, "", f"error: {locked}: Permission denied\n")


def test_irs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An IR beside a model of its name keeps its suffix; other XML is left alone."""
    made, out = tmp_path / "in", tmp_path / "out"
    made.mkdir()
    (made / "a.onnx").write_bytes(one_pad(13).SerializeToString())
    for name in ("a", "b"):
        (made / f"{name}.xml").write_text(PAD_IR)
        (made / f"{name}.bin").write_bytes(PAD_IR_WEIGHTS)
    (made / "other.xml").write_text("<annotation/>")
    code, text, err = run(capsys, "convert", made, out)
    assert (code, err) == (0, "") and "3 models" in text.splitlines()[-1]
    assert sorted(path.name for path in out.iterdir()) == ["a.onnx", "a.xml.onnx", "b.onnx"]


def test_the_worst_exit_code(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "convert", folder, tmp_path / "out", "--strict", "-q")[0] == 1  # 0, 1, 0 and 3
    (folder / "broken.onnx").unlink()
    code, out, err = run(capsys, "convert", folder, tmp_path / "out", "--strict", "-q")
    assert (code, out) == (3, "")
    assert "1 of 2 Pads stays unconverted" in err
    assert run(capsys, "convert", folder, tmp_path / "out", "-q") == (0, "", "")
    assert run(capsys, "convert", folder, tmp_path / "out", "-q") == (0, "", "")  # again, over the same files


def test_in_place_and_dry_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.onnx").unlink()
    before = {path: path.read_bytes() for path in folder.rglob("*.onnx")}
    assert run(capsys, "convert", folder, "--dry-run", "-q") == (0, "", "")
    assert {path: path.read_bytes() for path in folder.rglob("*.onnx")} == before
    assert run(capsys, "convert", folder, "--in-place", "-q") == (0, "", "")
    assert all(path.read_bytes() != content for path, content in before.items())


def test_verified(unproved: None, folder: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = helper.make_node("RandomNormalLike", ["p"], ["y"])
    untold = model([pad(output="p"), noise], tensors=[tensor("pads", [0, 1, 0, 1])])
    (folder / "mixed.onnx").write_bytes(untold.SerializeToString())
    out, report = tmp_path / "out", tmp_path / "r.json"
    code, text, err = run(capsys, "convert", folder, out, "--verify", "--run", "--report", report)
    why = "not verified: y of the original changes from run to run: only types and shapes are compared"
    assert code == 1 and (out / "mixed.onnx").exists()
    assert f"{folder / 'mixed.onnx'}: warning: {why}; 1 Pad: 1 converted; wrote {out / 'mixed.onnx'}" in err
    assert text.splitlines()[-1] == "verification: 0 proved, 2 tested, 0 different, 1 unknown, 1 not verified"
    told = json.loads(report.read_text())
    assert told["verification"] == {"proved": 0, "tested": 2, "different": 0, "unknown": 1, "not verified": 1}
    assert [row["warning"] for row in told["files"] if row["exit"] == 5] == [why]
    real = TARGETS["padops"]

    def emit(replacement, found, constants, types) -> None:
        real(replacement, found, constants, types)
        found.node.replace_input_with(1, constants.add(np.array([0, 0, 1, 2]), found, "wrong"))

    monkeypatch.setitem(TARGETS, "padops", emit)
    for name in ("mixed.onnx", "broken.onnx", "deep/b.onnx"):
        (folder / name).unlink()
    code, text, err = run(capsys, "convert", folder, tmp_path / "other", "--verify", "--run")
    assert (code, err) == (4, f"{folder / 'a.onnx'}: error: 1 output differs; y: shape [5, 3] became [3, 5]\n")
    assert text.splitlines()[-1] == "verification: 0 proved, 0 tested, 1 different, 0 unknown, 0 not verified"


def test_verified_strictly(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mixed.onnx", "broken.onnx", "deep/b.onnx"):
        (folder / name).unlink()
    code, text, err = run(capsys, "convert", folder, tmp_path / "out", "--verify", "--strict")
    assert (code, err) == (0, "")
    assert text.splitlines()[-1] == "verification: 1 proved, 0 tested, 0 different, 0 unknown, 0 not verified"


def test_usage(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "convert", folder, folder / "a.onnx")
    assert (code, f"OUT is a file ({folder / 'a.onnx'}), but IN is a folder ({folder})" in err) == (2, True)
    code, _, err = run(capsys, "convert", folder, tmp_path / "o", "--verify", "--inputs", "x.npz")
    assert (code, "--inputs needs one model, but IN is a folder" in err) == (2, True)
    code, _, err = run(capsys, "convert", folder, tmp_path / "o", "--jobs", "0")
    assert (code, "argument --jobs: '0' is not a whole number of at least 1" in err) == (2, True)


@pytest.mark.parametrize("what", ["a source", "a link to one", "an output"])
def test_a_report_takes_the_place_of_no_model(
    what: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.onnx").write_bytes(b"of before")
    (tmp_path / "r.json").symlink_to(folder / "a.onnx")
    report = {"a source": folder / "a.onnx", "a link to one": tmp_path / "r.json", "an output": out / "a.onnx"}[what]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    target = [out] if what == "an output" else ["--in-place"]
    code, _, err = run(capsys, "convert", folder, *target, "--report", report)
    assert code == 2 and f"error: {report}: for a folder, --report must end with .json" in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_outputs_beside_and_inside_the_source(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Into the folder above, every model is converted; into one inside, those of a run before are left out."""
    (folder / "broken.onnx").unlink()
    for _ in range(2):
        code, out, _ = run(capsys, "convert", folder / "deep", folder)
        assert (code, out.splitlines()[-1]) == (0, "1 model, 0 failed; 1 Pad: 1 converted")
    for _ in range(2):
        code, out, _ = run(capsys, "convert", folder, folder / "out")
        assert (code, out.splitlines()[-1].split(",")[0]) == (0, "4 models")


def test_models_that_fail_leave_no_folders(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "out"
    (folder / "broken.onnx").rename(folder / "deep" / "b.onnx")
    assert run(capsys, "convert", folder, out)[0] == 1
    assert sorted(path.name for path in out.iterdir()) == ["a.onnx", "mixed.onnx"]
    (tmp_path / "old").mkdir()
    assert run(capsys, "convert", folder / "deep", tmp_path / "old" / "out")[0] == 1
    assert list((tmp_path / "old").iterdir()) == []


# Has the process that reads one of the models end, or wait, wherever it is started: Python runs this file first.
PLANTED = """
import os, sys, time
if "padops.cli.bulk" in sys.orig_argv:
    from padops.convert.model import document
    check = document.check_file
    def planted(path):
        if path.name in ("_dies.onnx", "zz_dies.onnx"):
            os._exit(9)
        if path.name == "_waits.onnx":
            time.sleep(600)
        check(path)
    document.check_file = planted
"""


@pytest.fixture
def planted(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sitecustomize.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "first"), prepend=os.pathsep)
    for name in ("broken.onnx", "deep/b.onnx"):
        (folder / name).unlink()
    return folder


def test_a_process_that_dies_takes_no_other_model_with_it(
    planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (planted / "_dies.onnx").write_bytes(one_pad(13).SerializeToString())
    code, out, err = run(capsys, "convert", planted, tmp_path / "out", "--jobs", "2")
    died = "the process that converted it has died (exit code 9)"
    assert (code, err) == (1, f"{planted / '_dies.onnx'}: error: {died}\n")
    assert out.splitlines()[-1].startswith("3 models, 1 failed; 3 Pads: ")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.onnx")) == ["a.onnx", "mixed.onnx"]


def test_a_model_that_was_done_before_a_process_died_is_not_converted_again(
    planted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its second conversion would say "already converted"."""
    (planted / "zz_dies.onnx").write_bytes(one_pad(13).SerializeToString())
    code, out, _ = run(capsys, "convert", planted, "--in-place", "--jobs", "2")
    assert (code, out.splitlines()[-1]) == (1, "3 models, 1 failed; 3 Pads: 2 converted, 1 unconverted")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_every_process(number: int, code: int, planted: Path, tmp_path: Path) -> None:
    (planted / "_waits.onnx").write_bytes(one_pad(13).SerializeToString())
    command = [sys.executable, "-um", "padops", "convert", planted, tmp_path / "out", "--jobs", "2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as running:
        try:
            for _ in range(2):  # models are converted
                assert "wrote" in running.stdout.readline()
            running.send_signal(number)
            _, err = running.communicate(timeout=PATIENCE)
            end = time.monotonic() + PATIENCE
            while (left := living(running.pid)) and time.monotonic() < end:
                time.sleep(0.02)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, left) == (code, [])
    assert err.splitlines()[-1] == "interrupted; 2 of 3 converted, none half-written"


def living(session: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, fields = path.read_text().rsplit(")", 1)
            if int(fields.split()[3]) == session and fields.split()[0] != "Z":
                found.append(name)
    return found
