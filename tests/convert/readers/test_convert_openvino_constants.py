"""Layers of IRs that compute with constants alone: computed at the conversion, to OpenVINO's bits."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from native import bits
from openvino import opset12
from openvino import opset13 as op
from openvino_irs import (
    Build,
    constant,
    converted_outputs,
    f,
    i,
    layer,
    openvino_outputs,
    parameter,
    refusal,
    save,
)

import padops
from padops.convert import ir

GROUPS = 400
IMAGE = (1, GROUPS, 2, 3)
WEIGHTS = (GROUPS, 1, 1, 1, 1)  # more bytes than a small constant has; and each product is alone in its sum


def halves(*shape: int) -> openvino.Node:
    return constant(np.random.default_rng(5).standard_normal(shape), np.float16)


def convolution(x: openvino.Node, weights: openvino.Node) -> openvino.Node:
    return op.group_convolution(x, weights, [1, 1], *[[0, 0]] * 2, [1, 1])


def grouped(weights: openvino.Node) -> openvino.Node:
    """As a network of PyTorch has it: the number of groups before the others."""
    first, others = op.variadic_split(op.shape_of(weights), constant(0, np.int64), i(1, -1)).outputs()
    return op.reshape(weights, op.concat([op.divide(first, i(1)), i(1), others], 0), False)


def long_chain(x: openvino.Node) -> openvino.Node:
    amount = i(1)
    for _ in range(200):
        amount = op.add(amount, i(1))
    return opset12.pad(x, amount, i(0), "edge")


def eight_bits() -> openvino.Node:
    numbers = constant(np.random.default_rng(6).integers(-128, 128, WEIGHTS), np.int8)
    return op.multiply(op.subtract(op.convert(numbers, "f32"), f(*WEIGHTS)), f(1))


# What computes WEIGHTS; the first is what OpenVINO makes of a depthwise convolution of TensorFlow Lite.
CHAINS = {
    "transpose of unsqueeze of convert": lambda: op.transpose(
        op.unsqueeze(op.convert(halves(1, 1, 1, GROUPS), "f32"), i(0)), i(4, 0, 1, 2, 3)
    ),
    "squeeze": lambda: op.squeeze(f(*WEIGHTS, 1), i(-1)),
    "reshape with a special zero": lambda: op.reshape(f(GROUPS, 1), i(0, 0, 1, -1, 1), True),
    "reshape to dims of its own": lambda: grouped(f(GROUPS, 1, 1, 1)),
    "integers of 8 bits": eight_bits,
}
# Builders by name, each with the data's shape and type, and the operators that are left.
CASES: dict[str, tuple[Build, tuple[int, ...], type, list[str]]] = {
    **{name: (lambda x, made=made: convolution(x, made()), IMAGE, np.float32, ["Conv"])
       for name, made in CHAINS.items()},
    "amounts": (lambda x: opset12.pad(x, op.squeeze(op.convert(constant([[1, 2]], np.int32), "i64"), i(0)), i(0, 1),
                                      "edge"), (2, 3), np.float32, ["OpenVINOPad_12"]),
    "a long chain": (long_chain, (1,), np.float32, ["OpenVINOPad_12"]),
    "what loses something and no rule reads": (lambda x: op.add(x, op.convert(
        constant([1.5, -2.5, 3], np.float32), "i32")), (3,), np.int32, ["Cast", "Add"]),
    "a product that is larger than its factors": (lambda x: op.add(x, op.multiply(f(3, 1), f(1, 3))), (1,), np.float32,
                                                  ["Mul", "Add"]),
    "a remainder, which has no rule": (lambda x: op.add(x, op.floor_mod(
        constant([[7, -8, 9]], np.int32), constant(5, np.int32))), (2, 3), np.int32, ["Add"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_computed(tmp_path: Path, name: str) -> None:
    build, shape, type, operators = CASES[name]
    path = layer(tmp_path / "m.xml", build, shape, type)
    proto = padops.convert(path, fallback=False).proto()
    assert [node.op_type for node in proto.graph.node] == operators
    data = np.random.default_rng(3).standard_normal(shape).astype(type)
    assert bits(converted_outputs(proto, [data])[0]) == bits(openvino_outputs(path, [data])[0])


def test_half_precision_stays(tmp_path):
    """Of sums, which OpenVINO's CPU device computes in float, and of weights, which are half as large."""
    total = op.convert(op.add(halves(*WEIGHTS), halves(1, 1, 1, 1, 1)), "f32")
    path = layer(tmp_path / "sum.xml", lambda x: convolution(x, total), IMAGE)
    assert [node.op_type for node in padops.convert(path).proto().graph.node] == ["Add", "Cast", "Reshape", "Conv"]
    weights = op.convert(halves(32, 32, 1, 1), "f32")
    build = lambda x: op.convolution(x, weights, [1, 1], *[[0, 0]] * 2, [1, 1])
    proto = padops.convert(layer(tmp_path / "m.xml", build, (1, 32, 2, 2))).proto()
    assert [tensor.data_type for tensor in proto.graph.initializer] == [onnx.TensorProto.FLOAT16]


@pytest.mark.parametrize("is_input", [False, True])
def test_a_value_that_others_read_or_give(tmp_path: Path, is_input: bool) -> None:
    x, given = parameter(IMAGE), parameter((1, *WEIGHTS), name="w") if is_input else f(1, *WEIGHTS)
    weights = op.squeeze(given, i(0))
    results = [convolution(x, weights), op.reshape(weights, i(-1), False)]
    path = save(tmp_path / "m.xml", results, [x, given] if is_input else [x])
    data = [np.random.default_rng(3).standard_normal(shape).astype(np.float32) for shape in (IMAGE, (1, *WEIGHTS))]
    data = data[: 1 + is_input]
    found, wanted = converted_outputs(padops.convert(path).proto(), data), openvino_outputs(path, data)
    assert [bits(one) for one in found] == [bits(one) for one in wanted]


def test_a_layer_that_contradicts_the_ir_is_left_to_the_check(tmp_path):
    path = layer(tmp_path / "m.xml", lambda x: op.add(x, op.unsqueeze(f(3), i(0))), (2, 3))
    text, weights = path.read_text(), path.with_suffix(".bin")
    wrong = re.sub(r"(type=\"Unsqueeze\".*?<output>.*?<dim>)1(</dim>)", r"\g<1>2\2", text, flags=re.DOTALL)
    assert wrong != text
    path.write_text(wrong)
    assert "is not a valid model of these shapes" in refusal(path)
    path.write_text(text)
    weights.write_bytes(weights.read_bytes().replace(bytes(8), np.int64(-9).tobytes()))  # the axis
    assert "is not a valid model of these shapes" in refusal(path)


def test_a_refused_ir_keeps_its_constants(tmp_path):
    moved = lambda x: op.pad(op.transpose(x, i(1, 0)), i(0, 1), i(0, 1), "reflect")
    path = layer(tmp_path / "m.xml", moved, (4, 4))
    wrong = re.sub(r"(type=\"Transpose\".*?<output>.*?<dim>)4(</dim>)", r"\g<1>5\2", path.read_text(), flags=re.DOTALL)
    path.write_text(wrong)
    assert "is not a valid model of these shapes" in refusal(path)
    (pad,) = padops.inspect(path).pads
    assert (pad.mode, pad.amounts) == ("reflect", ((0, 0), (1, 1)))


def test_the_bytes_of_computed_weights_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(ir, "LARGEST_MODEL", 2 * 4 * GROUPS - 1)
    weights = [op.unsqueeze(f(*WEIGHTS[:4]), i(4)) for _ in range(2)]
    text = refusal(layer(tmp_path / "m.xml", lambda x: convolution(convolution(x, weights[0]), weights[1]), IMAGE))
    assert f"computes {2 * 4 * GROUPS} bytes of weights or more; up to {2 * 4 * GROUPS - 1} are read" in text


def test_a_pad_of_constants_stays(tmp_path):
    pad = opset12.pad(constant([[4, 5]], np.int32), i(1, 0), i(0, 1), "edge")
    path = layer(tmp_path / "m.xml", lambda x: op.add(x, pad), (2, 3), np.int32)
    assert [record.status for record in padops.convert(path).records] == ["converted"]


@pytest.mark.parametrize(
    ("part", "value", "reason"),
    [
        ("find_spec", lambda name: None, "and is not installed: pip install 'padops[openvino]'"),
        ("PROGRAM", "padops.no_such_module", "but says: OpenVINO has died (exit code 1)"),
    ],
)
def test_what_openvino_cannot_compute_says_why(tmp_path, monkeypatch, part, value, reason):
    monkeypatch.setattr(ir, part, value)
    axes = op.convert(constant([1.5], np.float32), "i64")  # loses something, and devices may round differently
    text = refusal(layer(tmp_path / "m.xml", lambda x: op.reduce_sum(x, axes, True)))
    assert f"is no constant; OpenVINO computes that from constants, {reason}" in text
