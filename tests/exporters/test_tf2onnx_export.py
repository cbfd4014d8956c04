"""What tf2onnx really exports from TensorFlow: converted, run in ONNX Runtime, and compared with TensorFlow itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Before TensorFlow is imported: it tells about processors and devices on the standard error.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import native
import numpy as np
import onnx
import pytest
import tensorflow as tf
import tf2onnx
from onnx import helper

import padops

DOMAIN = "of.tensorflow"
CUSTOM = {"custom_ops": dict.fromkeys(("MirrorPad", "PadV2", "Pad"), DOMAIN),
          "extra_opset": [helper.make_opsetid(DOMAIN, 1)]}  # fmt: skip
ROWS = [[2, 3], [0, 1]]
OP = "OpenVINOPad_12"


def export(function: Callable, *specs: tf.TensorSpec, **options: Any) -> tuple[onnx.ModelProto, Callable]:
    """The exported model, and TensorFlow's own function."""
    traced = tf.function(function, input_signature=specs)
    return tf2onnx.convert.from_function(traced, input_signature=specs, **{"opset": 18, **options})[0], traced


def spec(name: str, dtype: tf.DType, *dims: int | None) -> tf.TensorSpec:
    return tf.TensorSpec(dims, dtype, name=name)


def assert_same(
    conversion: padops.Conversion, function: Callable, *feeds: np.ndarray, records: Sequence[str] | None = None
) -> None:
    """What was converted gives TensorFlow's bits; its Pads have become these operators."""
    session = native.session(conversion.proto())
    found = session.run(None, dict(zip([i.name for i in session.get_inputs()], feeds, strict=True)))[0]
    wanted = function(*map(tf.constant, feeds)).numpy()
    if wanted.dtype == object:
        wanted = np.array([item.decode() for item in wanted.reshape(-1)], object).reshape(wanted.shape)
    assert native.bits(found) == native.bits(wanted)
    assert records is None or [record.op_type for record in conversion.records] == records


def data_of(dtype: tf.DType, *shape: int) -> np.ndarray:
    if dtype == tf.string:
        return np.array([f"w{i}" for i in range(np.prod(shape))], object).reshape(shape)
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype.as_numpy_dtype)


# --- custom nodes ----------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable] = {"SYMMETRIC": lambda x: tf.pad(x, ROWS, mode="SYMMETRIC"),
                                  "REFLECT": lambda x: tf.pad(x, ROWS, mode="REFLECT"),
                                  "Pad": lambda x: tf.pad(x, ROWS),
                                  "Pad of int64": lambda x: tf.pad(x, tf.constant(ROWS, tf.int64))}  # fmt: skip
FILLS = {tf.float32: -np.inf, tf.int16: -7, tf.uint8: 255, tf.bool: True, tf.string: "fill", tf.float16: 0.1}
# Every node of float, and PadV2, which has a fill, of each type.
CUSTOM_NODES = [*((name, tf.float32) for name in FUNCTIONS), *(("PadV2", dtype) for dtype in FILLS)]


@pytest.mark.parametrize(("name", "dtype"), CUSTOM_NODES, ids=str)
def test_custom_nodes(name: str, dtype: tf.DType) -> None:
    pad_v2 = lambda x: tf.raw_ops.PadV2(input=x, paddings=ROWS, constant_values=tf.constant(FILLS[dtype], dtype))
    message, traced = export(FUNCTIONS.get(name, pad_v2), spec("x", dtype, 5, 6), **CUSTOM)
    assert {node.domain for node in message.graph.node} == {DOMAIN}
    assert_same(padops.convert(message, custom_domains=[DOMAIN]), traced, data_of(dtype, 5, 6), records=[OP])


@pytest.mark.parametrize(
    ("mode", "dtype"), [("CONSTANT", tf.int64), ("REFLECT", tf.int32), ("SYMMETRIC", tf.int32)], ids=str
)
def test_paddings_and_fill_at_run_time(mode: str, dtype: tf.DType) -> None:
    def function(x: tf.Tensor, paddings: tf.Tensor, fill: tf.Tensor) -> tf.Tensor:
        if mode == "CONSTANT":
            return tf.pad(x, paddings, constant_values=fill)
        return tf.pad(x, paddings, mode=mode) + fill

    specs = spec("x", tf.float32, None, None), spec("p", dtype, 2, 2), spec("v", tf.float32)
    message, traced = export(function, *specs, **CUSTOM)
    converted = padops.convert(message, custom_domains=[DOMAIN])
    for rows in (ROWS, [[0, 0], [0, 0]], [[4, 4], [1, 5]]):
        feeds = np.array(rows, dtype.as_numpy_dtype), np.array(2.5, np.float32)
        assert_same(converted, traced, data_of(tf.float32, 5, 6), *feeds)


def test_branches_and_loops() -> None:
    """In the branches of an If, all nodes come out in the default domain."""

    def function(x: tf.Tensor, paddings: tf.Tensor) -> tf.Tensor:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.pad(x, paddings),
                       lambda: tf.pad(tf.pad(x, ROWS, mode="SYMMETRIC"), ROWS, constant_values=3.0))  # fmt: skip

    specs, data = (spec("x", tf.float32, 5, 6), spec("p", tf.int32, 2, 2)), data_of(tf.float32, 5, 6)
    message, traced = export(function, *specs, **CUSTOM)
    branches = [a.g for node in message.graph.node if node.op_type == "If" for a in node.attribute]
    domains = [(node.op_type, node.domain) for branch in branches for node in branch.node]
    assert sorted(domains) == [("MirrorPad", ""), ("Pad", ""), ("PadV2", "")]
    conversion = padops.convert(message, custom_domains=[DOMAIN])
    for sign in (1, -1):
        assert_same(conversion, traced, sign * data, np.array(ROWS, np.int32), records=[OP] * 3)

    def loop(x: tf.Tensor) -> tf.Tensor:
        shapes = [tf.TensorShape([]), tf.TensorShape([None, None])]
        grow = lambda i, y: (i + 1, tf.pad(y, [[0, 0], [1, 2]], mode="SYMMETRIC"))
        return tf.while_loop(lambda i, y: i < 3, grow, [tf.constant(0), x], shape_invariants=shapes)[1]

    message, traced = export(loop, specs[0], **CUSTOM)
    assert_same(padops.convert(message, custom_domains=[DOMAIN]), traced, data, records=[OP])


# --- the emulation ---------------------------------------------------------------------------------------------------

EMULATED: list[tuple[Sequence[Sequence[int]], tf.DType, Sequence[int | None]]] = [
    ([[2, 3]], tf.float32, [8]),
    ([[2, 3]], tf.float32, [None]),
    ([[2, 3], [0, 1]], tf.int32, [5, 6]),
    ([[0, 0], [2, 1], [1, 1]], tf.float64, [None, None, None]),
    ([[0, 0], [1, 1], [2, 3], [0, 0]], tf.float32, [1, None, None, 3]),
    ([[1, 1], [1, 1], [1, 1], [1, 1]], tf.uint8, [2, 3, 4, 5]),
]
# The first row in every opset, the others in one.
EMULATIONS = [*((EMULATED[0], opset) for opset in (9, 11, 13)), *((row, 18) for row in EMULATED)]


@pytest.mark.parametrize(("row", "opset"), EMULATIONS, ids=str)
def test_emulation(row: tuple, opset: int) -> None:
    rows, dtype, shape = row
    function = lambda x: tf.pad(x, rows, mode="SYMMETRIC")
    message, traced = export(function, spec("x", dtype, *shape), opset=opset)
    assert "Compress" in [node.op_type for node in message.graph.node]
    conversion = padops.convert(message)
    assert [record.form for record in conversion.records] == ["symmetric emulation of tf2onnx"] * 2
    assert [node.op_type for node in conversion.proto().graph.node if node.op_type != "Cast"] == [OP]
    assert_same(conversion, traced, data_of(dtype, *(5 if dim is None else dim for dim in shape)))


def test_emulations_around_a_convolution() -> None:
    """Two of them share constants; the second has tf2onnx's Transpose to channels last inside."""

    def function(x: tf.Tensor) -> tf.Tensor:
        rows = [[0, 0], [1, 1], [1, 1], [0, 0]]
        y = tf.nn.conv2d(tf.pad(x, rows, mode="SYMMETRIC"), tf.ones([3, 3, 2, 2]), 1, "VALID")
        return tf.pad(y, rows, mode="SYMMETRIC")

    message, traced = export(function, spec("x", tf.float32, 1, None, None, 2))
    conversion = padops.convert(message)
    assert len(conversion.records) == 4
    assert "Gather" in [node.op_type for node in message.graph.node]
    ops = [node.op_type for node in conversion.proto().graph.node]
    assert ops == [OP, "Transpose", "Conv", OP, "Transpose"]
    assert_same(conversion, traced, data_of(tf.float32, 1, 6, 7, 2))
    # An emulation whose paddings come at run time stays.
    specs = spec("x", tf.float32, None, None), spec("p", tf.int32, 2, 2)
    message, traced = export(lambda x, p: tf.pad(x, p, mode="SYMMETRIC"), *specs)
    feeds = data_of(tf.float32, 5, 6), np.array(ROWS, np.int32)
    assert_same(padops.convert(message), traced, *feeds, records=["Pad_18"] * 2)


# --- SAME ------------------------------------------------------------------------------------------------------------

WEIGHTS = np.random.default_rng(0).integers(-3, 4, (3, 3, 2, 4)).astype(np.float32)
SAME: dict[str, tuple[Callable, str]] = {
    "convolution": (lambda x: tf.nn.conv2d(x, WEIGHTS, 2, "SAME"), "SamePad_1"),
    "dilated": (lambda x: tf.nn.conv2d(x, WEIGHTS, 1, "SAME", dilations=2), "explicit pads"),
    "depthwise": (lambda x: tf.nn.depthwise_conv2d(x, WEIGHTS, [1, 2, 2, 1], "SAME"), "SamePad_1"),
    "stride above kernel": (lambda x: tf.nn.conv2d(x, WEIGHTS[:2, :2], 3, "SAME"), "explicit pads"),
    "greatest": (lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), "explicit pads"),
    "greatest, stride above kernel": (lambda x: tf.nn.max_pool2d(x, 1, 3, "SAME"), "explicit pads"),
    "average": (lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), "explicit pads"),
    "average, stride above kernel": (lambda x: tf.nn.avg_pool2d(x, 1, 3, "SAME"), "explicit pads"),
}


@pytest.mark.parametrize("name", SAME)
def test_same(name: str) -> None:
    """Small integers: every sum is exact, whoever makes it."""
    function, op_type = SAME[name]
    message, traced = export(function, spec("x", tf.float32, 1, None, None, 2))
    conversion = padops.convert(message, auto_pad="explicit")
    for size in [(7, 8), (8, 9), (9, 7)]:
        assert_same(conversion, traced, data_of(tf.float32, 1, *size, 2) % 7 - 3, records=[op_type])


@pytest.mark.parametrize(
    ("name", "more"), [("Pad", {}), ("PadV2", {"constant_values": 1.5}), ("MirrorPad", {"mode": "SYMMETRIC"})]
)
def test_tensorflow_lite(name: str, more: dict[str, Any], tmp_path: Path) -> None:
    traced = tf.function(lambda x: tf.pad(x, ROWS, **more), input_signature=[spec("x", tf.float32, 5, 6)])
    lite = tf.lite.TFLiteConverter.from_concrete_functions([traced.get_concrete_function()], traced).convert()
    (tmp_path / "m.tflite").write_bytes(lite)
    message, _ = tf2onnx.convert.from_tflite(str(tmp_path / "m.tflite"), opset=18, **CUSTOM)
    assert [(node.domain, node.op_type) for node in message.graph.node] == [(DOMAIN, name)]
    assert_same(padops.convert(message, custom_domains=[DOMAIN]), traced, data_of(tf.float32, 5, 6))
