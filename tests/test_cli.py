"""The command line: what it prints, what it exits with, and that it leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import command
import numpy as np
import onnx
import onnxruntime
import pad_chains
import parsed_models
import pytest
from command_lines import MODELS, Cli, columns, give, save
from onnx import helper, parser
from small_models import COMPLEX64, FLOAT, external, model, one_pad, pad, same_but_for_the_pads, tensor
from terminals import AtTerminal

import padops
from padops import __main__ as command_of_padops
from padops import terminal
from padops.convert import records
from padops.runtime.provider_rules import KNOWN_PROVIDERS
from padops.terminal import shown

# --- padops convert ---------------------------------------------------------------------------------------------------


def test_convert(cli: Cli, here: Path) -> None:
    code, out, err = cli("convert", MODELS / "nested.onnx", "-o", "out.onnx", "--verify", "--run", "--no-fallback")
    assert (code, err) == (0, "")
    assert [line for line in columns(out) if "padops::Pad_19" in line] == [
        ["graph/if.else_branch/else_out_pad", "padops::Pad_19"],
        ["graph/if.then_branch/then_out_pad", "padops::Pad_19"],
        ["graph/loop.body/grown_pad", "padops::Pad_19"],
        ["function sample::Frame/framed_pad", "padops::Pad_19"],
    ]
    assert out.splitlines()[1:3] == [
        "  Pad (opset 20): reflect, float [2, 3] \N{RIGHTWARDS ARROW} [4, 5], axis 0: 1 before, 1 after, "
        "axis 1: 2 before, 0 after",
        "  the original: runs: ONNX Runtime runs it",
    ]
    assert "the outputs are bit-equal" in out
    size = (here / "out.onnx").stat().st_size
    assert out.splitlines()[-1] == f"4 Pads: 4 converted; wrote out.onnx ({size:,} bytes)"
    assert same_but_for_the_pads(onnx.load(MODELS / "nested.onnx"), onnx.load("out.onnx"))


def test_the_report(cli: Cli, here: Path) -> None:
    source = MODELS / "pad_18.onnx"
    options = ("--verify", "--run", "--seed", 7, "--report", "r.json", "-q")
    assert cli("convert", source, "-o", "out.onnx", *options) == (0, "", "")
    told = json.loads(Path("r.json").read_text())
    conversion = padops.convert(source, "again.onnx", verify=True, run=True, seed=7)
    assert told == json.loads(json.dumps(conversion.to_json()).replace("again.onnx", "out.onnx"))
    assert told["schema"] == records.SCHEMA
    assert told["versions"]["onnx"] == onnx.__version__
    assert told["versions"]["padops"] == padops.__version__ == version("padops")
    assert told["counts"] == {"converted": 2, "already converted": 0, "folded": 0, "not needed": 0, "unconverted": 0}
    assert (told["source"]["opsets"], told["source"]["files"][0]["bytes"]) == ({"": 18}, source.stat().st_size)
    assert told["output"]["path"] == told["output"]["files"][0]["name"] == "out.onnx"
    assert told["pads"][0] == {
        "path": "graph/chosen_pad", "name": "chosen_pad", "form": "Pad-18 inputs", "status": "converted",
        "op_type": "Pad_18", "reason": None, "notes": [], "corrects": None, "into": [],
        "operator": "Pad", "opset": 18, "mode": "constant", "type": "float", "input_shape": [2, 3, 4],
        "output_shape": [3, 3, 7], "amounts": [[0, 1], [0, 0], [1, 2]], "fill": "-inf", "verdict": "runs",
        "why": "ONNX Runtime runs it",
    }  # fmt: skip
    assert told["verification"]["outcome"] == "equal"
    assert [output["name"] for output in told["verification"]["outputs"]] == ["chosen", "asked"]


def test_in_place_twice(cli: Cli, here: Path) -> None:
    source = save(here / "m.onnx", one_pad(13))
    assert cli("convert", "m.onnx", "--in-place")[0] == 0
    content = source.read_bytes()
    code, out, _ = cli("convert", "m.onnx", "--in-place")
    assert (code, source.read_bytes()) == (0, content)
    assert columns(out)[0] == ["graph/p", "padops::Pad_13 already"]
    assert "the original: runs: ONNX Runtime runs the function that the model has for it" in out
    assert out.splitlines()[-1] == "1 Pad: 1 already converted; nothing was written"


def test_a_model_without_a_pad(cli: Cli, here: Path) -> None:
    content = save(here / "in.onnx", model([helper.make_node("Identity", ["x"], ["y"])])).read_bytes()
    last = f"0 Pads: 0 converted; wrote out.onnx ({len(content):,} bytes)\n"
    assert cli("convert", "in.onnx", "out.onnx")[:2] == (0, f"the model has no Pad\n{last}")
    assert Path("out.onnx").read_bytes() == content


def test_strict(cli: Cli, here: Path) -> None:
    nodes = [pad(), pad(["c", "pads"], "z", name="complex [0]")]
    inputs, outputs = [("x", FLOAT, [2, 3]), ("c", COMPLEX64, [2, 3])], [("y", FLOAT, None), ("z", COMPLEX64, None)]
    save(here / "m.onnx", model(nodes, 13, inputs=inputs, outputs=outputs, tensors=[tensor("pads", [0, 0, 0, 1])]))
    arguments = ("convert", "m.onnx", "out.onnx", "--report", "r.json")
    code, out, err = cli(*arguments, "--strict")
    why = "its data are complex64, and ONNX Runtime has no complex tensors"
    text = f"error: 1 of 2 Pads stays unconverted: graph/complex [0] (Pad-13 inputs): {why}\n"
    assert (code, err) == (3, text)
    assert cli(*arguments, "--strict", "-q") == (3, "", text)
    at = columns(out).index(["graph/complex [0]", "unconverted"])
    assert columns(out)[at + 2] == [why]
    assert not Path("out.onnx").exists()
    assert json.loads(Path("r.json").read_text())["counts"]["unconverted"] == 1
    code, out, err = cli(*arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("2 Pads: 1 converted, 1 unconverted; wrote ")


@pytest.mark.parametrize("place", ["out.onnx", "-o out.onnx", "--verify out.onnx", "out.onnx --verify"])
def test_the_output_may_stand_anywhere(place: str, cli: Cli, here: Path) -> None:
    save(here / "in.onnx", one_pad(13))
    assert cli("convert", "in.onnx", *place.split(), "--no-fallback", "-q") == (0, "", "")
    assert onnx.load("out.onnx").graph.node[0].domain == "padops"


# --- arguments --------------------------------------------------------------------------------------------------------


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version") == (0, f"padops {padops.__version__}\n", "")
    for words, option in ((("help", "convert"), ("convert", "--help")), (("help",), ("--help",))):
        assert cli(*words) == cli(*option)
        assert cli(*words)[0] == 0 and cli(*words)[1]
    ended = command.padops()
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("usage: padops ") and "inspect" in ended.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, tmp_path: Path, cli: Cli) -> None:
    code, script, err = cli("completion", shell)
    assert (code, err) == (0, "") and {"inspect", "convert", "in-place"} <= set(re.findall(r"\b[\w-]+", script))
    if shell == "bash":
        (tmp_path / "model.onnx").touch()
        asks = "source ./script; for words in 'padops conv' 'padops inspect mod'; do COMP_WORDS=($words)\n"
        asks += "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _shtab_padops; echo ${COMPREPLY[@]}; done"
        (tmp_path / "script").write_text(script, encoding="utf-8")
        done = subprocess.run(["bash", "-c", asks], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.split() == ["convert", "model.onnx"]


NAMELESS = "contains no name, expected names with commas between them"
# Arguments that are refused, and how the error ends. in.onnx is a model, and all else is not there.
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
    "verify in.onnx in.onnx --seed -1": "error: seed is -1, expected 0 or more",
    "bench --jsno a": "unrecognized arguments: --jsno a",
    "inspect a --strict": "unrecognized arguments: --strict",
    "conformance --foo": "unrecognized arguments: --foo",
    "inspect ''": "argument MODEL is empty",
    "inspect a ''": "argument MODEL is empty",
    "inspect - a -": "- is named twice, but standard input has one model",
    "inspect in.onnx --allow wrong": "--allow needs --check",
    "inspect in.onnx --json --format sarif": "argument --format: not allowed with argument --json",
    "convert a b --report ''": "argument --report is empty",
    "run a --inputs=": "argument --inputs is empty",
    "conformance show ''": "argument FILE is empty",
    "conformance --quick show a": "no command takes options of a run; put a command's own options after the command",
    "convert a b --target onnx --no-fallback": "--no-fallback needs --target padops",
    "inspect in.onnx --rules r.json": "error: --rules needs --providers",
    "run in.onnx --rules r.json": "error: --rules needs --providers",
    "convert a b --jobs 2": "--jobs needs a folder, but IN is one model",
    "run m --providers ','": f"padops run: error: argument --providers: ',' {NAMELESS}",
    "inspect m --providers ''": f"padops inspect: error: argument --providers: '' {NAMELESS}",
    "verify m m --providers ' , '": f"padops verify: error: argument --providers: ' , ' {NAMELESS}",
    # padops.convert, which has these, too, says the same of its arguments.
    "convert in.onnx --dry-run --without-pad": "error: --without-pad needs --target onnx",
    "convert in.onnx --dry-run --target onnx --without-pad --select needed": "error: --without-pad needs --select all",
    "convert in.onnx --dry-run --inputs x.npz": "error: --inputs needs --verify",
    "convert in.onnx --dry-run --run": "error: --run needs --verify",
    "convert in.onnx --dry-run --seed 3": "error: --seed needs --verify",
    "convert in.onnx --dry-run --rtol 0": "error: --rtol needs --verify",
    "convert in.onnx --dry-run --atol 0.1": "error: --atol needs --verify",
    "convert in.onnx --dry-run --for cupid --target onnx": "error: padops has no rules for provider 'cupid', only for "
    + ", ".join(row.name for row in KNOWN_PROVIDERS),
    "convert in.onnx --dry-run --for cuda": "error: --for needs --target onnx",
    "convert in.onnx --dry-run --for cuda --target onnx --select needed": "error: --for needs --select all",
    "convert in.onnx --dry-run --for cuda --target onnx --without-pad": "error: --for and --without-pad exclude each "
    "other: CUDAExecutionProvider runs some Pads, which stay",
    "convert in.onnx --dry-run --report in.onnx": "error: in.onnx is a model; name another --report",
    "convert in.onnx --dry-run -o in.onnx": "error: in.onnx is the source itself; to replace it, use --in-place",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake(arguments: str, cli: Cli, here: Path) -> None:
    source = save(here / "in.onnx", one_pad(13))
    code, out, err = cli(*shlex.split(arguments))
    assert (code, out, [*here.iterdir()]) == (2, "", [source])
    assert err.endswith(MISTAKES[arguments] + "\n")
    assert re.fullmatch(r"(padops[ \w]* --help shows the usage\n)?[^\n]+\n", err)


def test_an_interruption_while_modules_load(cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    class Loading:
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "padops.cli", Loading())  # type: ignore[arg-type]
    assert command_of_padops.main() == 130 and capsys.readouterr().err == "interrupted\n"


def test_a_pipe_gets_whole_lines(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines to a pipe are not wrapped, whatever COLUMNS says: grep finds the path, its count and the whole reason."""
    path = save(here / f"{'long_' * 30}m.onnx", one_pad(1))
    monkeypatch.setenv("COLUMNS", "40")
    found = command.padops("inspect", path).stdout.splitlines()
    (row,) = padops.inspect(path).pads
    assert found[0].startswith(f"{path}: 1 Pad: 1 refused (")
    assert f"  Pad (opset 1): {row.what()}" in found and f"  {row.why}" in found


# --- a model from standard input --------------------------------------------------------------------------------------

ROWS, REFLECTED = parsed_models.ROWS, parsed_models.REFLECTED.tolist()
Y = f"y: float32[2, 5] {REFLECTED}\n"
X = {"x": ROWS}


def parsed(text: str) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": {13 if "tf." in text else 21}, "tf": 1]> g {text}')


REFUSED = parsed(parsed_models.REFUSED)
OUTSIDE = model([pad()], tensors=[external("pads", "w.bin", 32)])
# Arguments, the model or nothing, the exit code, and parts of the output and of the error.
STREAMS = [
    ("inspect - --check", one_pad(1), 3, "the model: 1 Pad: 1 refused (onnxruntime", ""),
    ("inspect -", one_pad(1), 0, "  padops convert model.onnx -o OUT.onnx\n", ""),
    ("inspect -", None, 1, "", "error: standard input is empty: no model came through it\n"),
    ("inspect -", OUTSIDE, 1, "", "the model from standard input has external data (w.bin), and a stream has no fo"),
    ("run - --inputs x.npz", REFUSED, 0, Y, "standard input was converted in memory: 1 of 1 Pad\n"),
    ("run -", None, 1, "", "error: standard input is empty: no model came through it\n"),
    ("run - --convert never", REFUSED, 1, "", "error: standard input does not run: ["),
    ("run -", OUTSIDE, 1, "", "the model from standard input has external data (w.bin), and a stream has no folder"),
]


@pytest.mark.parametrize(("arguments", "source", "code", "out", "err"), STREAMS)
def test_a_model_from_standard_input(arguments: str, source, code: int, out, err, cli: Cli, here, monkeypatch) -> None:
    np.savez("x.npz", **X)
    give(monkeypatch, b"" if source is None else source.SerializeToString())
    ended, printed, said = cli(*shlex.split(arguments))
    assert (ended, bool(printed), bool(said)) == (code, bool(out), bool(err))
    assert out in printed and err in said


# --- padops run -------------------------------------------------------------------------------------------------------

TWO = parsed(
    "(float[2, 3] x) => (float[2, 5] y, float[2, 5] z) "
    "<int64[2] p = {1, 1}, int32[1] a = {1}, int64[4] q = {0, 1, 0, 1}> "
    '{ y = Pad <mode = "reflect"> (x, p, , a)  z = Pad (x, q) }'
)
BREAKS = parsed('(float[1] x, int64[2] p) => (float[n] y) { y = Pad <mode = "reflect"> (x, p) }')
BROKEN = {"x": np.ones(1, np.float32), "p": np.array([-1, 1])}
TF = parsed("(float[2, 3] x) => (float[2, 6] y) <int32[2, 2] p = {0, 0, 1, 2}> { y = tf.Pad (x, p) }")
NEG = "(float[2, 3] x) => (float[2, 3] y) { y = Neg (x) }"
FED = "({0}[1] x) => ({0}[2] y) <int64[2] p = {{0, 1}}> {{ y = Pad (x, p) }}"
TEXTS, BFLOATS = parsed(FED.format("string")), parsed(FED.format("bfloat16"))
OF_TEXTS, OF_BFLOATS = {"x": ["a\x1b"]}, {"x": np.array([0x3F80], np.uint16)}
LONG = "(float x) => (float[{0}] y) <int64[1] n = {{{0}}}> {{ y = Expand (x, n) }}"
ONE = {"x": np.float32(1)}
SEQUENCE = parsed("(seq(float[2]) x) => (int64 y) { y = SequenceLength (x) }")
SEQUENCE_OUT = parsed("(float[2, 3] x) => (seq(float[2, 3]) y) { y = SequenceConstruct (x) }")


def of_output(name: str) -> onnx.ModelProto:
    made = parsed(NEG)
    made.graph.output[0].name = made.graph.node[0].output[0] = name
    return made


def of_a_last_nul() -> onnx.ModelProto:
    made = parsed(FED.format("string"))
    made.graph.node.insert(0, helper.make_node("Constant", [], ["c"], value_strings=["a\0"]))
    made.graph.node[1].input[0] = "c"
    return made


M = "m.onnx --inputs x.npz"
NO_PROVIDER = f"error: --providers: onnxruntime {onnxruntime.__version__} has no provider {{}} here;"
CONVERTED = "m.onnx was converted in memory: 1 of {} Pad{}\n"
TAKEN = "error: {} is the model or its inputs; name another file for --outputs\n"
# A model, what x.npz has, arguments, the exit code, what is printed, and a part of the error.
RUNS = [
    (REFUSED, X, M, 0, Y, CONVERTED.format(1, "")),
    (REFUSED, X, f"{M} --providers ' CPUExecutionProvider , '", 0, Y, CONVERTED.format(1, "")),
    (TWO, X, M, 0, f"{Y}z: float32[2, 5] {np.pad(ROWS, [(0, 0), (1, 1)]).tolist()}\n", CONVERTED.format(2, "s")),
    (TEXTS, OF_TEXTS, M, 0, "y: string[2] ['a\\x1b', '']\n", ""),
    (BFLOATS, OF_BFLOATS, M, 0, "y: bfloat16[2] [1.0, 0.0]\n", ""),
    (parsed(LONG.format(64)), ONE, M, 0, f"y: float32[64] {[1.0] * 64}\n", ""),
    (parsed(LONG.format(65)), ONE, M, 0, "y: float32[65]\n", ""),
    (parsed(NEG.replace("[2, 3]", "[]")), X, M, 0, f"y: float32[2, 3] {(-ROWS).tolist()}\n", ""),
    (TF, X, f"{M} --custom-domain tf", 0, f"y: float32[2, 6] {np.pad(ROWS, [(0, 0), (1, 2)]).tolist()}\n",
     CONVERTED.format(1, "")),
    (TF, X, M, 1, "", "tf:Pad(-1) is not a registered"),
    (REFUSED, X, f"{M} --convert never", 1, "", "error: m.onnx does not run: "),
    (TF, X, "m.onnx --custom-domain tf --convert never", 2, "",
     "error: --custom-domain and --follow-links need --convert auto\n"),
    (TF, X, "m.onnx --custom-domain com.microsoft", 2, "",
     "error: 'com.microsoft' is not a custom domain: padops knows this domain's operators\n"),
    (REFUSED, X, "m.onnx", 2, "", "error: pass --inputs FILE.npz with x: float[2, 3]\n"),
    (REFUSED, X, "m.onnx --inputs no.npz", 2, "", "error: no.npz does not exist\n"),
    (REFUSED, X, "m.onnx --inputs m.onnx", 2, "",
     'error: m.onnx is not an .npz file; numpy.savez("m.npz", x=...) writes one\n'),
    (REFUSED, {"x": ROWS.astype(np.int32)}, M, 2, "", "error: input 'x' is int32, expected float\n"),
    (BREAKS, BROKEN, M, 1, "", "error: m.onnx does not run with these inputs: "),
    (BREAKS, BROKEN, M, 1, "", "[P5]"),
    (REFUSED, X, f"{M} --providers NoSuchProvider", 2, "", NO_PROVIDER.format("NoSuchProvider")),
    (REFUSED, X, f"{M} --providers snpe,CPUExecutionProvider", 2, "", NO_PROVIDER.format("snpe")),
    (REFUSED, X, "no.onnx --outputs y.npz", 1, "", "error: no.onnx does not exist\n"),
    (REFUSED, X, ".", 2, "", "error: . is a folder; padops run accepts one model file\n"),
    (REFUSED, X, f"{M} --outputs .", 1, "", "error: cannot write .: it is a folder; only regular files are replaced\n"),
    (REFUSED, X, f"{M} --outputs no/y.npz", 1, "", "error: cannot write no/"),
    (REFUSED, X, f"{M} --outputs -", 2, "",
     "error: --outputs needs a file: standard output shows the outputs as text\n"),
    (REFUSED, X, f"{M} --outputs m.onnx", 2, "", TAKEN.format("m.onnx")),
    (REFUSED, X, f"{M} --outputs x.npz", 2, "", TAKEN.format("x.npz")),
    (SEQUENCE, X, M, 1, "", "error: input 'x' is seq(tensor(float)), but padops run accepts only tensors\n"),
    (SEQUENCE_OUT, X, f"{M} --outputs y.npz", 1, "",
     "error: output 'y' is a list, and only tensors can be printed or written\n"),
    (of_a_last_nul(), {"x": ["b"]}, f"{M} --outputs y.npz", 1, "",
     "error: output 'y' has a string that ends with U+0000, which NumPy cannot hold\n"),
    (of_output("n" * 60_001), X, f"{M} --outputs y.npz", 1, "",
     f"error: an .npz cannot hold an output named {'n' * 40!r}\n"),
    (of_output("y\0"), X, f"{M} --outputs y.npz", 1, "",
     "error: " + shown("an .npz cannot hold an output named 'y\\x00'") + "\n"),
]  # fmt: skip


@pytest.fixture
def files(here: Path) -> Path:
    save(here / "m.onnx", REFUSED)
    np.savez("x.npz", **X)
    return here


@pytest.mark.parametrize(("source", "arrays", "arguments", "code", "out", "err"), RUNS)
def test_run(source, arrays: Mapping, arguments: str, code: int, out: str, err: str, files: Path, cli: Cli) -> None:
    save(files / "m.onnx", source)
    np.savez("x.npz", **arrays)
    before = {path: path.read_bytes() for path in files.iterdir()}
    ended, printed, said = cli("run", *shlex.split(arguments))
    assert (ended, printed) == (code, out)
    assert err in said if code else said == err
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_the_domain_that_is_not_named_is(files: Path, cli: Cli, caplog: pytest.LogCaptureFixture) -> None:
    save(files / "m.onnx", TF)
    assert cli("run", *M.split())[0] == 1
    (row,) = padops.inspect("m.onnx").pads
    assert caplog.messages == [f"padops cannot convert the model: {row.path}: {row.why}"]
    assert "name its domain: --custom-domain tf" in caplog.text
    assert "No command" not in cli("inspect", "m.onnx")[1]


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize(
    ("source", "arrays", "expected"),
    [(REFUSED, X, REFLECTED), (TEXTS, OF_TEXTS, ["a\x1b", ""]), (BFLOATS, OF_BFLOATS, [0x3F80, 0])],
)
def test_outputs_are_written(source, arrays: Mapping, expected: list, link: bool, files: Path, cli: Cli) -> None:
    """A link stays one; types that NumPy lacks are written as text and as bits."""
    save(files / "m.onnx", source)
    np.savez("x.npz", **arrays)
    Path("there").mkdir()
    if link:
        Path("there", "y.npz").write_bytes(b"old")
        Path("y.npz").symlink_to(files / "there" / "y.npz")
    assert cli("run", *M.split(), "--outputs", "y.npz")[0] == 0
    assert Path("y.npz").is_symlink() == link and not Path("there", "y.npz").is_symlink()
    with np.load("y.npz") as written:
        assert {name: written[name].tolist() for name in written} == {"y": expected}


def test_the_library_that_is_not_there(files: Path) -> None:
    ran = command.padops("run", *M.split(), env=dict(os.environ, PADOPS_LIBRARY="none.so"))
    told = "error: PADOPS_LIBRARY is 'none.so', which is not a file; name a file, or unset it\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", told)


# --- progress: bars over thousands of Pads where standard error is a terminal, and nothing elsewhere ------------------

COUNT = 5  # of Pads; the program below takes that for thousands
PROGRAM = (
    f"import sys; from padops import cli, terminal; terminal.FEWEST = {COUNT}; "
    "sys.exit(cli.main(['convert', 'in.onnx', 'out.onnx', *sys.argv[1:]]))"
)
STEPS = ("looking at Pads", "looking for what folds", "deciding", "converting")


def test_a_terminal_shows_how_far_it_is(here: Path) -> None:
    save(here / "in.onnx", pad_chains.reflecting(COUNT))
    for options, wanted in (((), [*STEPS, f"{COUNT}/{COUNT}", f"{COUNT} Pads: {COUNT} converted"]), (("-q",), [])):
        with AtTerminal("-c", PROGRAM, *options, cwd=here) as run:
            assert (run.wait(), bool(run.said())) == (0, bool(wanted))
            assert [text for text in wanted if text not in run.said()] == []
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600)
    assert (ran.returncode, ran.stderr) == (0, "") and not any(step in ran.stdout for step in STEPS)  # a pipe


@pytest.mark.parametrize("fold", [True, False])
def test_each_step_is_told_from_0_to_its_end(fold: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    source = pad_chains.reflecting(COUNT)
    padops.convert(source, fold=fold, progress=lambda *step: told.append(step))
    assert told == []  # of so few
    monkeypatch.setattr(terminal, "FEWEST", COUNT)
    monkeypatch.setattr(terminal, "STEP", 2)
    padops.convert(source, fold=fold, progress=lambda *step: told.append(step))
    steps = {what: [(done, total) for _, done, total in of_it] for what, of_it in groupby(told, lambda step: step[0])}
    assert list(steps) == [step for step in STEPS if fold or "fold" not in step]
    assert all(of_it == [(0, COUNT), (2, COUNT), (4, COUNT), (COUNT, COUNT)] for of_it in steps.values())
