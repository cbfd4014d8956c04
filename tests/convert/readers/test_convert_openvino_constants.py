"""Layers of IRs that compute with constants alone: computed at the conversion, to OpenVINO's bits."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import onnx
import openvino
import pytest
from native import bits
from openvino import opset12, opset13
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

GROUPS, SIZE = 400, 5
IMAGE = (1, GROUPS, 2, 3)
WEIGHTS = (GROUPS, 1, 1, 1, 1)  # more bytes than a small constant has; and each product is alone in its sum
DATA = np.random.default_rng(3).standard_normal(IMAGE).astype(np.float32)


def halves(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape).astype(np.float16)


def bytes_(*shape: int) -> np.ndarray:
    return np.random.default_rng(6).integers(-128, 128, shape).astype(np.int8)


def reshaped(weights: openvino.Node) -> openvino.Node:
    """As a network of PyTorch has it: the number of groups before the others."""
    first, others = opset13.variadic_split(opset13.shape_of(weights), constant(0, np.int64), i(1, -1)).outputs()
    return opset13.reshape(weights, opset13.concat([opset13.divide(first, i(1)), i(1), others], 0), False)


# What computes WEIGHTS; the first is what OpenVINO makes of a depthwise convolution of TensorFlow Lite.
CHAINS: dict[str, Build] = {
    "transpose of unsqueeze of convert": lambda: opset13.transpose(
        opset13.unsqueeze(opset13.convert(constant(halves(1, 1, 1, GROUPS)), "f32"), i(0)), i(4, 0, 1, 2, 3)
    ),
    "squeeze": lambda: opset13.squeeze(f(*WEIGHTS, 1), i(-1)),
    "reshape": lambda: opset13.reshape(f(20, 20), i(-1, 1, 1, 1, 1), False),
    "reshape with a special zero": lambda: opset13.reshape(f(GROUPS, 1), i(0, 0, 1, -1, 1), True),
    "reshape to dims of its own": lambda: reshaped(f(GROUPS, 1, 1, 1)),
    "integers of 8 bits": lambda: opset13.multiply(
        opset13.subtract(opset13.convert(constant(bytes_(*WEIGHTS)), "f32"), f(GROUPS, 1, 1, 1, 1)), f(1)
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_computed_weights(tmp_path, name):
    x = parameter(IMAGE)
    y = opset13.group_convolution(x, CHAINS[name](), [1, 1], *[[0, 0]] * 2, [1, 1])
    path = save(tmp_path / "m.xml", [y], [x])
    proto = padops.convert(path).proto()
    assert [node.op_type for node in proto.graph.node] == ["Conv"]
    (found,), (wanted,) = converted_outputs(proto, [DATA]), openvino_outputs(path, [DATA])
    assert bits(found) == bits(wanted)


def test_computed_amounts(tmp_path):
    x = parameter((2, 3))
    begin = opset13.squeeze(opset13.convert(constant([[1, 2]], np.int32), "i64"), i(0))
    path = save(tmp_path / "m.xml", [opset12.pad(x, begin, i(0, 1), "edge")], [x])
    proto = padops.convert(path, fallback=False).proto()
    assert [node.op_type for node in proto.graph.node] == ["OpenVINOPad_12"]
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert converted_outputs(proto, [data])[0].tolist() == openvino_outputs(path, [data])[0].tolist()


def test_a_sum_in_half_precision_stays_a_layer(tmp_path):
    """OpenVINO's CPU device computes it in float."""
    x = parameter((3,))
    total = opset13.convert(opset13.add(constant(halves(3)), constant(halves(1))), "f32")
    path = save(tmp_path / "m.xml", [opset13.add(x, total)], [x])
    assert [node.op_type for node in padops.convert(path).proto().graph.node] == ["Add", "Cast", "Add"]


def test_what_loses_something_and_no_rule_reads_stays_a_layer(tmp_path):
    x = parameter((3,), np.int32)
    cast = opset13.convert(constant([1.5, -2.5, 3], np.float32), "i32")
    path = save(tmp_path / "m.xml", [opset13.add(x, cast)], [x])
    proto = padops.convert(path).proto()
    assert [node.op_type for node in proto.graph.node] == ["Cast", "Add"]
    data = np.int32([1, 2, 3])
    assert converted_outputs(proto, [data])[0].tolist() == openvino_outputs(path, [data])[0].tolist()


def test_weights_that_no_rule_reads_stay_in_half_precision(tmp_path):
    x = parameter((1, 32, 2, 2))
    weights = opset13.convert(constant(halves(32, 32, 1, 1)), "f32")
    path = save(tmp_path / "m.xml", [opset13.convolution(x, weights, [1, 1], *[[0, 0]] * 2, [1, 1])], [x])
    proto = padops.convert(path).proto()
    assert Counter(tensor.data_type for tensor in proto.graph.initializer) == {onnx.TensorProto.FLOAT16: 1}


def test_a_value_that_others_read_as_well_is_there_for_them(tmp_path):
    x, weights = parameter(IMAGE), CHAINS["squeeze"]()
    y = opset13.group_convolution(x, weights, [1, 1], *[[0, 0]] * 2, [1, 1])
    path = save(tmp_path / "m.xml", [y, opset13.reshape(weights, i(-1), False)], [x])
    found, wanted = converted_outputs(padops.convert(path).proto(), [DATA]), openvino_outputs(path, [DATA])
    assert [bits(one) for one in found] == [bits(one) for one in wanted]


def test_weights_that_are_an_input_stay_one(tmp_path):
    x, weights = parameter(IMAGE), parameter((1, *WEIGHTS), name="w")
    y = opset13.group_convolution(x, opset13.squeeze(weights, i(0)), [1, 1], *[[0, 0]] * 2, [1, 1])
    path = save(tmp_path / "m.xml", [y], [x, weights])
    data = [DATA, halves(1, *WEIGHTS).astype(np.float32)]
    (found,), (wanted,) = converted_outputs(padops.convert(path).proto(), data), openvino_outputs(path, data)
    assert bits(found) == bits(wanted)


def test_a_layer_that_does_not_give_what_the_ir_declares_is_left_to_the_check_of_that(tmp_path):
    x = parameter((2, 3))
    path = save(tmp_path / "m.xml", [opset13.add(x, opset13.unsqueeze(constant(np.float32([1, 2, 3])), i(0)))], [x])
    text = path.read_text()
    wrong = re.sub(r"(type=\"Unsqueeze\".*?<output>.*?<dim>)1(</dim>)", r"\g<1>2\2", text, flags=re.DOTALL)
    assert wrong != text
    path.write_text(wrong)
    assert "is not a valid model of these shapes" in refusal(path)


def test_axes_that_are_wrong_are_left_to_the_check_as_well(tmp_path):
    x = parameter((2, 3))
    path = save(tmp_path / "m.xml", [opset13.add(x, opset13.unsqueeze(constant(np.float32([1, 2, 3])), i(0)))], [x])
    weights = path.with_suffix(".bin")
    content = weights.read_bytes()
    assert content.count(bytes(8)) == 1
    weights.write_bytes(content.replace(bytes(8), np.int64(-9).tobytes()))
    assert "is not a valid model of these shapes" in refusal(path)


def test_the_bytes_of_computed_weights_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(ir, "LARGEST_MODEL", 2 * 4 * GROUPS - 1)
    x = parameter(IMAGE)
    y = x
    for _ in range(2):
        y = opset13.group_convolution(y, opset13.unsqueeze(f(*WEIGHTS[:4]), i(4)), [1, 1], *[[0, 0]] * 2, [1, 1])
    text = refusal(save(tmp_path / "m.xml", [y], [x]))
    assert f"computes {2 * 4 * GROUPS} bytes of weights or more; up to {2 * 4 * GROUPS - 1} are read" in text


def test_a_product_that_is_larger_than_its_factors_stays_a_layer(tmp_path):
    x = parameter((1,))
    path = save(tmp_path / "m.xml", [opset13.add(x, opset13.multiply(f(3, 1), f(1, 3)))], [x])
    assert [node.op_type for node in padops.convert(path).proto().graph.node] == ["Mul", "Add"]


def test_a_long_chain(tmp_path):
    x = parameter((1,))
    y = i(1)
    for _ in range(200):
        y = opset13.add(y, i(1))
    path = save(tmp_path / "m.xml", [opset12.pad(x, y, i(0), "edge")], [x])
    proto = padops.convert(path, fallback=False).proto()
    assert [node.op_type for node in proto.graph.node] == ["OpenVINOPad_12"]
    assert converted_outputs(proto, [np.float32([0])])[0].tolist() == [0] * 202


def test_layers_that_cannot_be_read_are_computed(tmp_path):
    """Of constants alone; but no Pad is, and what the model's inputs decide is refused."""
    x = parameter((2, 3), np.int32)
    pad = opset12.pad(constant([[4, 5]], np.int32), i(1, 0), i(0, 1), "edge")
    pad.set_friendly_name("of a constant")
    rest = opset13.floor_mod(constant([[7, -8, 9]], np.int32), constant(5, np.int32))
    path = save(tmp_path / "m.xml", [opset13.add(opset13.add(x, rest), pad)], [x])
    converted = padops.convert(path)
    assert [record.path for record in converted.records] == ["graph/of a constant"]
    data = np.arange(6, dtype=np.int32).reshape(2, 3)
    (found,), (wanted,) = converted_outputs(converted.proto(), [data]), openvino_outputs(path, [data])
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("part", "value", "reason"),
    [
        ("find_spec", lambda name: None, "and is not installed: pip install 'padops[openvino]'"),
        ("PROGRAM", "padops.no_such_module", "but says: OpenVINO has died (exit code 1)"),
    ],
)
def test_what_openvino_cannot_compute_says_why(tmp_path, monkeypatch, part, value, reason):
    monkeypatch.setattr(ir, part, value)
    axes = opset13.reshape(constant([[1]]), i(-1), False)
    text = refusal(layer(tmp_path / "m.xml", lambda x: opset13.reduce_sum(x, axes, True)))
    assert f"is no constant; OpenVINO computes that from constants, {reason}" in text
