"""What the command cannot print: the exit code says what was done, and there is no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import make_device, padops
from command_lines import save
from killed import contents
from small_models import one_pad

NOT_UTF8 = os.fsdecode(b"m\xe9\xff")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return save(tmp_path / "in.onnx", one_pad(13))


def test_a_name_that_is_not_utf8(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / NOT_UTF8
    folder.mkdir()
    source = source.rename(folder / f"{NOT_UTF8}.onnx")
    output, report = folder / f"{NOT_UTF8}.out", folder / f"{NOT_UTF8}.json"
    ended = padops("convert", source, "-o", output, "--report", report, env={**os.environ, "PYTHONUTF8": "1"})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Traceback" not in ended.stdout and ended.stdout.rstrip().endswith(" bytes)")
    assert contents(folder).keys() == {source.name, output.name, report.name}
    told = json.loads(report.read_text(encoding="utf-8"))
    assert (told["output"]["path"], told["source"]["files"][0]["name"]) == (str(output), str(source))
    ended = padops("convert", source, "--dry-run", "--verify", "--run", env={**os.environ, "PYTHONUTF8": "1"})
    assert (ended.returncode, "ONNX Runtime opens only files with a UTF-8 name" in ended.stderr) == (1, True)


def test_a_name_that_the_stream_cannot_encode(source: Path, tmp_path: Path) -> None:
    ended = padops("convert", source, "-o", tmp_path / "é.onnx", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (ended.returncode, ended.stderr) == (0, "") and "\\xe9.onnx (" in ended.stdout


@pytest.fixture
def full(tmp_path: Path) -> Iterator[int]:
    """Where nothing can be written: no room is left."""
    (tmp_path / "devices").mkdir()
    make_device(tmp_path / "devices" / "full")
    descriptor = os.open(tmp_path / "devices" / "full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


ROOM = "cannot write to standard output: No space left on device\n"


def test_a_full_disk(full: int, source: Path, tmp_path: Path) -> None:
    """The model is written, and so is the exit code of that; of a command that only prints, or a report, it is 1."""
    one, two, three = (tmp_path / f"{name}.onnx" for name in ("one", "two", "three"))
    for arguments, more, code, said in (
        (("convert", source, "-o", one), {}, 0, ROOM),
        (("describe",), {}, 1, ROOM),
        (("convert", source, "-o", two), {"stderr": full}, 0, None),
        (("convert", source, three, "--report", "-", "-q"), {}, 1,
         f"error: {three} has been written, but the report has not: {ROOM}"),
    ):  # fmt: skip
        ended = padops(*arguments, stdout=full, **more)
        assert (ended.returncode, ended.stderr) == (code, said)
    assert one.is_file() and two.is_file() and three.is_file()


def test_a_reader_that_has_gone(source: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = padops("convert", source, "-o", tmp_path / "out.onnx", stdout=writing)
    assert (ended.returncode, ended.stderr, (tmp_path / "out.onnx").is_file()) == (0, "", True)
    refused = save(tmp_path / "refused.onnx", one_pad(1))
    ended = padops("inspect", refused, "--check", "--json", stdout=writing)
    assert (ended.returncode, ended.stderr) == (3, "")
    os.close(writing)


def test_standard_output_that_is_closed(source: Path) -> None:
    command = [sys.executable, "-m", "padops", "convert", source, "-o", "-"]
    ended = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', *command], stderr=subprocess.PIPE, text=True, timeout=600)
    assert (ended.returncode, ended.stderr) == (1, "error: cannot use standard output: it is closed\n")
