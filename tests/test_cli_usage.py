"""How the command line takes its arguments, and what it says of those that it does not know."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import command
import onnx
import pytest
from command_lines import run
from small_models import one_pad

import padops
from padops import cli
from padops.runtime.provider_rules import KNOWN_PROVIDERS


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.onnx"
    path.write_bytes(one_pad(13).SerializeToString())
    return path


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"padops {padops.__version__}\n", "")


def test_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words, option in ((("help", "convert"), ("convert", "--help")), (("help",), ("--help",))):
        texts = []
        for arguments in (words, option):
            with pytest.raises(SystemExit) as ending:
                cli.main(arguments)
            assert ending.value.code == 0
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1] != ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, script, err = run(capsys, "completion", shell)
    assert (code, err) == (0, "") and {"inspect", "convert", "in-place"} <= set(re.findall(r"\b[\w-]+", script))
    if shell == "bash":
        (tmp_path / "model.onnx").touch()
        asks = "source ./script; for words in 'padops conv' 'padops inspect mod'; do COMP_WORDS=($words)\n"
        asks += "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _shtab_padops; echo ${COMPREPLY[@]}; done"
        (tmp_path / "script").write_text(script, encoding="utf-8")
        done = subprocess.run(["bash", "-c", asks], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.split() == ["convert", "model.onnx"]


@pytest.mark.parametrize("place", [("{out}",), ("-o", "{out}"), ("--verify", "{out}"), ("{out}", "--verify")])
def test_the_output_may_stand_anywhere(
    place: tuple[str, ...], source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.onnx"
    arguments = [word.format(out=out) for word in place]
    assert run(capsys, "convert", source, *arguments, "--no-fallback", "-q") == (0, "", "")
    assert onnx.load(out).graph.node[0].domain == "padops"


# Arguments that are refused, and how what is said ends. {source} is a model, and all else is not there.
MISTAKES = {
    "convert": "the following arguments are required: IN",
    "convert m.onnx": "name OUT, or use --in-place or --dry-run",
    "convert m.onnx -o n --in-place": "--in-place excludes OUT and -o/--output",
    "convert m.onnx n --in-place": "--in-place excludes OUT and -o/--output",
    "convert m.onnx new/": "new/ names a folder, but IN is one model: name the file to write",
    "convert m.onnx n -o o": "OUT and -o/--output name two outputs: n, o",
    "convert a b --seed x": "argument --seed: invalid int value: 'x'",
    "convert a b --xyzzy": "padops convert: error: unrecognized arguments: --xyzzy",
    "convert --taget=onnx a b": "unrecognized arguments: --taget=onnx",
    "verify a b --sed 1": "unrecognized arguments: --sed 1",
    "verify {source} {source} --seed -1": "error: seed is -1, expected 0 or more",
    "bench --jsno a": "unrecognized arguments: --jsno a",
    "inspect a --strict": "unrecognized arguments: --strict",
    "conformance --foo": "unrecognized arguments: --foo",
    "inspect ''": "argument MODEL is empty",
    "inspect a ''": "argument MODEL is empty",
    "inspect - a -": "- is named twice, but standard input has one model",
    "inspect {source} --allow wrong": "--allow needs --check",
    "inspect {source} --json --format sarif": "argument --format: not allowed with argument --json",
    "convert a b --report ''": "argument --report is empty",
    "run a --inputs=": "argument --inputs is empty",
    "conformance show ''": "argument FILE is empty",
    "conformance --quick show a": "a command takes no options of a run; its own options come after its name",
    "convert a b --target onnx --no-fallback": "--no-fallback needs --target padops",
    "inspect {source} --rules r.json": "error: --rules needs --providers",
    "run {source} --rules r.json": "error: --rules needs --providers",
    "convert a b --jobs 2": "--jobs needs a folder, but IN is one model",
    **{
        f"{words} --providers '{text}'": f"padops {words.split()[0]}: error: argument --providers: {text!r} "
        "has no name, expected names with commas between them"
        for words, text in (("run m", ","), ("inspect m", ""), ("verify m m", " , "), ("inspect m", ","))
    },
    # padops.convert, which has these, too, says the same of its arguments.
    **{
        f"convert {{source}} --dry-run {words}": f"error: {said}"
        for words, said in {
            "--without-pad": "--without-pad needs --target onnx",
            "--target onnx --without-pad --select needed": "--without-pad needs --select all",
            "--inputs x.npz": "--inputs needs --verify",
            "--run": "--run needs --verify",
            "--seed 3": "--seed needs --verify",
            "--rtol 0": "--rtol needs --verify",
            "--atol 0.1": "--atol needs --verify",
            "--for cupid --target onnx": "padops has no rules for provider 'cupid', only for "
            + ", ".join(row.name for row in KNOWN_PROVIDERS),
            "--for cuda": "--for needs --target onnx",
            "--for cuda --target onnx --select needed": "--for needs --select all",
            "--for cuda --target onnx --without-pad": "--for and --without-pad exclude each other: "
            "CUDAExecutionProvider runs some Pads, which stay",
            "--report {source}": "{source} is a model; name another --report",
            "-o {source}": "{source} is the source itself; to replace it, use --in-place",
        }.items()
    },
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake(arguments: str, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *shlex.split(arguments.replace("{source}", str(source))))
    assert (code, out, [*source.parent.iterdir()]) == (2, "", [source])
    assert err.endswith(MISTAKES[arguments].replace("{source}", str(source)) + "\n")
    assert re.fullmatch(r"(padops[ \w]* --help shows the usage\n)?[^\n]+\n", err)


def test_an_empty_name_of_a_model() -> None:
    for function in (padops.inspect, padops.convert):
        with pytest.raises(padops.UsageError, match="the name of the model is empty"):
            function("")


def test_a_pipe_gets_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines to a pipe are not wrapped, whatever COLUMNS says: grep finds the path, its count and the whole reason."""
    path = tmp_path / f"{'long_' * 30}m.onnx"
    path.write_bytes(one_pad(1).SerializeToString())
    monkeypatch.setenv("COLUMNS", "40")
    found = command.padops("inspect", path).stdout.splitlines()
    (pad,) = padops.inspect(path).pads
    assert found[0].startswith(f"{path}: 1 Pad: 1 refused (")
    assert f"  Pad (opset 1): {pad.what()}" in found and f"  {pad.why}" in found


def test_padops_alone_prints_help() -> None:
    ended = command.padops()
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("usage: padops ") and "inspect" in ended.stderr


def test_inspect_knows_the_processor_by_its_short_name(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "inspect", "--providers", "cuda,cpu", source)
    assert (code, err) == (0, "") and "no rules" not in out
    assert out == run(capsys, "inspect", "--providers", "CUDAExecutionProvider,CPUExecutionProvider", source)[1]
