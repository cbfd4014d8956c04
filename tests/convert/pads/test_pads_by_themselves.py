"""Operators that pad by themselves, in this ONNX Runtime: as the same operator without pads behind a Pad.

docs/converter.md says of each what padops does about it: mostly nothing, as they are right. A row that turns red is a
new fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ValueInfoProto, helper

import padops

PADS = [[1, 1, 1, 1], [1, 0, 0, 2], [0, 2, 1, 0]]
IMAGE = np.random.default_rng(0).standard_normal((1, 2, 7, 6)).astype(np.float32)


def model_of(op: str, feeds: dict[str, np.ndarray], opset: int, domain: str = "", **attributes: Any) -> Any:
    names = ["" if name.startswith("none") else name for name in feeds]
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
        if name in names
    ]
    outputs = ["y", "state"] if op == "CausalConvWithState" else ["y"]
    node = helper.make_node(op, names, outputs, domain=domain, **attributes)
    graph = helper.make_graph([node], "g", inputs, [ValueInfoProto(name="y")])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def run(op: str, feeds: dict[str, np.ndarray], opset: int = 22, domain: str = "", **attributes: Any) -> np.ndarray:
    message = model_of(op, feeds, opset, domain, **attributes)
    session = onnxruntime.InferenceSession(message.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {name: feeds[name] for name in (value.name for value in session.get_inputs())})[0]


def padded(data: np.ndarray, pads: Sequence[int], fill: Any = 0, first: int = 2) -> np.ndarray:
    rows = [(0, 0)] * first + [(pads[0], pads[2]), (pads[1], pads[3])]
    return np.pad(data, rows + [(0, 0)] * (data.ndim - len(rows)), constant_values=fill)


def assert_close(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_lp_pool_with_same_and_dilations_is_wrong_and_converted(auto_pad: str) -> None:
    source = model_of("LpPool", {"x": IMAGE}, 22, auto_pad=auto_pad, kernel_shape=[3, 3], dilations=[2, 2])
    (pad,) = padops.inspect(source).pads
    assert (pad.verdict, "as if there were no dilation" in pad.why) == ("wrong", True)
    assert run("LpPool", {"x": IMAGE}, auto_pad=auto_pad, kernel_shape=[3, 3], dilations=[2, 2]).shape[2:] == (5, 4)
    session = padops.InferenceSession(source.SerializeToString())
    wanted = run("LpPool", {"x": padded(IMAGE, [2, 2, 2, 2])}, kernel_shape=[3, 3], dilations=[2, 2])
    assert_close(session.run(None, {"x": IMAGE})[0], wanted)
