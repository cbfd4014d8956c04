"""``padops run``: a model from the shell, converted in memory where it has to be."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from command_lines import run
from onnx import parser

import padops
from padops.terminal import shown

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
REFLECTED = [[1.0, 0.0, 1.0, 2.0, 1.0], [4.0, 3.0, 4.0, 5.0, 4.0]]


def save(path: Path, text: str, opset: int = 18) -> Path:
    path.write_bytes(parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> g {text}').SerializeToString())
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save(
        tmp_path / "in.onnx",
        "(float[2, 3] x) => (float[2, 5] y) <int64[2] p = {1, 1}, int32[1] a = {1}> "
        '{ y = Pad <mode = "reflect"> (x, p, , a) }',
    )


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    np.savez(tmp_path / "x.npz", x=ROWS)
    return tmp_path / "x.npz"


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Puts bytes into standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_it_runs_what_onnxruntime_refuses(
    model: Path, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = tmp_path / "y.npz"
    code, out, err = run(capsys, "run", model, "--inputs", inputs, "--outputs", outputs)
    assert (code, out, err) == (0, f"y: float32[2, 5] {REFLECTED}\n", f"{model} was converted in memory: 1 of 1 Pad\n")
    with np.load(outputs) as written:
        assert {name: written[name].tolist() for name in written} == {"y": REFLECTED}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.onnx", "x.npz", "y.npz"]


@pytest.mark.parametrize(
    ("type", "given", "told", "bits"),
    [
        ("string", ["a\x1b"], "y: object[2] ['a\\x1b', '']", ["a\x1b", ""]),
        ("bfloat16", np.array([0x3F80], np.uint16), "y: bfloat16[2] [1.0, 0.0]", [0x3F80, 0]),
    ],
)
def test_texts_and_types_that_numpy_lacks(
    type: str, given: np.ndarray, told: str, bits: list, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path / "m.onnx", f"({type}[1] x) => ({type}[2] y) <int64[2] p = {{0, 1}}> {{ y = Pad (x, p) }}", 21)
    np.savez(tmp_path / "x.npz", x=given)
    code, out, err = run(capsys, "run", path, "--inputs", tmp_path / "x.npz", "--outputs", tmp_path / "y.npz")
    assert (code, out, err) == (0, f"{told}\n", "")
    with np.load(tmp_path / "y.npz") as written:
        assert written["y"].tolist() == bits


@pytest.mark.parametrize(("count", "told"), [(64, f" {[1.0] * 64}"), (65, "")])
def test_long_outputs_are_told_by_type_and_shape(
    count: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(
        tmp_path / "long.onnx", f"(float x) => (float[{count}] y) <int64[1] n = {{{count}}}> {{ y = Expand (x, n) }}"
    )
    np.savez(tmp_path / "x.npz", x=np.float32(1))
    assert run(capsys, "run", path, "--inputs", tmp_path / "x.npz") == (0, f"y: float32[{count}]{told}\n", "")


def test_what_is_wrong_is_said(model: Path, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "run", model, "--convert", "never", "--inputs", inputs)
    assert (code, out, f"error: {model} does not run: " in err) == (1, "", True)
    code, _, err = run(capsys, "run", model)
    assert (code, err.splitlines()[-1]) == (2, "error: give --inputs FILE.npz with x: float[2, 3]")
    for content, why in (
        (None, "does not exist"),
        (b"no zip", f'is no .npz file; numpy.savez("{tmp_path / "y.npz"}", x=...) writes one'),
    ):
        if content is not None:
            (tmp_path / "y.npz").write_bytes(content)
        code, _, err = run(capsys, "run", model, "--inputs", tmp_path / "y.npz")
        assert (code, err.splitlines()[-1]) == (2, f"error: {tmp_path / 'y.npz'} {why}")
    np.savez(tmp_path / "z.npz", x=ROWS.astype(np.int32))
    code, _, err = run(capsys, "run", model, "--inputs", tmp_path / "z.npz")
    assert (code, err.splitlines()[-1]) == (2, "error: input 'x' is int32, expected float")
    code, _, err = run(capsys, "run", model, "--inputs", inputs, "--outputs", tmp_path)
    assert (code, err) == (1, f"error: cannot write {tmp_path}: it is a folder; name a file in it\n")
    code, _, err = run(capsys, "run", model, "--inputs", inputs, "--outputs", tmp_path / "none" / "y.npz")
    assert (code, "error: cannot write" in err) == (1, True)


def test_outputs_go_to_no_stream(
    model: Path, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of the name "-" was written."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "run", model, "--inputs", inputs, "--outputs", "-")
    assert (code, out) == (2, "")
    assert err == "error: --outputs needs a file: standard output shows the outputs as text\n"
    assert not Path("-").exists()


def test_a_pad_that_breaks_a_rule_when_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "p.onnx", '(float[1] x, int64[2] p) => (float[n] y) { y = Pad <mode = "reflect"> (x, p) }')
    np.savez(tmp_path / "x.npz", x=np.ones(1, np.float32), p=np.array([-1, 1]))
    code, out, err = run(capsys, "run", path, "--inputs", tmp_path / "x.npz")
    assert (code, out) == (1, "")
    assert f"error: {path} does not run with these inputs: " in err and "[P5]" in err


def test_nothing_that_is_read_is_overwritten(model: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in (model, inputs)}
    for path in before:
        code, _, err = run(capsys, "run", model, "--inputs", inputs, "--outputs", path)
        assert (code, err) == (2, f"error: {path} is the model or its inputs; name another file for --outputs\n")
    assert {path: path.read_bytes() for path in before} == before


def test_what_a_file_of_arrays_cannot_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "m.onnx", "(string[1] x) => (string[2] y) <int64[2] p = {0, 1}> { y = Pad (x, p) }")
    made = onnx.load(path)
    fed = ["a\0"]
    graph = made.graph
    graph.node.insert(0, onnx.helper.make_node("Constant", [], ["c"], value_strings=fed))
    graph.node[1].input[0] = "c"
    onnx.save(made, path)
    np.savez(tmp_path / "x.npz", x=["b"])
    code, _, err = run(capsys, "run", path, "--inputs", tmp_path / "x.npz", "--outputs", tmp_path / "y.npz")
    assert (code, err) == (
        1,
        "error: output 'y' has a string that ends with U+0000, which a NumPy array cannot hold\n",
    )
    assert not (tmp_path / "y.npz").exists()


def test_blanks_between_providers(model: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", model, "--inputs", inputs, "--providers", " CPUExecutionProvider , ")[0] == 0


def test_providers_are_asked_for(model: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Providers have full or short names; onnxruntime's warning and a second, converted attempt stood in the error."""
    for given, named in (("NoSuchProvider", "NoSuchProvider"), ("snpe,CPUExecutionProvider", "snpe")):
        code, out, err = run(capsys, "run", model, "--inputs", inputs, "--providers", given)
        assert (code, out) == (2, "")
        assert err.startswith(
            f"error: --providers: onnxruntime {onnxruntime.__version__} has no provider {named} here;"
        )
        assert "CPUExecutionProvider" in err and err.count("\n") == 1


def test_an_absent_model_is_not_taken_for_the_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "run", tmp_path / "none.onnx", "--outputs", tmp_path / "y.npz")
    assert (code, err) == (1, f"error: {tmp_path / 'none.onnx'} does not exist\n")
    code, _, err = run(capsys, "run", tmp_path)
    assert (code, err) == (2, f"error: {tmp_path} is a folder; padops run accepts one model file\n")
    assert [*tmp_path.iterdir()] == []


def test_the_library_that_is_not_there(model: Path, inputs: Path, tmp_path: Path) -> None:
    """The model was converted for a second attempt, and was said not to run."""
    here = dict(os.environ, PADOPS_LIBRARY=str(tmp_path / "none.so"))
    command = [sys.executable, "-m", "padops", "run", model, "--inputs", inputs]
    ran = subprocess.run(command, env=here, capture_output=True, text=True, timeout=120)
    path = str(tmp_path / "none.so")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"error: PADOPS_LIBRARY is {path!r}, which is not a file; set it to one, or unset it\n"


def test_a_domain_of_tensorflow(
    inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """``padops inspect`` says that ``padops run`` does what the session does."""
    text = "(float[2, 3] x) => (float[2, 6] y) <int32[2, 2] p = {0, 0, 1, 2}> { y = tf.Pad (x, p) }"
    path = tmp_path / "m.onnx"
    header = '<ir_version: 8, opset_import: ["": 13, "tf": 1]> g '
    path.write_bytes(parser.parse_model(header + text).SerializeToString())
    code, _, err = run(capsys, "run", path, "--inputs", inputs)
    assert (code, caplog.messages) == (1, [f"padops cannot convert the model: {padops.inspect(path).pads[0].why}"])
    assert "name its domain: --custom-domain tf" in caplog.text and "tf:Pad(-1) is not a registered" in err
    assert "No command" not in run(capsys, "inspect", path)[1]
    code, out, err = run(capsys, "run", path, "--inputs", inputs, "--custom-domain", "tf")
    padded = np.pad(ROWS, [(0, 0), (1, 2)]).tolist()
    assert (code, out, err) == (0, f"y: float32[2, 6] {padded}\n", f"{path} was converted in memory: 1 of 1 Pad\n")
    code, _, err = run(capsys, "run", path, "--custom-domain", "tf", "--convert", "never")
    assert (code, err) == (2, "error: --custom-domain needs --convert auto\n")
    code, _, err = run(capsys, "run", path, "--custom-domain", "com.microsoft")
    assert (code, err) == (2, "error: 'com.microsoft' is no custom domain: padops knows what its nodes mean\n")


def test_data_of_any_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "m.onnx", "(float[] x) => (float[] y) { y = Neg (x) }")
    made = onnx.load(path)
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.ClearField("shape")
    onnx.save(made, path)
    np.savez(tmp_path / "x.npz", x=np.ones((1, 2), np.float32))
    assert run(capsys, "run", path, "--inputs", tmp_path / "x.npz") == (0, "y: float32[1, 2] [[-1.0, -1.0]]\n", "")


def test_what_is_no_tensor(tmp_path: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "in.onnx", "(seq(float[2]) x) => (int64 y) { y = SequenceLength (x) }")
    code, out, err = run(capsys, "run", path, "--inputs", inputs)
    assert (code, out) == (1, "")
    assert err == "error: input 'x' is seq(tensor(float)), and only tensors can be given\n"
    path = save(tmp_path / "out.onnx", "(float[2, 3] x) => (seq(float[2, 3]) y) { y = SequenceConstruct (x) }")
    code, out, err = run(capsys, "run", path, "--inputs", inputs, "--outputs", tmp_path / "y.npz")
    assert (code, out) == (1, "")
    assert err == "error: output 'y' is a list, and only tensors can be printed or written\n"
    assert not (tmp_path / "y.npz").exists()


def test_how_many_pads_were_converted(tmp_path: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(
        tmp_path / "m.onnx",
        "(float[2, 3] x) => (float[2, 5] y, float[2, 5] z) <int64[2] p = {1, 1}, int32[1] a = {1}, "
        "int64[4] q = {0, 1, 0, 1}> "
        '{ y = Pad <mode = "reflect"> (x, p, , a)  z = Pad (x, q) }',
    )
    assert run(capsys, "run", path, "--inputs", inputs)[2] == f"{path} was converted in memory: 1 of 2 Pads\n"


@pytest.mark.parametrize("name", ["n" * 60_001, "y\0"], ids=["long", "nul"])
def test_names_that_a_file_of_arrays_cannot_hold(
    name: str, tmp_path: Path, inputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path / "m.onnx", "(float[2, 3] x) => (float[2, 3] y) { y = Neg (x) }")
    made = onnx.load(path)
    made.graph.output[0].name = made.graph.node[0].output[0] = name
    onnx.save(made, path)
    code, _, err = run(capsys, "run", path, "--inputs", inputs, "--outputs", tmp_path / "y.npz")
    assert (code, err) == (1, "error: " + shown(f"an .npz cannot hold an output named {name[:40]!r}") + "\n")
    assert not (tmp_path / "y.npz").exists()


def test_outputs_go_where_a_link_leads(
    model: Path, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "y.npz").write_bytes(b"old")
    (tmp_path / "y.npz").symlink_to(tmp_path / "there" / "y.npz")
    assert run(capsys, "run", model, "--inputs", inputs, "--outputs", tmp_path / "y.npz")[0] == 0
    assert (tmp_path / "y.npz").is_symlink() and not (tmp_path / "there" / "y.npz").is_symlink()
    with np.load(tmp_path / "there" / "y.npz") as written:
        assert written["y"].tolist() == REFLECTED


def test_a_model_from_standard_input(
    model: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, model.read_bytes())
    code, out, err = run(capsys, "run", "-", "--inputs", inputs)
    assert (code, out) == (0, f"y: float32[2, 5] {REFLECTED}\n")
    assert err == "standard input was converted in memory: 1 of 1 Pad\n"


def test_no_model_from_standard_input(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing at all, one that does not run, and one whose data no stream brings."""
    give(monkeypatch, b"")
    expected = "error: standard input is empty: no model came through it\n"
    assert run(capsys, "run", "-") == (1, "", expected)
    give(monkeypatch, model.read_bytes())
    code, out, err = run(capsys, "run", "-", "--convert", "never")
    assert (code, out, err[:37]) == (1, "", "error: standard input does not run: [")
    outside = onnx.load(model)
    outside.graph.initializer[0].raw_data = np.array([1, 1]).tobytes()
    onnx.external_data_helper.set_external_data(outside.graph.initializer[0], "weights.bin")
    give(monkeypatch, outside.SerializeToString())
    code, out, err = run(capsys, "run", "-")
    assert (code, out) == (1, "")
    assert "the model from standard input has external data (weights.bin), and a stream has no folder" in err
