"""What is written where: only regular files are replaced, nothing of others is touched, and names may be anything."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import make_device, mounted
from command_lines import run
from killed import contents
from small_models import convert, one_pad

from padops.bench.table import Measurement
from padops.convert import PadopsError, UsageError
from padops.files import staging


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    with mounted(tmp_path / "disk", "256k"):
        yield tmp_path / "disk"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.onnx"
    path.write_bytes(one_pad(13).SerializeToString())
    return path


def make_socket(path: Path) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # the path of a socket may have 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def link_to_fifo(path: Path) -> None:
    os.mkfifo(path.with_name("fifo"))
    path.symlink_to("fifo")


OBSTACLES: dict[str, tuple[Callable[[Path], None], str]] = {
    "FIFO": (os.mkfifo, "it is a FIFO, a socket or a device; only regular files are replaced"),
    "socket": (make_socket, "it is a FIFO, a socket or a device; only regular files are replaced"),
    "device": (make_device, "it is a FIFO, a socket or a device; only regular files are replaced"),
    "folder": (os.mkdir, "it is a folder; only regular files are replaced"),
    "link to a FIFO": (link_to_fifo, "it is a FIFO, a socket or a device; only regular files are replaced"),
    "link to a folder": (lambda path: path.symlink_to("."),
                         "it is a folder; only regular files are replaced"),
    "dangling link": (lambda path: path.symlink_to("gone/model"),
                      "it is a symbolic link to gone/model, which does not exist; only regular files are replaced"),
}  # fmt: skip


@pytest.mark.parametrize("option", ["output", "report"])
@pytest.mark.parametrize("kind", OBSTACLES)
def test_what_is_no_regular_file_stays(kind: str, option: str, source: Path, tmp_path: Path) -> None:
    make, text = OBSTACLES[kind]
    target = tmp_path / "target"
    make(target)
    before = os.lstat(target)
    with pytest.raises(PadopsError) as caught:
        convert(source, **{"output": tmp_path / "out.onnx", option: target})
    assert str(caught.value) == f"cannot write {target}: {text}"
    assert os.lstat(target)[:4] == before[:4]
    assert not (tmp_path / "out.onnx").exists()


def test_a_fifo_that_comes_while_the_model_is_made(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = staging.Staging.write

    def write(self: staging.Staging, *arguments: object) -> int:
        os.mkfifo(tmp_path / "out.onnx")
        return real(self, *arguments)

    monkeypatch.setattr(staging.Staging, "write", write)
    with pytest.raises(
        PadopsError, match=r"out\.onnx: it is a FIFO, a socket or a device; only regular files are replaced"
    ):
        convert(source, tmp_path / "out.onnx")
    assert stat.S_ISFIFO(os.lstat(tmp_path / "out.onnx").st_mode)


@pytest.mark.parametrize("kind", ["FIFO", "dangling link"])
def test_bench_replaces_regular_files_only(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = Measurement("w", "padops", 1, 8, 1.0, 0.1, 9)
    monkeypatch.setattr("padops.bench.timing.measure", lambda steps, threads, seconds, keep, progress: keep([row]))
    make, text = OBSTACLES[kind]
    make(tmp_path / "out")
    before = os.lstat(tmp_path / "out")
    assert run(capsys, "bench", "--json", "out") == (1, "", f"error: cannot write out: {text}\n")
    assert os.lstat(tmp_path / "out")[:4] == before[:4]
    assert run(capsys, "bench", "--json", "new")[0] == 0
    assert (tmp_path / "new").is_file()


def test_what_is_read_is_not_written_over(source: Path, tmp_path: Path) -> None:
    (tmp_path / "i.npz").write_bytes(b"")
    for option in ("output", "report"):
        with pytest.raises(UsageError) as caught:
            convert(source, **{option: tmp_path / "i.npz"}, inputs=tmp_path / "i.npz", verify=True, run=True)
        assert str(caught.value) == f"{tmp_path / 'i.npz'} holds the inputs; name another output"
    assert (tmp_path / "i.npz").read_bytes() == b""


def test_a_source_that_changes_meanwhile_is_not_replaced(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = staging.Staging.write

    def write(self: staging.Staging, *arguments: object) -> int:
        source.write_text("somebody's newer model")
        return real(self, *arguments)

    monkeypatch.setattr(staging.Staging, "write", write)
    with pytest.raises(PadopsError) as caught:
        convert(source, in_place=True)
    assert str(caught.value) == (
        f"cannot write {source}: it has changed while the model was being converted; try again; "
        f"nothing has been left behind"
    )
    assert contents(tmp_path) == {"in.onnx": b"somebody's newer model"}


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
    with pytest.raises(PadopsError) as caught:
        convert(source, out, report=report)
    assert str(caught.value) == f"{out} has been written, but the report {report} has not: Input/output error"
    assert contents(tmp_path).keys() == {"in.onnx", "out.onnx"}


# --- Folders that may not be searched --------------------------------------------------------------------------------

CLOSED = """
import os, sys, padops
from padops.convert import PadopsError
os.chdir(sys.argv[1])
padops.convert("in.onnx", verify=True, run=True)  # loads what it needs while it may
if os.geteuid() == 0:
    os.seteuid(65534)  # whom a closed folder keeps out, as it does not root
cases = {"output": {}, "report": {}, "inputs": {"verify": True}}
for option, others in cases.items():
    try:
        padops.convert("in.onnx", **{option: "closed/file.npz"}, **others)
    except PadopsError as error:
        print(error)
"""


def test_a_folder_that_may_not_be_searched() -> None:
    """Not under tmp_path, which is closed to all but its owner."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "in.onnx").write_bytes(one_pad(13).SerializeToString())
        (folder / "closed").mkdir()
        (folder / "closed").chmod(0)
        ended = subprocess.run([sys.executable, "-c", CLOSED, name], capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.splitlines() == [
            "cannot write closed/file.npz: Permission denied; nothing has been left behind",
            "cannot write closed/file.npz: Permission denied; nothing has been left behind",
            "the inputs in closed/file.npz cannot be read: [Errno 13] Permission denied: 'closed/file.npz'",
        ]
        (folder / "closed").chmod(0o700)
        assert contents(folder).keys() == {"closed", "in.onnx"}


# --- Names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["output", "report", "inputs"])
def test_a_name_that_is_too_long(option: str, source: Path, tmp_path: Path) -> None:
    path = tmp_path / ("m" * 300)
    with pytest.raises(PadopsError, match="File name too long"):
        convert(source, **{option: path}, verify=option == "inputs")
    assert contents(tmp_path).keys() == {"in.onnx"}


def test_data_beside_a_long_name(tmp_path: Path) -> None:
    from trials import make_source

    source = make_source(tmp_path / "in")
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.bin").touch()  # so that the data need another name
    convert(source, out / ("m" * 250 + ".onnx"), verify=True, run=True)
    assert contents(out).keys() == {"a.bin", "deep", "deep/b.bin", "m" * 249 + ".a.bin", "m" * 250 + ".onnx"}


# --- A file system that is full, or that nothing can be written to ----------------------------------------------------


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    from trials import make_source

    source = make_source(tmp_path / "in")
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(bytes(1 << 20))
    before, codes = contents(small_disk), set()
    for free in range(0, 10 << 12, 1 << 12):
        os.truncate(filler, filler.stat().st_size - (1 << 12) * (free > 0))
        before["filler"] = filler.read_bytes()
        try:
            convert(source, small_disk / "m.onnx", report=small_disk / "r.json")
        except PadopsError as error:
            codes.add(1)
            assert "No space left on device; nothing has been left behind" in str(error)
            assert contents(small_disk) == before
        else:
            codes.add(0)
            break
    assert codes == {0, 1}
    assert contents(small_disk).keys() == {"a.bin", "deep", "deep/b.bin", "filler", "m.onnx", "r.json"}


def test_a_disk_that_is_read_only(small_disk: Path, source: Path, tmp_path: Path) -> None:
    (small_disk / "m.onnx").write_bytes(source.read_bytes())
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for named, arguments in (
        ("m.onnx", {"source": small_disk / "m.onnx", "in_place": True}),
        ("n", {"source": source, "output": small_disk / "n"}),
    ):
        with pytest.raises(PadopsError) as caught:
            convert(**arguments)
        assert str(caught.value) == (
            f"cannot write {small_disk / named}: Read-only file system; nothing has been left behind"
        )  # fmt: skip
    assert contents(small_disk).keys() == {"m.onnx"}
