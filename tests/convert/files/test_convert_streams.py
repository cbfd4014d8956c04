"""``-`` for the model and the report, symbolic links as the output, and files that may not be written."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from command import padops as run_text
from external_data import refusal, save, write_floats
from killed import contents
from small_models import COMPLEX64, convert, external, one_pad

import padops
from padops import cli

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


def unconverted() -> bytes:
    inputs, outputs = [("x", COMPLEX64, [2, 3])], [("y", COMPLEX64, None)]
    return one_pad(13, inputs=inputs, outputs=outputs).SerializeToString()


def reported(report: str, content: bytes, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[int, object]:
    """The exit code of a conversion of standard input, and what its report says of the source."""
    with open("told", "w") as out, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        patch.setattr(sys, "stdout", out)
        code = cli.main(["convert", "-", *map(str, arguments), "--report", report])
    return code, json.loads(Path("told" if report == "-" else report).read_text())["source"]


@pytest.mark.parametrize("arguments", [["o.onnx"], ["--dry-run", "--strict"]])
def test_the_report_of_standard_input_is_the_same_in_a_file(
    arguments: list[str], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)
    content = unconverted() if "--strict" in arguments else source.read_bytes()
    told = reported("r.json", content, monkeypatch, *arguments)
    assert told == reported("-", content, monkeypatch, *arguments)
    [file] = told[1]["files"]
    assert told[0] == (3 if "--strict" in arguments else 0)
    assert (file["name"], file["bytes"]) == ("standard input", len(content))


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "told"),
    [
        (["-", "-o", "-", "--report", "-"], b"x", 2, "standard output can take the model or the report; name a file"),
        (["-", "--in-place"], b"MODEL", 2, "--in-place needs a file"),
        (["-", "-o", "o.onnx"], b"", 1, "standard input is empty: no model came through it"),
        (["-", "-o", "o.onnx"], b"no model", 1, "standard input: not an ONNX model: it cannot be parsed"),
        (["-", "-o", "o.onnx"], b"DATA", 1, "the model from standard input has external data (w.bin), and a stream"),
        (["data.onnx", "-o", "-"], b"", 1, "the model has external data (w.bin), which standard output cannot hold"),
    ],
    ids=["both", "in place", "empty", "no model", "data", "data out"],
)
def test_what_cannot_be(
    arguments: list[str], stdin: bytes, code: int, told: str, source: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(source.parent)
    with_data = save(source.parent, [external("w", "w.bin", 4)], "data.onnx")
    write_floats(source.parent / "w.bin", *range(4))
    content = {b"MODEL": source, b"DATA": with_data}[stdin].read_bytes() if stdin.isupper() else stdin
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert cli.main(["convert", *arguments]) == code
    said = capfd.readouterr()
    assert said.out == "" and said.err.startswith(f"error: {told}") and said.err.count("\n") == 1
    assert contents(source.parent).keys() == {"in.onnx", "data.onnx", "w.bin"}


def test_one_stream_is_no_two_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "-", "-"]) == 2
    said = capsys.readouterr()
    assert said.err == "error: standard input can bring one of the models; name a file for the other\n"


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
