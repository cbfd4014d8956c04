"""``padops.inspect`` agrees with the installed onnxruntime about convolutions and poolings that pad SAME."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from inspected_models import stock
from onnx import helper
from small_models import DOUBLE, FLOAT, HALF, INT32, UINT8, model
from test_inspection_verdicts import only_pad

import padops
from padops.runtime.provider import runtime_minor

of_last_releases = pytest.mark.skipif(runtime_minor() < 31, reason="older releases run what these refuse")


def window(name: str, opset: int, dims: Sequence[int | str], kernel: Any, kind: int = FLOAT, **more: Any) -> Any:
    """A model of one window operator that pads SAME_UPPER; the weights of a convolution are ones."""
    attributes = {"auto_pad": "SAME_UPPER", "kernel_shape": kernel} | more
    held = [helper.make_tensor("w", kind, [1, 1, *kernel], np.ones(kernel))] if name.startswith("Conv") else []
    node = helper.make_node(name, ["x", "w"] if held else ["x"], ["y"], **attributes)
    ends = {"inputs": [("x", kind, [1, 1, *dims])], "outputs": [("y", INT32 if name == "ConvInteger" else kind, None)]}
    return model([node], opset, tensors=held, **ends)


def what_it_does(source: onnx.ModelProto) -> str:
    """What onnxruntime does with data of the declared dims, as ``inspect`` would say."""
    kind = source.graph.input[0].type.tensor_type
    dims = [dim.dim_value for dim in kind.shape.dim]
    data = np.arange(1, 1 + np.prod(dims)).reshape(dims).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    if (ran := stock(source, {"x": data})) is None:
        return "refuses"
    right = padops.InferenceSession(padops.convert(source, auto_pad="explicit").proto().SerializeToString())
    return "runs" if np.array_equal(right.run(None, {"x": data})[0], ran[0]) else "wrong"


def opened(source: onnx.ModelProto) -> str:
    """The verdict where the last dim is open."""
    source.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "n"
    return only_pad(source).verdict


# Operator, type, opset, kernel, stride, dilation, size, and what is said of the last releases.
POOLINGS = [
    ("MaxPool", FLOAT, 12, 1, 2, 1, 6, "refuses"),
    ("MaxPool", DOUBLE, 12, 1, 2, 1, 6, "runs"),
    ("MaxPool", DOUBLE, 12, 1, 3, 1, 6, "wrong"),
    ("MaxPool", FLOAT, 12, 3, 2, 1, 6, "runs"),
    ("MaxPool", FLOAT, 12, 1, 1, 2, 6, "runs"),
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


@of_last_releases
def test_same_of_poolings() -> None:
    """A pooling of a known size is refused, wrong or right; of an open size it is not said to be wrong."""
    for name, kind, opset, kernel, stride, dilation, size, verdict in POOLINGS:
        more = {"strides": [stride]} | ({"dilations": [dilation]} if dilation > 1 else {})
        source = window(name, opset, [size], [kernel], kind, **more)
        assert (only_pad(source).verdict, what_it_does(source)) == (verdict, verdict), (name, opset, kernel, stride)
        assert opened(source) in ("runs", "may be wrong", "refuses" if opset < 7 else "")


@of_last_releases
def test_same_of_poolings_that_round_up() -> None:
    """ceil_mode rounds the size of the output up, and takes another kernel: what was known of the others is not."""
    for name, kernel, stride, size, more in (
        ("MaxPool", 3, 4, 12, {"dilations": [2]}),
        ("AveragePool", 1, 5, 7, {"count_include_pad": 1}),
    ):
        sources = [window(name, 12, [size], [kernel], strides=[stride], ceil_mode=up, **more) for up in (0, 1)]
        assert what_it_does(sources[0]) == only_pad(sources[0]).verdict in ("refuses", "wrong")
        assert (what_it_does(sources[1]), only_pad(sources[1]).verdict) == ("runs", "may be wrong")


# Operators that ONNX Runtime lacks for some types: the last opset without, and the size of the data.
LACKING = [
    ("Conv", DOUBLE, 22, 4), ("ConvTranspose", DOUBLE, 13, "n"), ("Conv", HALF, 5, "n"), ("MaxPool", DOUBLE, 7, "n"),
    ("MaxPool", UINT8, 11, 4), ("AveragePool", DOUBLE, 19, 4), ("AveragePool", FLOAT, 6, "n"),
    ("AveragePool", HALF, 6, 4), ("LpPool", DOUBLE, 18, "n"), ("LpPool", HALF, 5, 4), ("LpPool", FLOAT, 1, "n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "opset", "size"), LACKING, ids=str)
def test_same_of_operators_that_are_not_there(name: str, kind: int, opset: int, size: int | str) -> None:
    """No road makes such a node run, and none is named; another provider may have it."""
    for version in (opset, opset + 1):
        source = window(name, version, [size], [2], kind)
        facts = only_pad(source)
        refused = stock(source, {"x": np.ones((1, 1, 4), helper.tensor_dtype_to_np_dtype(kind))}) is None
        assert refused == (facts.verdict == "refuses") == (facts.verdict != "runs") and (refused or version > opset)
        if refused:
            assert facts.why.startswith(f"ONNX Runtime has no {name} of ") and facts.roads == ()
            assert not any("is refused" in note for note in padops.convert(source).notes)
            assert padops.inspect(source, providers=["CUDAExecutionProvider"]).pads[0].verdict == "runs"


# Stride, size, and what is said; the window has one element.
CONVOLUTIONS = [(3, 6, "SAME_UPPER", "runs"), (4, 7, "SAME_UPPER", "runs"), (4, 8, "SAME_UPPER", "wrong"),
                (4, 8, "SAME_LOWER", "runs"), (5, 10, "SAME_LOWER", "wrong")]  # fmt: skip


@pytest.mark.parametrize("name", ["Conv", "ConvInteger"])
def test_same_of_convolutions(name: str) -> None:
    """A stride that is much longer than the window begins behind the first element; of an open size it may be."""
    for stride, size, mode, verdict in CONVOLUTIONS:
        kind = FLOAT if name == "Conv" else UINT8
        source = window(name, 13, [size], [1], kind, auto_pad=mode, strides=[stride])
        assert (only_pad(source).verdict, what_it_does(source)) == (verdict, verdict), (stride, size, mode)
        assert opened(source) == ("may be wrong" if stride - 1 >= 3 + (mode == "SAME_LOWER") else "runs")


@pytest.mark.parametrize(("dims", "verdict"), [([8, "n"], "wrong"), (["n", 8], "wrong"), (["n", 7], "may be wrong")])
def test_same_of_a_convolution_with_one_size_known(dims: list[int | str], verdict: str) -> None:
    """One axis that is surely shifted decides; one that is surely not shifted leaves the other in doubt."""
    assert only_pad(window("Conv", 13, dims, [1, 1], strides=[4, 4])).verdict == verdict
