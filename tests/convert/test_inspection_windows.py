"""``padops.inspect`` agrees with the installed onnxruntime about convolutions and poolings that pad SAME."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from inspected_models import stock
from onnx import helper
from small_models import DOUBLE, FLOAT, HALF, UINT8, model
from test_inspection_verdicts import only_pad

import padops
from padops.runtime.provider import runtime_minor

# --- poolings that pad SAME
# --------------------------------------------------------------------------------------------

# Operator, type, opset, kernel, stride, dilation, size, and what is said of the last releases.
POOLINGS: list[tuple[str, int, int, int, int, int, int, str]] = [
    ("MaxPool", FLOAT, 12, 1, 2, 1, 6, "refuses"),
    ("MaxPool", DOUBLE, 12, 1, 2, 1, 6, "runs"),
    ("MaxPool", DOUBLE, 12, 1, 3, 1, 6, "wrong"),
    ("MaxPool", FLOAT, 12, 3, 2, 1, 6, "runs"),
    ("MaxPool", FLOAT, 12, 1, 1, 2, 6, "runs"),
    ("MaxPool", FLOAT, 12, 1, 2, 2, 6, "runs"),
    ("MaxPool", FLOAT, 12, 1, 3, 2, 6, "wrong"),
    ("MaxPool", FLOAT, 12, 2, 1, 2, 6, "wrong"),
    ("MaxPool", FLOAT, 12, 3, 1, 3, 3, "refuses"),
    ("AveragePool", FLOAT, 12, 1, 2, 1, 6, "refuses"),
    ("AveragePool", FLOAT, 19, 1, 3, 1, 5, "runs"),
    ("AveragePool", FLOAT, 19, 1, 3, 1, 6, "wrong"),
    ("AveragePool", FLOAT, 6, 2, 1, 1, 6, "refuses"),
    ("LpPool", FLOAT, 1, 2, 1, 1, 6, "refuses"),
    ("LpPool", FLOAT, 2, 2, 1, 1, 6, "runs"),
    ("LpPool", FLOAT, 18, 1, 2, 1, 6, "runs"),
]


@pytest.mark.skipif(runtime_minor() < 31, reason="older releases run what these refuse")
@pytest.mark.parametrize("row", POOLINGS, ids=str)
def test_same_of_poolings(row: tuple[str, int, int, int, int, int, int, str]) -> None:
    """A pooling of a known size is refused, wrong or right; of an open size it is not said to be wrong."""
    name, kind, opset, kernel, stride, dilation, size, verdict = row
    lists = {"kernel_shape": [kernel], "strides": [stride]} | ({"dilations": [dilation]} if dilation > 1 else {})
    pool = helper.make_node(name, ["x"], ["y"], auto_pad="SAME_UPPER", **lists)
    source = model([pool], opset, inputs=[("x", kind, [1, 1, size])], outputs=[("y", kind, None)])
    data = np.arange(1, size + 1).reshape(1, 1, -1).astype(np.float64 if kind == DOUBLE else np.float32)
    assert only_pad(source).verdict == verdict
    ran = stock(source, {"x": data})
    assert (ran is None) == (verdict == "refuses")
    if ran is not None:
        made = padops.convert(source, auto_pad="explicit").proto()
        right = padops.InferenceSession(made.SerializeToString()).run(None, {"x": data})
        assert np.array_equal(right[0], ran[0]) == (verdict == "runs")
    source.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "n"
    assert only_pad(source).verdict in ("runs", "may be wrong", "refuses" if opset < 7 else "")


@pytest.mark.skipif(runtime_minor() < 31, reason="older releases run what these refuse")
@pytest.mark.parametrize(
    ("name", "kernel", "stride", "size"), [("MaxPool", 3, 4, 12), ("AveragePool", 1, 5, 7)], ids=["dilation", "crop"]
)
def test_same_of_poolings_that_round_up(name: str, kernel: int, stride: int, size: int) -> None:
    """ceil_mode rounds the size of the output up, and takes another kernel: what was known of the others is not."""
    more = {"dilations": [2]} if name == "MaxPool" else {"count_include_pad": 1}
    found = []
    for rounding in (0, 1):
        pool = helper.make_node(name, ["x"], ["y"], kernel_shape=[kernel], strides=[stride], auto_pad="SAME_UPPER",
                                ceil_mode=rounding, **more)  # fmt: skip
        source = model([pool], 12, inputs=[("x", FLOAT, [1, 1, size])], outputs=[("y", FLOAT, None)])
        data = np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, -1)
        made = padops.convert(source, auto_pad="explicit").proto()
        right = padops.InferenceSession(made.SerializeToString()).run(None, {"x": data})
        ran = stock(source, {"x": data})
        said = "refuses" if ran is None else "runs" if np.array_equal(ran[0], right[0]) else "wrong"
        found.append((said, only_pad(source).verdict))
    assert found[0][0] == found[0][1] in ("refuses", "wrong")
    assert found[1] == ("runs", "may be wrong")


# Operators that ONNX Runtime lacks for some types: the last opset without, and the size of the data.
LACKING = [
    ("Conv", DOUBLE, 22, 4), ("ConvTranspose", DOUBLE, 13, "n"), ("Conv", HALF, 5, "n"), ("MaxPool", DOUBLE, 7, "n"),
    ("MaxPool", UINT8, 11, 4), ("AveragePool", DOUBLE, 19, 4), ("AveragePool", FLOAT, 6, "n"),
    ("AveragePool", HALF, 6, 4), ("LpPool", DOUBLE, 18, "n"), ("LpPool", HALF, 5, 4), ("LpPool", FLOAT, 1, "n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "opset", "size"), LACKING, ids=str)
def test_same_of_operators_that_are_not_there(name: str, kind: int, opset: int, size: int | str) -> None:
    """No road makes such a node run, and none is named; another provider may have it."""
    inputs, attributes, tensors = ["x"], {"kernel_shape": [2]}, []
    if name.startswith("Conv"):
        inputs, tensors = ["x", "w"], [helper.make_tensor("w", kind, [1, 1, 2], [1.0, 1.0])]
    node = helper.make_node(name, inputs, ["y"], auto_pad="SAME_UPPER", **attributes)
    for version in (opset, opset + 1):
        source = model(
            [node], version, inputs=[("x", kind, [1, 1, size])], tensors=tensors, outputs=[("y", kind, None)]
        )
        data = np.ones((1, 1, 4), helper.tensor_dtype_to_np_dtype(kind))
        facts = only_pad(source)
        assert (stock(source, {"x": data}) is None) == (facts.verdict == "refuses") == (facts.verdict != "runs"), (
            version
        )
        if facts.verdict == "refuses":
            assert facts.why.startswith(f"ONNX Runtime has no {name} of ")
            assert facts.roads == ()
            assert not any("is refused" in note for note in padops.convert(source).notes)
            (other,) = padops.inspect(source, providers=["CUDAExecutionProvider"]).pads
            assert other.verdict == "runs"
        if version == opset:
            assert facts.verdict == "refuses"


# Stride, size, and what is said; the window has one element.
CONVOLUTIONS = [(3, 6, "SAME_UPPER", "runs"), (4, 7, "SAME_UPPER", "runs"), (4, 8, "SAME_UPPER", "wrong"),
                (4, 8, "SAME_LOWER", "runs"), (5, 10, "SAME_LOWER", "wrong")]  # fmt: skip


@pytest.mark.parametrize(("stride", "size", "mode", "verdict"), CONVOLUTIONS)
@pytest.mark.parametrize("name", ["Conv", "ConvInteger"])
def test_same_of_convolutions(name: str, stride: int, size: int, mode: str, verdict: str) -> None:
    """A stride that is much longer than the window begins behind the first element; of an open size it may be."""
    kind, dtype, out = (
        (FLOAT, np.float32, FLOAT) if name == "Conv" else (onnx.TensorProto.UINT8, np.uint8, onnx.TensorProto.INT32)
    )
    node = helper.make_node(name, ["x", "w"], ["y"], auto_pad=mode, kernel_shape=[1], strides=[stride])
    weight = helper.make_tensor("w", kind, [1, 1, 1], [1])
    source = model([node], 13, inputs=[("x", kind, [1, 1, size])], tensors=[weight], outputs=[("y", out, None)])
    data = np.arange(1, size + 1, dtype=dtype).reshape(1, 1, -1)
    assert only_pad(source).verdict == verdict
    made = padops.convert(source, auto_pad="explicit", verify=True)
    (right,) = padops.InferenceSession(made.proto().SerializeToString()).run(None, {"x": data})
    assert right.ravel().tolist() == list(range(1, size + 1, stride))
    assert np.array_equal(right, stock(source, {"x": data})[0]) == (verdict == "runs")
    source.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "n"
    assert only_pad(source).verdict == ("may be wrong" if stride - 1 >= 3 + (mode == "SAME_LOWER") else "runs")


@pytest.mark.parametrize(("dims", "verdict"), [([8, "n"], "wrong"), (["n", 8], "wrong"), (["n", 7], "may be wrong")])
def test_same_of_a_convolution_with_one_size_known(dims: list[int | str], verdict: str) -> None:
    """One axis that is surely shifted decides; one that is surely not shifted leaves the other in doubt."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER", kernel_shape=[1, 1], strides=[4, 4])
    weight = helper.make_tensor("w", FLOAT, [1, 1, 1, 1], [1.0])
    assert only_pad(model([node], 13, inputs=[("x", FLOAT, [1, 1, *dims])], tensors=[weight])).verdict == verdict
