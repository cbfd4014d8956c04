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
from onnx import ValueInfoProto, defs, helper

import padops

PADS = [[1, 1, 1, 1], [1, 0, 0, 2], [0, 2, 1, 0]]
IMAGE = np.random.default_rng(0).standard_normal((1, 2, 7, 6)).astype(np.float32)
WINDOW = {"strides": [2, 1], "dilations": [1, 2], "kernel_shape": [3, 3]}


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


@pytest.mark.parametrize("pads", PADS, ids=str)
@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(p: int, pads: list[int]) -> None:
    found = run("LpPool", {"x": IMAGE}, pads=pads, p=p, **WINDOW)
    assert_close(found, run("LpPool", {"x": padded(IMAGE, pads)}, p=p, **WINDOW))


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_lp_pool_with_same_and_dilations_is_wrong_and_converted(auto_pad: str) -> None:
    source = model_of("LpPool", {"x": IMAGE}, 22, auto_pad=auto_pad, kernel_shape=[3, 3], dilations=[2, 2])
    (pad,) = padops.inspect(source).pads
    assert (pad.verdict, "as if there were no dilation" in pad.why) == ("wrong", True)
    assert run("LpPool", {"x": IMAGE}, auto_pad=auto_pad, kernel_shape=[3, 3], dilations=[2, 2]).shape[2:] == (5, 4)
    session = padops.InferenceSession(source.SerializeToString())
    wanted = run("LpPool", {"x": padded(IMAGE, [2, 2, 2, 2])}, kernel_shape=[3, 3], dilations=[2, 2])
    assert_close(session.run(None, {"x": IMAGE})[0], wanted)


@pytest.mark.parametrize("pads", PADS, ids=str)
def test_deform_conv(pads: list[int]) -> None:
    numbers = np.random.default_rng(1)
    weight = numbers.standard_normal((2, 2, 3, 3)).astype(np.float32)
    dims = [(7 + pads[0] + pads[2] - 3) // 2 + 1, 6 + pads[1] + pads[3] - 4]
    more = {"w": weight, "o": 1.5 * numbers.standard_normal((1, 18, *dims)).astype(np.float32)}
    found = run("DeformConv", {"x": IMAGE} | more, pads=pads, **WINDOW)
    assert_close(found, run("DeformConv", {"x": padded(IMAGE, pads)} | more, pads=[0] * 4, **WINDOW))


@pytest.mark.parametrize("pads", PADS, ids=str)
def test_col2im_crops(pads: list[int]) -> None:
    count = ((7 + pads[0] + pads[2] - 3) // 2 + 1) * (6 + pads[1] + pads[3] - 4)
    columns = np.random.default_rng(2).standard_normal((1, 18, count)).astype(np.float32)
    options = {"strides": [2, 1], "dilations": [1, 2]}
    block, dims = np.array([3, 3]), np.array([7, 6])
    found = run("Col2Im", {"x": columns, "d": dims, "b": block}, pads=pads, **options)
    whole = run("Col2Im", {"x": columns, "d": dims + np.array(pads).reshape(2, 2).sum(axis=0), "b": block}, **options)
    assert_close(found, whole[:, :, pads[0] : pads[0] + 7, pads[1] : pads[1] + 6])


@pytest.mark.skipif(defs.onnx_opset_version() < 27, reason="this onnx does not have the operator")
@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_causal_convolution(domain: str) -> None:
    numbers = np.random.default_rng(3)
    data, past = (numbers.standard_normal((2, 3, count)).astype(np.float32) for count in (8, 3))
    weight = numbers.standard_normal((3, 1, 4)).astype(np.float32)
    for before in (None, past):
        more = {} if before is None else {"none": np.zeros(0), "past": before}
        found = run("CausalConvWithState", {"x": data, "w": weight} | more, 27, domain)
        filled = np.concatenate([np.zeros_like(past) if before is None else before, data], axis=2)
        assert_close(found, run("Conv", {"x": filled, "w": weight}, group=3))


@pytest.mark.parametrize("pads", PADS, ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_forms_with_the_channels_last(dtype: type, pads: list[int]) -> None:
    numbers, ends = np.random.default_rng(4), np.iinfo(dtype)
    data = numbers.integers(ends.min, ends.max, (1, 7, 6, 2)).astype(dtype)
    found = run("NhwcMaxPool", {"x": data}, domain="com.microsoft", pads=pads, kernel_shape=[3, 3])
    lowest = padded(data, pads, ends.min, first=1)
    assert_close(found, run("NhwcMaxPool", {"x": lowest}, domain="com.microsoft", kernel_shape=[3, 3]))
    filled = padded(data, pads, 3, first=1)  # with the zero point
    one, zero = np.array(0.5, np.float32), np.array(3, dtype)
    average = {"s": one, "z": zero, "s2": one, "z2": zero}
    options = {"domain": "com.microsoft", "channels_last": 1, "kernel_shape": [3, 3], "count_include_pad": 1}
    wanted = run("QLinearAveragePool", {"x": filled} | average, **options)
    assert_close(run("QLinearAveragePool", {"x": data} | average, pads=pads, **options), wanted)
    weight = numbers.integers(-9, 9, (4, 2, 3, 3)).astype(np.int8)
    rest = {"s": one, "z": zero, "w": weight, "s1": one, "z1": np.array(0, np.int8), "s2": np.array(8, np.float32),
            "z2": zero}  # fmt: skip
    options = {"domain": "com.microsoft", "channels_last": 1}
    assert_close(
        run("QLinearConv", {"x": data} | rest, pads=pads, **options),
        run("QLinearConv", {"x": filled} | rest, **options),
    )
