"""Fallbacks that would not run in a stock session: another body is written, or none, and every summary says so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import roads
from command_lines import run
from onnx import parser
from small_models import FLOAT, model, one_pad, pad, tensor

import padops
from padops.spec import reference

INT16 = onnx.TensorProto.INT16
MIXED = onnx.TensorProto.INT4, onnx.TensorProto.UINT4
WHY = "this file needs padops for Pad_21: its data are of several types, int4, uint4, some of which are cast"
SAYS = f"{WHY}; --target onnx (padops.lower) may help"


def mixed() -> onnx.ModelProto:
    """Two Pads that no one body serves."""
    inputs = [(f"x{i}", kind, [3]) for i, kind in enumerate(MIXED)]
    outputs = [(f"y{i}", kind, None) for i, kind in enumerate(MIXED)]
    nodes = [pad([f"x{i}", "p"], f"y{i}", name=f"n{i}") for i in range(2)]
    return model(nodes, 21, ir_version=10, inputs=inputs, outputs=outputs, tensors=[tensor("p", [0, 1])])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "mixed.onnx"
    path.parent.mkdir()
    path.write_bytes(mixed().SerializeToString())
    return path


def test_one_model(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "o.onnx", tmp_path / "r.json"
    code, text, err = run(capsys, "convert", source, out, "--report", report)
    assert (code, err) == (0, f"warning: {SAYS}\n")
    assert text.splitlines()[-1].startswith("2 Pads: 2 converted, 2 without a fallback; wrote ")
    assert json.loads(report.read_text())["no_fallback"] == {"Pad_21": SAYS}
    assert run(capsys, "convert", source, out, "-q") == (0, "", f"warning: {SAYS}\n")
    assert run(capsys, "convert", source, out, "-q", "--no-fallback") == (0, "", "")
    lowered = padops.lower(out)
    assert not lowered.unconverted and not lowered.no_fallback


def test_a_folder(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source.parent / "a.onnx").write_bytes(one_pad(13).SerializeToString())
    report = tmp_path / "r.json"
    code, text, err = run(capsys, "convert", source.parent, tmp_path / "out", "--report", report)
    assert (code, err) == (0, f"{source}: warning: {SAYS}\n")
    assert text.splitlines()[-1] == "2 models, 0 failed; 3 Pads: 3 converted"
    assert [row["report"]["no_fallback"] for row in json.loads(report.read_text())["files"]] == [{}, {"Pad_21": SAYS}]
    assert run(capsys, "convert", source.parent, tmp_path / "out", "-q") == (0, "", f"{source}: warning: {SAYS}\n")


def test_strict(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a fallback that was wanted, nothing is written."""
    out = tmp_path / "o.onnx"
    advice = "--no-fallback (in Python fallback=False) asks for none"
    assert run(capsys, "convert", source, out, "-q", "--strict") == (3, "", f"error: {SAYS}; {advice}\n")
    assert run(capsys, "convert", source.parent, tmp_path / "out", "-q", "--strict")[0] == 3
    assert not out.exists() and not (tmp_path / "out").exists()
    assert run(capsys, "convert", source, out, "-q", "--strict", "--no-fallback") == (0, "", "")
    with pytest.raises(padops.PadsLeftError, match="this file needs padops for Pad_21"):
        padops.convert(source, strict=True)


def test_an_opset_that_is_too_old_for_the_fallback() -> None:
    edge = model([pad(["x"], mode="edge", pads=[0, 1, 0, -2])], 10, inputs=[("x", FLOAT, ["n", "m"])])
    (said,) = padops.convert(edge).no_fallback.values()
    assert said.startswith("this file needs padops for Pad_2: its fallback needs ReduceMin (opset 11); ")


def test_a_type_that_no_target_has() -> None:
    kind = onnx.TensorProto.FLOAT8E5M2
    source = one_pad(21, ir_version=10, inputs=[("x", kind, [2, 3])], outputs=[("y", kind, None)])
    (said,) = padops.convert(source).no_fallback.values()
    assert said.endswith("without changing bits")


@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_no_body_of_a_sequence_map_has_functions(mode: str) -> None:
    """onnxruntime loads none there: it takes names from between its two inlinings."""
    made = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[n, m] y) {'
        "s = SequenceConstruct (x, x)"
        "t = SequenceMap (s) <body = b (float[r, c] e) => (float[i, j] f) {"
        f'k = Constant <value = int64[4] {{0, 1, 0, 2}}> () f = Pad <mode = "{mode}"> (e, k) }}>'
        "at = Constant <value = int64 {1}> () y = SequenceAt (t, at) }"
    )
    converted = padops.convert(made)
    assert not converted.proto().functions
    assert "SequenceMap, and onnxruntime loads no functions within one" in converted.no_fallback["Pad_13"]
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    options = roads.options("all")
    padops.register(options)
    session = onnxruntime.InferenceSession(converted.proto().SerializeToString(), options)
    expected = reference.run("Pad_13", {"mode": mode}, [data, np.array([0, 1, 0, 2]), None])
    assert np.array_equal(session.run(None, {"x": data})[0], expected)


@pytest.mark.parametrize("modes", [["edge"], ["edge", "constant"], ["constant", "constant"]])
def test_no_constant_is_folded_in_a_branch(modes: list[str]) -> None:
    """onnxruntime 1.24 to 1.27 loses such a constant of more than 127 bytes with the If around it."""
    nodes = [pad([f"v{i}", f"p{i}"], f"v{i + 1}", mode=mode, name=f"n{i}") for i, mode in enumerate(modes)]
    last = f"v{len(modes)}"
    tensors = [tensor(f"p{i}", [1, 2, i, 3]) for i in range(len(modes))]
    source = model(nodes, 18, inputs=[("v0", INT16, [6, 8])], outputs=[(last, INT16, None)], tensors=tensors)
    converted = padops.convert(source, fold=False).proto()
    (body,) = converted.functions
    assert not any(node.op_type == "Pad" for outer in body.node for row in outer.attribute for node in row.g.node)
    data = np.arange(48, dtype=np.int16).reshape(6, 8)
    expected = data
    for i, mode in enumerate(modes):
        expected = reference.run("Pad_18", {"mode": mode}, [expected, np.array([1, 2, i, 3]), None, None])
    for level in roads.LEVELS:
        session = onnxruntime.InferenceSession(converted.SerializeToString(), roads.options(level))
        assert np.array_equal(session.run(None, {"v0": data})[0], expected)


def test_a_branch_that_is_not_taken_breaks_no_rule() -> None:
    """onnxruntime before 1.27 folds it as it loads the model, and fails where a Gather in it does."""
    inputs = [("x", FLOAT, [2, 3]), ("z", FLOAT, [2, 3])]
    nodes = [pad(["x", "p"], "y", mode="constant"), pad(["z", "q"], "w", mode="reflect")]
    tensors = [tensor("p", [-3, 0, 4, 0]), tensor("q", [0, 1, 0, 0])]
    source = model(nodes, 17, inputs=inputs, outputs=[("y", FLOAT, None), ("w", FLOAT, None)], tensors=tensors)
    converted = padops.convert(source, fold=False).proto()
    feeds = {name: np.arange(6, dtype=np.float32).reshape(2, 3) for name in ("x", "z")}
    for level in roads.LEVELS:
        session = onnxruntime.InferenceSession(converted.SerializeToString(), roads.options(level))
        assert [array.shape for array in session.run(None, feeds)] == [(3, 3), (2, 4)]
