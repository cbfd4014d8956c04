"""padops beside onnxslim: slim before or after converting, the bits are the same."""

from __future__ import annotations

from collections.abc import Callable

import native
import numpy as np
import onnx
import pytest
from onnx import parser

import padops

SOURCE = """
<ir_version: 8, opset_import: ["" : 17]> net (float[1, 2, 4, 6] x) => (float[1, 2, 14, 8] y)
<int64[8] pads = {0, 0, 5, 1, 0, 0, 5, 1}>
{ a = Identity (x) p = Pad <mode = "reflect"> (a, pads) b = Identity (p) y = Relu (b) }
"""


@pytest.fixture
def slim() -> Callable[[onnx.ModelProto], onnx.ModelProto]:
    """What loads sympy, which every process of a run would load where the file imported it."""
    import onnxslim

    return onnxslim.slim


def run(model: onnx.ModelProto) -> list[object]:
    x = np.random.default_rng(0).standard_normal((1, 2, 4, 6)).astype(np.float32)
    return native.bits(padops.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0])


@pytest.mark.parametrize("fallback", [True, False])
def test_before_and_after(fallback: bool, slim: Callable) -> None:
    source = parser.parse_model(SOURCE)
    expected = run(source)
    converted = padops.convert(source, fallback=fallback).proto()
    after = slim(converted)
    before = padops.convert(slim(source), fallback=fallback).proto()
    assert [node.op_type for node in before.graph.node] == ["Pad_13", "Relu"]
    assert run(before) == expected
    assert [node.op_type for node in after.graph.node if node.domain == "padops"] == ["Pad_13"]
    assert run(after) == expected


def test_lowered(slim: Callable) -> None:
    source = parser.parse_model(SOURCE)
    assert run(slim(padops.lower(source).proto())) == run(source)
