"""What is written where: only regular files are replaced, and what fails leaves nothing behind."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from threading import Event, Thread, current_thread
from typing import Any
from unittest.mock import Mock

import numpy as np
import onnx
import pytest
from command import make_device
from command_lines import Cli, run, save
from external_data import names, refusal, write_floats
from killed import contents
from small_models import convert, one_pad
from trials import make_source

from padops.bench.table import Measurement
from padops.convert import PadopsError
from padops.files import staging

LEFT = "nothing has been left behind"


SPECIAL = "it is a FIFO, a socket or a device; only regular files are replaced"
FOLDER = "it is a folder; only regular files are replaced"
DANGLING = "it is a symbolic link to gone/model, which does not exist; only regular files are replaced"
OBSTACLES: dict[str, tuple[Callable[[Path], object], str]] = {
    "FIFO": (os.mkfifo, SPECIAL), "device": (make_device, SPECIAL),
    "link to a FIFO": (lambda path: (os.mkfifo(path.with_name("fifo")), path.symlink_to("fifo")), SPECIAL),
    "folder": (os.mkdir, FOLDER), "link to a folder": (lambda path: path.symlink_to("."), FOLDER),
    "dangling link": (lambda path: path.symlink_to("gone/model"), DANGLING),
}  # fmt: skip


@pytest.mark.parametrize("kind", OBSTACLES)
def test_what_is_no_regular_file_stays(
    kind: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, text = OBSTACLES[kind]
    target = tmp_path / "target"
    make(target)
    before = os.lstat(target)
    for option in ("output", "report"):
        given = {"output": tmp_path / "out.onnx", option: target}
        assert refusal(source, **given) == f"cannot write {target}: {text}"
    row = Measurement("w", "padops", 1, 8, 1.0, 0.1, 9)
    monkeypatch.setattr("padops.bench.timing.measure", lambda steps, threads, seconds, keep, progress: keep([row]))
    assert run(capsys, "bench", "--json", target) == (1, "", f"error: cannot write {target}: {text}\n")
    assert os.lstat(target)[:4] == before[:4]
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize(("change", "said"), [
    (os.mkfifo, SPECIAL),
    (lambda path: path.write_text("newer"), "it has changed while the model was being converted; try again"),
])  # fmt: skip
def test_a_target_that_changes_meanwhile_is_not_replaced(
    change: Callable[[Path], object], said: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = staging.Staging.write

    def write(self: staging.Staging, *arguments: object) -> int:
        source.unlink()
        change(source)
        return real(self, *arguments)

    monkeypatch.setattr(staging.Staging, "write", write)
    assert refusal(source, in_place=True) == f"cannot write {source}: {said}; {LEFT}"
    assert not source.is_file() or source.read_text() == "newer"
    assert [path.name for path in source.parent.iterdir()] == ["in.onnx"]


def test_what_is_read_is_not_written_over(source: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "i.npz"
    inputs.touch()
    for option in ("output", "report"):
        said = refusal(source, **{option: inputs}, inputs=inputs, verify=True, run=True)
        assert said == f"{inputs} holds the inputs; name another output"
    assert inputs.read_bytes() == b""


def test_a_report_that_fails_last_says_that_the_model_is_there(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def replace(one: Path, other: Path) -> None:
        if other.name == "r.json":
            raise OSError(5, "Input/output error")
        real(one, other)

    monkeypatch.setattr(staging.os, "replace", replace)
    out, report = tmp_path / "out.onnx", tmp_path / "r.json"
    said = refusal(source, out, report=report)
    assert said == f"{out} has been written, but the report {report} has not: Input/output error"
    assert contents(tmp_path).keys() == {"in.onnx", "out.onnx"}


def test_long_names(source: Path, tmp_path: Path, out: Path) -> None:
    """Too long for a file; and so long that the name of a data file beside it is cut."""
    for option in ("output", "report", "inputs"):
        said = refusal(source, **{option: tmp_path / ("m" * 300)}, verify=option == "inputs")
        assert "File name too long" in said
    assert contents(tmp_path).keys() == {"in.onnx", "out"}
    (out / "a.bin").touch()  # so that the data need another name
    convert(make_source(tmp_path / "in"), out / ("m" * 250 + ".onnx"), verify=True, run=True)
    assert contents(out).keys() == {"a.bin", "deep", "deep/b.bin", "m" * 249 + ".a.bin", "m" * 250 + ".onnx"}


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
# Each of three files is brought to the disk; the data are linked to where nothing is, the model replaces another.
CALLS = [("fsync", 3), ("link", 1), ("link", 2), ("replace", 1)]
FAILURES = [(*call, fail) for call, fail in product(CALLS, (FULL, KeyboardInterrupt()))]


@pytest.mark.parametrize(("where", "count", "error"), FAILURES, ids=str)
def test_a_failure_in_the_middle(
    where: str, count: int, error: BaseException, two_files: Path, tmp_path: Path, monkeypatch: Any, out: Path
) -> None:
    (out / "m.onnx").write_text("what was there")
    before = names(tmp_path)
    real, calls = getattr(os, where), iter(range(1, 100))

    def fail(*arguments: Any, **named: Any) -> Any:
        if next(calls) == count:
            raise error
        return real(*arguments, **named)

    monkeypatch.setattr(staging.os, where, fail)
    with pytest.raises(PadopsError if error is FULL else KeyboardInterrupt) as caught:
        convert(two_files, out / "m.onnx", report=tmp_path / "report.json")
    if error is FULL:
        assert str(caught.value) == f"cannot write {out / 'm.onnx'}: No space left on device; {LEFT}"
    monkeypatch.undo()
    assert names(tmp_path) == before
    assert (out / "m.onnx").read_text() == "what was there"


@pytest.mark.parametrize(("arguments", "named"), [
    ("convert m.onnx out.onnx", "out.onnx"),
    ("convert . --in-place", "m.onnx"),
    ("convert m.onnx --dry-run --report r.json", "r.json"),
    ("run m.onnx --inputs x.npz --outputs y.npz", "y.npz"),
])  # fmt: skip
def test_a_folder_that_takes_no_file(
    arguments: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """The message names the file, not its folder, and the disk: it was "cannot write .:"."""
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "m.onnx", one_pad(13))
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 3), np.float32))
    refused = OSError(errno.EROFS, "Read-only file system", "./.padops-a1b2c3d4.part")
    monkeypatch.setattr(staging.tempfile, "mkdtemp", Mock(side_effect=refused))
    monkeypatch.setattr(staging.os, "statvfs", lambda path: Mock(f_flag=os.ST_RDONLY))
    monkeypatch.setattr(staging.os, "access", lambda *given: False)
    code, _, err = cli(*arguments.split())
    assert code == 1 and f"error: cannot write {named}: Read-only file system" in err


def test_only_what_replaces_a_file_waits_for_the_disk(
    two_files: Path, monkeypatch: pytest.MonkeyPatch, out: Path
) -> None:
    """Of a new model nothing is lost with the power: its source is still there."""
    waited: list[int] = []
    monkeypatch.setattr(staging.os, "fsync", waited.append)
    convert(two_files, out / "m.onnx")
    assert waited == []
    written = names(out)
    convert(two_files, out / "m.onnx")
    assert (len(waited), names(out)) == (1, written)  # the model; its data are there already


def test_a_failure_leaves_the_data_of_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes write the same files; the second one is done when the last rename of the first one fails."""
    real = os.replace
    with staging.staging(tmp_path) as first, staging.staging(tmp_path) as second:
        for stage in (first, second):
            stage.write("model.data", [b"weights"])
            stage.write("model.onnx", [b"model"])

        def fail(*_: object) -> None:
            monkeypatch.setattr(os, "replace", real)
            second.commit()
            raise FULL

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="No space left"):
            first.commit()
    assert names(tmp_path) == ["model.data", "model.onnx"]
    assert (tmp_path / "model.data").read_bytes() == b"weights"


def test_a_conversion_waits_for_another_into_its_folder(
    two_files: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two models share a data file: without the lock, the first one removes the file that the second one relies on."""
    other = tmp_path / "other" / two_files.name
    shutil.copytree(two_files.parent, other.parent)
    write_floats(other.parent / "deep" / "b.bin", 9, 9, 9, 9)
    put, rename, lock = staging._put, os.replace, staging.fcntl.flock
    met, ended = Event(), Event()
    second = Thread(target=lambda: write(other))

    def write(model: Path) -> None:
        with contextlib.suppress(PadopsError):  # the names of the data files are taken
            convert(model, out / "m.onnx")

    def is_second() -> bool:
        return current_thread() is second

    def put_and_meet(staged: Path, target: Path) -> list[Path]:
        made = put(staged, target)
        if is_second() and target.name == "b.bin":
            met.set()
        elif not is_second() and target.name == "a.bin":
            second.start()
            assert met.wait(20)
        return made

    def lock_or_meet(*given: int) -> None:
        try:
            lock(*given)
        except BlockingIOError:
            met.set()
            raise

    monkeypatch.setattr(staging, "_put", put_and_meet)
    monkeypatch.setattr(staging.fcntl, "flock", lock_or_meet)
    monkeypatch.setattr(os, "replace", lambda *given: (is_second() and ended.wait(20), rename(*given)))
    write(two_files)
    ended.set()
    second.join(60)
    assert not second.is_alive()
    values = [tensor.raw_data for tensor in onnx.load(out / "m.onnx").graph.initializer]
    assert values == [tensor.raw_data for tensor in onnx.load(two_files).graph.initializer]


def test_a_lock_of_another_program_does_not_stop_a_conversion(
    two_files: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does a process that a conversion has forked: it has the descriptor that was locked."""
    monkeypatch.setattr(staging.time, "sleep", lambda seconds: pytest.fail("a conversion waits"))
    real, kept = os.open, []

    def keep(path: Any, *given: int, **named: int) -> int:
        descriptor = real(path, *given, **named)
        if path == out:
            kept.append(os.dup(descriptor))
        return descriptor

    monkeypatch.setattr(os, "open", keep)
    convert(two_files, out / "1.onnx")
    monkeypatch.setattr(os, "open", real)
    convert(two_files, out / "2.onnx")
    monkeypatch.setattr(staging, "PATIENCE", 0)
    staging.fcntl.flock(kept[0], staging.fcntl.LOCK_EX)
    convert(two_files, out / "3.onnx")
    for descriptor in kept:
        os.close(descriptor)
    assert {"1.onnx", "2.onnx", "3.onnx"} <= set(names(out))
