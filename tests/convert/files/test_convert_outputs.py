"""What is written where: only regular files are replaced, nothing of others is touched, and names may be anything."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import make_device, mounted
from command_lines import run
from external_data import refusal
from killed import contents
from small_models import convert, one_pad
from trials import make_source

from padops.bench.table import Measurement
from padops.convert import PadopsError
from padops.files import staging

LEFT = "nothing has been left behind"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    with mounted(tmp_path / "disk", "256k"):
        yield tmp_path / "disk"


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


SPECIAL = "it is a FIFO, a socket or a device; only regular files are replaced"
FOLDER = "it is a folder; only regular files are replaced"
DANGLING = "it is a symbolic link to gone/model, which does not exist; only regular files are replaced"
OBSTACLES: dict[str, tuple[Callable[[Path], object], str]] = {
    "FIFO": (os.mkfifo, SPECIAL), "socket": (make_socket, SPECIAL), "device": (make_device, SPECIAL),
    "link to a FIFO": (link_to_fifo, SPECIAL), "folder": (os.mkdir, FOLDER),
    "link to a folder": (lambda path: path.symlink_to("."), FOLDER),
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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (os.mkfifo, SPECIAL),
        (lambda path: path.write_text("newer"), "it has changed while the model was being converted; try again"),
    ],
)
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
    inputs.write_bytes(b"")
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


CLOSED = """
import os, sys, padops
from padops.convert import PadopsError
os.chdir(sys.argv[1])
padops.convert("in.onnx", verify=True, run=True)  # loads what it needs while it may
if os.geteuid() == 0:
    os.seteuid(65534)  # whom a closed folder keeps out, as it does not root
for options in ({"output": "closed/file.npz"}, {"inputs": "closed/file.npz", "verify": True}):
    try:
        padops.convert("in.onnx", **options)
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
        (folder / "closed").chmod(0o700)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.splitlines() == [
            f"cannot write closed/file.npz: Permission denied; {LEFT}",
            "the inputs in closed/file.npz cannot be read: [Errno 13] Permission denied: 'closed/file.npz'",
        ]
        assert contents(folder).keys() == {"closed", "in.onnx"}


def test_long_names(source: Path, tmp_path: Path) -> None:
    """Too long for a file; and so long that the name of a data file beside it is cut."""
    for option in ("output", "report", "inputs"):
        said = refusal(source, **{option: tmp_path / ("m" * 300)}, verify=option == "inputs")
        assert "File name too long" in said
    assert contents(tmp_path).keys() == {"in.onnx"}
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.bin").touch()  # so that the data need another name
    convert(make_source(tmp_path / "in"), out / ("m" * 250 + ".onnx"), verify=True, run=True)
    assert contents(out).keys() == {"a.bin", "deep", "deep/b.bin", "m" * 249 + ".a.bin", "m" * 250 + ".onnx"}


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    source = make_source(tmp_path / "in")
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(bytes(1 << 20))
    before, failed = contents(small_disk), 0
    for free in range(0, 10 << 12, 1 << 12):
        os.truncate(filler, filler.stat().st_size - (1 << 12) * (free > 0))
        before["filler"] = filler.read_bytes()
        try:
            convert(source, small_disk / "m.onnx", report=small_disk / "r.json")
            break
        except PadopsError as error:
            failed += 1
            assert f"No space left on device; {LEFT}" in str(error)
            assert contents(small_disk) == before
    assert failed and contents(small_disk).keys() == {"a.bin", "deep", "deep/b.bin", "filler", "m.onnx", "r.json"}


def test_a_disk_that_is_read_only(small_disk: Path, source: Path) -> None:
    there = small_disk / "m.onnx"
    there.write_bytes(source.read_bytes())
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for target, arguments in ((there, (there, None, True)), (small_disk / "n", (source, small_disk / "n", False))):
        said = refusal(*arguments[:2], in_place=arguments[2])
        assert said == f"cannot write {target}: Read-only file system; {LEFT}"
    assert contents(small_disk).keys() == {"m.onnx"}
