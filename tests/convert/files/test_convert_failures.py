"""A conversion that fails in the middle: nothing half-written stays."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_lines import run
from external_data import names
from small_models import convert, one_pad

from padops.convert import PadopsError
from padops.files import staging


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def on_call(count: int, real: Callable[..., Any], fail: Callable[..., Any]) -> Callable[..., Any]:
    """``real``, but ``fail`` at one of its calls."""
    calls = iter(range(1, 100))
    return lambda *args, **named: (fail if next(calls) == count else real)(*args, **named)


# Each of three files is brought to the disk; the data are linked to where nothing is, the model replaces another.
CALLS = [("fsync", 3), ("link", 1), ("link", 2), ("replace", 1)]
FAILURES = [(*call, fail) for call, fail in product(CALLS, (full_disk, interrupted))]


@pytest.mark.parametrize(("where", "count", "fail"), FAILURES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_failure_in_the_middle(where: str, count: int, fail: Callable[..., Any], two_files: Path, tmp_path: Path,
                                 monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    out = tmp_path / "out"
    out.mkdir()
    (out / "m.onnx").write_text("what was there")
    before = names(tmp_path)
    monkeypatch.setattr(staging.os, where, on_call(count, getattr(os, where), fail))
    with pytest.raises(PadopsError if fail is full_disk else KeyboardInterrupt) as caught:
        convert(two_files, out / "m.onnx", report=tmp_path / "report.json")
    if fail is full_disk:
        assert str(caught.value) == (
            f"cannot write {out / 'm.onnx'}: No space left on device; nothing has been left behind"
        )
    monkeypatch.undo()
    assert names(tmp_path) == before
    assert (out / "m.onnx").read_text() == "what was there"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("convert", "m.onnx", "out.onnx"), "out.onnx"),
        (("convert", ".", "--in-place"), "m.onnx"),
        (("convert", "m.onnx", "--dry-run", "--report", "r.json"), "r.json"),
        (("run", "m.onnx", "--inputs", "x.npz", "--outputs", "y.npz"), "y.npz"),
    ],
)
def test_a_folder_that_takes_no_file(
    arguments: tuple[str, ...], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """The message names the file, not its folder: it was "cannot write .:"."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.onnx").write_bytes(one_pad(13).SerializeToString())
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 3), np.float32))

    def refused(**given: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "./.padops-a1b2c3d4.part")

    monkeypatch.setattr(staging.tempfile, "mkdtemp", refused)
    code, _, err = run(capsys, *arguments)
    assert code == 1 and f"error: cannot write {named}: Read-only file system" in err


def test_only_what_replaces_a_file_waits_for_the_disk(
    two_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a new model nothing is lost with the power: its source is still there."""
    waited: list[int] = []
    monkeypatch.setattr(staging.os, "fsync", waited.append)
    out = tmp_path / "out"
    out.mkdir()
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
            full_disk()

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="No space left"):
            first.commit()
    assert names(tmp_path) == ["model.data", "model.onnx"]
    assert (tmp_path / "model.data").read_bytes() == b"weights"
