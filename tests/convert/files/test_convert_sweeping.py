"""What a conversion clears away: its own staging folders, those of killed runs, and nothing else."""

from __future__ import annotations

import fcntl
import json
import os
import signal
from pathlib import Path

import pytest
from killed import contents
from small_models import convert, one_pad

from padops.convert import PadopsError
from padops.files.interrupts import uninterrupted
from padops.files.staging import write_whole


def test_only_what_is_left_of_padops_is_swept(tmp_path: Path) -> None:
    dead, live, other, linked = (tmp_path / f".padops-{name * 8}.part" for name in "adol")
    for folder in (dead, live, other):
        (folder / "files").mkdir(parents=True)
        (folder / "files" / "m.onnx").touch()
    (other / "notes.txt").touch()  # no such folder has that
    (tmp_path / "kept").mkdir()
    linked.symlink_to("kept")
    (tmp_path / ".m.onnx.abcdefgh.part").mkdir()
    lock = os.open(live, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    before = set(contents(tmp_path))
    write_whole(tmp_path / "new", ["1"])
    assert before - set(contents(tmp_path)) == {dead.name, f"{dead.name}/files", f"{dead.name}/files/m.onnx"}
    os.close(lock)
    write_whole(tmp_path / "new", ["2"])
    assert not live.exists() and other.exists() and linked.is_symlink()
    assert (tmp_path / "new").read_bytes() == b"2"


def test_what_has_taken_the_name_of_a_killed_process_stays(tmp_path: Path) -> None:
    """A data file that had been put into place is taken back, unless it is not that file any more."""
    left = tmp_path / ".padops-abcdefgh.part"
    (left / "files").mkdir(parents=True)
    (left / "files" / "m.onnx").touch()
    (tmp_path / "a.bin").write_text("put into place")
    (tmp_path / "b.bin").write_text("somebody's")
    own = os.stat(tmp_path / "a.bin")
    known = [own.st_dev, own.st_ino, own.st_size, own.st_mtime_ns]
    journal = {"new": {"a.bin": known, "b.bin": known}, "folders": [], "last": "m.onnx"}
    (left / "made.json").write_text(json.dumps(journal))
    write_whole(tmp_path / "new", ["1"])
    assert contents(tmp_path) == {"b.bin": b"somebody's", "new": b"1"}


def test_a_folder_that_is_kept_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from padops.files import hidden

    monkeypatch.setattr(hidden, "LOCK_SECONDS", 0.05)
    lock = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(PadopsError) as caught:
        convert(one_pad(13), tmp_path / "m.onnx")
    os.close(lock)
    assert str(caught.value) == (
        f"cannot write {tmp_path / 'm.onnx'}: another process has kept its folder locked for 0.05 s; nothing has been "
        "left behind"
    )
    assert contents(tmp_path) == {}


def test_signals_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with uninterrupted(), uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append(1)
    assert (done, signal.getsignal(signal.SIGINT)) == ([1], signal.default_int_handler)
