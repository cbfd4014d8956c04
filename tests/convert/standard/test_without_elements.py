"""``--without-pad`` makes an output without elements by a node: OpenVINO, tract and TVM misread such a constant."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import standard_models as standard
from onnx import helper
from onnx.reference import ReferenceEvaluator

import padops


def made(dtype: str, opset: int, mode: str = "constant", **options: bool) -> onnx.ModelProto:
    """A Pad of [2, 3] that leaves nothing of its second axis, lowered."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    named = {"mode": mode} | ({"pads": [1, 0, 0, -3]} if opset < 11 else {})
    node = helper.make_node("Pad", ["x"] if opset < 11 else ["x", "p"], ["y"], **named)
    x, y = (helper.make_tensor_value_info(name, element, dims) for name, dims in (("x", [2, 3]), ("y", [3, 0])))
    pads = [] if opset < 11 else [helper.make_tensor("p", onnx.TensorProto.INT64, [4], [1, 0, 0, -3])]
    graph = helper.make_graph([node], "g", [x], [y], pads)
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return padops.lower(source, fold=False, **options).proto()


@pytest.mark.parametrize("mode", ["constant", "edge"])
@pytest.mark.parametrize(("dtype", "opset"), [("float32", 18), ("uint32", 18), ("bool", 13), ("float64", 9)])
def test_a_node_makes_it(dtype: str, opset: int, mode: str) -> None:
    message = made(dtype, opset, mode, without_pad=True)
    assert [node.op_type for node in message.graph.node] == ["ConstantOfShape"]
    x = np.ones((2, 3), dtype)
    nothing = np.zeros((3, 0), dtype)
    assert standard.run(message, {"x": x}, standard.stock_options()) == standard.native.bits(nothing)
    (output,) = ReferenceEvaluator(message).run(None, {"x": x})
    assert (output.shape, output.dtype) == (nothing.shape, nothing.dtype)


def test_elsewhere_a_constant_does() -> None:
    """For onnxruntime itself, of strings, and at opsets that have no such operator."""
    for message in (
        made("float32", 18, "edge"),
        made("object", 18, without_pad=True),
        made("float32", 8, without_pad=True),
    ):
        assert [node.op_type for node in message.graph.node] == ["Constant"]
