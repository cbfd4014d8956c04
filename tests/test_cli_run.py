"""``padops run``: a model from the shell, converted in memory where it has to be."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from command import padops as in_a_process
from command_lines import give, run
from onnx import parser

import padops
from padops.terminal import shown

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
REFLECTED = [[1.0, 0.0, 1.0, 2.0, 1.0], [4.0, 3.0, 4.0, 5.0, 4.0]]
X = {"x": ROWS}
REFLECT = (
    "(float[2, 3] x) => (float[2, 5] y) <int64[2] p = {1, 1}, int32[1] a = {1}> "
    '{ y = Pad <mode = "reflect"> (x, p, , a) }'
)
TWO = (
    "(float[2, 3] x) => (float[2, 5] y, float[2, 5] z) "
    "<int64[2] p = {1, 1}, int32[1] a = {1}, int64[4] q = {0, 1, 0, 1}> "
    '{ y = Pad <mode = "reflect"> (x, p, , a)  z = Pad (x, q) }'
)
OUT_OF = '(float[1] x, int64[2] p) => (float[n] y) { y = Pad <mode = "reflect"> (x, p) }'
TF = "(float[2, 3] x) => (float[2, 6] y) <int32[2, 2] p = {0, 0, 1, 2}> { y = tf.Pad (x, p) }"
FED = "({0}[1] x) => ({0}[2] y) <int64[2] p = {{0, 1}}> {{ y = Pad (x, p) }}"
LONG = "(float x) => (float[{0}] y) <int64[1] n = {{{0}}}> {{ y = Expand (x, n) }}"
NO_PROVIDER = f"error: --providers: onnxruntime {onnxruntime.__version__} has no provider {{}} here;"
CONVERTED = "{m} was converted in memory: 1 of 1 Pad\n"


def parsed(text: str, opset: int = 21) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "tf": 1]> g {text}')


def of_any_rank() -> onnx.ModelProto:
    made = parsed("(float[] x) => (float[] y) { y = Neg (x) }")
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.ClearField("shape")
    return made


def of_output(name: str) -> onnx.ModelProto:
    made = parsed("(float[2, 3] x) => (float[2, 3] y) { y = Neg (x) }")
    made.graph.output[0].name = made.graph.node[0].output[0] = name
    return made


def of_a_last_nul() -> onnx.ModelProto:
    made = parsed(FED.format("string"))
    made.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["c"], value_strings=["a\0"]))
    made.graph.node[1].input[0] = "c"
    return made


# A model, what x.npz has, arguments, the exit code, what is printed, and a part of what is said. {m} is the model, {x}
# x.npz, {d} the folder that they are in.
CASES = {
    "refused by onnxruntime": (REFLECT, X, "{m} --inputs {x}", 0, f"y: float32[2, 5] {REFLECTED}\n", CONVERTED),
    "blanks between providers": (
        REFLECT, X, "{m} --inputs {x} --providers ' CPUExecutionProvider , '", 0, f"y: float32[2, 5] {REFLECTED}\n",
        CONVERTED,
    ),
    "one of two": (
        TWO, X, "{m} --inputs {x}", 0,
        f"y: float32[2, 5] {REFLECTED}\nz: float32[2, 5] {np.pad(ROWS, [(0, 0), (1, 1)]).tolist()}\n",
        "{m} was converted in memory: 1 of 2 Pads\n",
    ),
    "texts": (FED.format("string"), {"x": ["a\x1b"]}, "{m} --inputs {x}", 0, "y: string[2] ['a\\x1b', '']\n", ""),
    "bfloat16": (
        FED.format("bfloat16"), {"x": np.array([0x3F80], np.uint16)}, "{m} --inputs {x}", 0,
        "y: bfloat16[2] [1.0, 0.0]\n", "",
    ),
    "not long": (
        LONG.format(64), {"x": np.float32(1)}, "{m} --inputs {x}", 0, f"y: float32[64] {[1.0] * 64}\n", "",
    ),
    "long": (LONG.format(65), {"x": np.float32(1)}, "{m} --inputs {x}", 0, "y: float32[65]\n", ""),
    "any rank": (of_any_rank(), X, "{m} --inputs {x}", 0, f"y: float32[2, 3] {(-ROWS).tolist()}\n", ""),
    "a domain of tensorflow": (
        TF, X, "{m} --inputs {x} --custom-domain tf", 0,
        f"y: float32[2, 6] {np.pad(ROWS, [(0, 0), (1, 2)]).tolist()}\n", CONVERTED,
    ),
    "its domain is not named": (TF, X, "{m} --inputs {x}", 1, "", "tf:Pad(-1) is not a registered"),
    "never": (REFLECT, X, "{m} --inputs {x} --convert never", 1, "", "error: {m} does not run: "),
    "a domain, never": (
        TF, X, "{m} --custom-domain tf --convert never", 2, "",
        "error: --custom-domain and --follow-links need --convert auto\n",
    ),
    "no custom domain": (
        TF, X, "{m} --custom-domain com.microsoft", 2, "",
        "error: 'com.microsoft' is no custom domain: padops knows what its nodes mean\n",
    ),
    "no inputs": (REFLECT, X, "{m}", 2, "", "error: give --inputs FILE.npz with x: float[2, 3]\n"),
    "absent inputs": (REFLECT, X, "{m} --inputs {d}/no.npz", 2, "", "error: {d}/no.npz does not exist\n"),
    "no zip": (
        REFLECT, X, "{m} --inputs {m}", 2, "", 'error: {m} is no .npz file; numpy.savez("{z}", x=...) writes one\n',
    ),
    "another type": (
        REFLECT, {"x": ROWS.astype(np.int32)}, "{m} --inputs {x}", 2, "", "error: input 'x' is int32, expected float\n",
    ),
    "a broken rule": (
        OUT_OF, {"x": np.ones(1, np.float32), "p": np.array([-1, 1])}, "{m} --inputs {x}", 1, "",
        "error: {m} does not run with these inputs: ",
    ),
    "P5": (OUT_OF, {"x": np.ones(1, np.float32), "p": np.array([-1, 1])}, "{m} --inputs {x}", 1, "", "[P5]"),
    "an unknown provider": (
        REFLECT, X, "{m} --inputs {x} --providers NoSuchProvider", 2, "", NO_PROVIDER.format("NoSuchProvider"),
    ),
    "an absent provider": (
        REFLECT, X, "{m} --inputs {x} --providers snpe,CPUExecutionProvider", 2, "", NO_PROVIDER.format("snpe"),
    ),
    "an absent model": (REFLECT, X, "{d}/no.onnx --outputs {d}/y.npz", 1, "", "error: {d}/no.onnx does not exist\n"),
    "a folder": (REFLECT, X, "{d}", 2, "", "error: {d} is a folder; padops run accepts one model file\n"),
    "outputs to a folder": (
        REFLECT, X, "{m} --inputs {x} --outputs {d}", 1, "",
        "error: cannot write {d}: it is a folder; only regular files are replaced\n",
    ),
    "outputs to no folder": (REFLECT, X, "{m} --inputs {x} --outputs {d}/no/y.npz", 1, "", "error: cannot write {d}"),
    "outputs to a stream": (
        REFLECT, X, "{m} --inputs {x} --outputs -", 2, "",
        "error: --outputs needs a file: standard output shows the outputs as text\n",
    ),
    "outputs to the model": (
        REFLECT, X, "{m} --inputs {x} --outputs {m}", 2, "",
        "error: {m} is the model or its inputs; name another file for --outputs\n",
    ),
    "outputs to the inputs": (
        REFLECT, X, "{m} --inputs {x} --outputs {x}", 2, "",
        "error: {x} is the model or its inputs; name another file for --outputs\n",
    ),
    "a sequence": (
        "(seq(float[2]) x) => (int64 y) { y = SequenceLength (x) }", X, "{m} --inputs {x}", 1, "",
        "error: input 'x' is seq(tensor(float)), and only tensors can be given\n",
    ),
    "a sequence comes out": (
        "(float[2, 3] x) => (seq(float[2, 3]) y) { y = SequenceConstruct (x) }", X,
        "{m} --inputs {x} --outputs {d}/y.npz", 1, "",
        "error: output 'y' is a list, and only tensors can be printed or written\n",
    ),
    "a string that ends with NUL": (
        of_a_last_nul(), {"x": ["b"]}, "{m} --inputs {x} --outputs {d}/y.npz", 1, "",
        "error: output 'y' has a string that ends with U+0000, which NumPy cannot hold\n",
    ),
    "a long name": (
        of_output("n" * 60_001), X, "{m} --inputs {x} --outputs {d}/y.npz", 1, "",
        f"error: an .npz cannot hold an output named {'n' * 40!r}\n",
    ),
    "a name with NUL": (
        of_output("y\0"), X, "{m} --inputs {x} --outputs {d}/y.npz", 1, "",
        "error: " + shown("an .npz cannot hold an output named 'y\\x00'") + "\n",
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in.onnx").write_bytes(parsed(REFLECT, 18).SerializeToString())
    np.savez(tmp_path / "x.npz", **X)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("model", "arrays", "arguments", "code", "out", "err"), CASES.values(), ids=CASES)
def test_run(
    model: str | onnx.ModelProto, arrays: dict, arguments: str, code: int, out: str, err: str,
    folder: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    opset = 13 if model is TF else 18 if model in (REFLECT, TWO, OUT_OF) else 21
    made = parsed(model, opset) if isinstance(model, str) else model
    (folder / "in.onnx").write_bytes(made.SerializeToString())
    np.savez(folder / "x.npz", **arrays)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    named = {"m": folder / "in.onnx", "x": folder / "x.npz", "d": folder}
    ran = run(capsys, "run", *shlex.split(arguments.format(**named)))
    assert ran[:2] == (code, out)
    expected = err.replace("{m}", str(named["m"])).replace("{x}", str(named["x"])).replace("{d}", str(folder))
    expected = expected.replace("{z}", str(named["m"].with_suffix(".npz")))
    assert expected in ran[2] if code else ran[2] == expected
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_the_domain_that_is_not_named_is(folder: Path, capsys, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "in.onnx").write_bytes(parsed(TF, 13).SerializeToString())
    assert run(capsys, "run", "in.onnx", "--inputs", "x.npz")[0] == 1
    (pad,) = padops.inspect("in.onnx").pads
    assert caplog.messages == [f"padops cannot convert the model: {pad.path}: {pad.why}"]
    assert "name its domain: --custom-domain tf" in caplog.text
    assert "No command" not in run(capsys, "inspect", "in.onnx")[1]


@pytest.mark.parametrize("link", [False, True])
def test_outputs_are_written(link: bool, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "there").mkdir()
    if link:
        Path("there", "y.npz").write_bytes(b"old")
        Path("y.npz").symlink_to(folder / "there" / "y.npz")
    assert run(capsys, "run", "in.onnx", "--inputs", "x.npz", "--outputs", "y.npz")[0] == 0
    assert Path("y.npz").is_symlink() == link and not Path("there", "y.npz").is_symlink()
    with np.load("y.npz") as written:
        assert {name: written[name].tolist() for name in written} == {"y": REFLECTED}


@pytest.mark.parametrize(
    ("type", "given", "bits"),
    [("string", ["a\x1b"], ["a\x1b", ""]), ("bfloat16", np.array([0x3F80], np.uint16), [0x3F80, 0])],
)
def test_types_that_numpy_lacks_are_written(type: str, given: object, bits: list, folder: Path, capsys) -> None:
    (folder / "in.onnx").write_bytes(parsed(FED.format(type)).SerializeToString())
    np.savez("x.npz", x=given)
    assert run(capsys, "run", "in.onnx", "--inputs", "x.npz", "--outputs", "y.npz")[0] == 0
    with np.load("y.npz") as written:
        assert written["y"].tolist() == bits


def test_the_library_that_is_not_there(folder: Path) -> None:
    path = str(folder / "none.so")
    ran = in_a_process("run", "in.onnx", "--inputs", "x.npz", env=dict(os.environ, PADOPS_LIBRARY=path))
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"error: PADOPS_LIBRARY is {path!r}, which is not a file; set it to one, or unset it\n"


def test_a_model_from_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    content = (folder / "in.onnx").read_bytes()
    give(monkeypatch, content)
    code, out, err = run(capsys, "run", "-", "--inputs", "x.npz")
    assert (code, out) == (0, f"y: float32[2, 5] {REFLECTED}\n")
    assert err == "standard input was converted in memory: 1 of 1 Pad\n"
    give(monkeypatch, b"")
    assert run(capsys, "run", "-") == (1, "", "error: standard input is empty: no model came through it\n")
    give(monkeypatch, content)
    code, out, err = run(capsys, "run", "-", "--convert", "never")
    assert (code, out, err[:37]) == (1, "", "error: standard input does not run: [")
    outside = onnx.load("in.onnx")
    outside.graph.initializer[0].raw_data = np.array([1, 1]).tobytes()
    onnx.external_data_helper.set_external_data(outside.graph.initializer[0], "weights.bin")
    give(monkeypatch, outside.SerializeToString())
    code, out, err = run(capsys, "run", "-")
    assert (code, out) == (1, "")
    assert "the model from standard input has external data (weights.bin), and a stream has no folder" in err
