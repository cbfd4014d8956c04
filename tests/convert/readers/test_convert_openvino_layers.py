"""Pads and other layers of OpenVINO IRs against OpenVINO, what is refused, and what constants compute."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from onnx import numpy_helper
from openvino import opset1, opset11, opset12, opset14
from openvino import opset13 as op
from openvino_irs import IMAGE, SHAPE, alike, constant, f, i, layer, pad_model, parameter, refusal, rng, same_bits, save
from openvino_layers import LAYERS, layer_data, quantized, save_layers, sequence, slices

import padops
from padops.convert import ir
from padops.convert.ir.rules import RULES


@pytest.mark.parametrize(("mode", "begin", "end", "fill"), [
    ("constant", [1, 0, 2], [0, 3, 1], 7.5),
    ("constant", [-1, 2, 0], [0, -1, 3], None),
    ("edge", [1, 2, 0], [3, 0, 5], None),
    ("reflect", [1, 2, 3], [0, 1, 2], None),
    ("symmetric", [2, 3, 4], [1, 0, 2], None),
    ("edge", [-1, 2, -2], [3, -1, 1], None),
    ("reflect", [1, -1, 3], [-1, 2, -2], None),
    ("symmetric", [2, -2, -1], [-1, 3, 4], None),
])  # fmt: skip
@pytest.mark.parametrize(("opset", "number"), [(opset1, 1), (opset12, 12)])
def test_pads_of_both_opsets_are_bit_equal(tmp_path, mode, begin, end, fill, opset, number):
    path = pad_model(tmp_path / "pad.xml", mode, SHAPE, constant(begin), constant(end), fill, opset)
    (record,) = padops.convert(path).records
    assert (record.form, record.status) == (f"OpenVINO Pad of opset{number}", "converted")
    proto = same_bits(path, rng().standard_normal(SHAPE, dtype=np.float32))
    assert [node.op_type for node in proto.graph.node] == [record.op_type] == [f"OpenVINOPad_{number}"]


@pytest.mark.parametrize(("begin_type", "end_type"), [
    (np.int8, np.int16), (np.uint8, np.uint16), (np.int32, np.uint32), (np.uint64, np.int64),
])  # fmt: skip
def test_amounts_keep_their_integer_types(tmp_path, begin_type, end_type):
    amounts = constant([2, 0, 3], begin_type), constant([1, 2, 0], end_type)
    path = pad_model(tmp_path / "pad.xml", "symmetric", SHAPE, *amounts)
    proto = same_bits(path, rng().standard_normal(SHAPE, dtype=np.float32))
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    assert [tensors[name].dtype for name in proto.graph.node[0].input[1:3]] == [begin_type, end_type]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_dynamic_amounts_stay_inputs(tmp_path, mode):
    x, begin = parameter((-1, -1, -1)), parameter((3,), np.int64, "begin")
    end, fill = parameter((3,), np.int32, "end"), parameter((), np.float32, "fill")
    pad = opset12.pad(x, begin, end, mode, arg_pad_value=fill)
    path = save(tmp_path / "pad.xml", [pad], [x, begin, end, fill])
    data = rng().standard_normal(SHAPE, dtype=np.float32)
    for amounts in (([1, 0, 2], [0, 2, 1]), ([-1, 2, 0], [1, -1, -3]), ([1, -2, 3], [0, 2, 3])):
        feeds = [data, np.array(amounts[0], np.int64), np.array(amounts[1], np.int32), np.array(9, np.float32)]
        proto = same_bits(path, *feeds)
    assert [value.name for value in proto.graph.input] == ["x", "begin", "end", "fill"]
    assert list(proto.graph.node[0].input) == ["x", "begin", "end", "fill"]


@pytest.mark.parametrize("type", ["boolean", "f16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
def test_pads_of_element_types(tmp_path, type):
    dtype = getattr(openvino.Type, type).to_dtype()
    path = pad_model(tmp_path / "pad.xml", "constant", (3, 5), constant([1, -1]), constant([0, 2]), 1, type=dtype)
    same_bits(path, rng().integers(0, 2, (3, 5)).astype(dtype))


def test_bfloat16_constants_keep_their_bits(tmp_path):
    x = parameter((2, 3), openvino.Type.bf16)
    fill = op.constant(np.array(1.5, np.float32), openvino.Type.bf16)
    pad = opset12.pad(op.add(x, op.constant([1, 2, 3], openvino.Type.bf16)), [1, 0], [0, 1], "constant", fill)
    path = save(tmp_path / "pad.xml", [op.convert(pad, "f32")], [x])
    proto = padops.convert(path).proto()
    halves = [numpy_helper.to_array(one) for one in proto.graph.initializer if one.data_type == 16]
    values = [one.astype(np.float32).tolist() for one in halves]
    assert sorted(values, key=str) == [1.5, [1.0, 2.0, 3.0]]


def test_four_bit_constants_keep_their_order(tmp_path):
    three = op.constant(np.array([1, 2, 3], np.uint8), openvino.Type.u4)
    path = save(tmp_path / "m.xml", [op.convert(three, "f32")], [])
    proto = same_bits(path)
    assert [numpy_helper.to_array(one).tolist() for one in proto.graph.initializer] == [[1, 2, 3]]


GROUPS = 12  # of layers, each an IR


@pytest.mark.parametrize("first", range(GROUPS))
def test_layers_give_what_openvino_gives(tmp_path, first):
    names = list(LAYERS)[first::GROUPS]
    alike(save_layers(tmp_path / "layers.xml", *names), *map(layer_data, names))


def test_every_listed_type_of_layer_is_compared(tmp_path):
    text = save_layers(tmp_path / "layers.xml", *LAYERS).read_text()
    found = set(re.findall(r'<layer [^>]*type="(\w+)"', text))
    assert found - {"Parameter", "Const", "Result"} == set(RULES) - {"Pad"}


def test_layers_that_cannot_be_converted_are_listed_with_the_reasons(tmp_path):
    """All of them at once, in one line: those without a rule, and those that a rule refuses."""
    x = parameter(IMAGE)
    y = op.grn(op.elu(opset12.pad(x, [0, 0, 1, 1], [0, 0, 1, 1], "edge"), 0.3), 1e-3)
    y.set_friendly_name("the grn")
    y = op.reduce_sum(op.grn(y, 1e-3), parameter((1,), np.int64, "axis"), True)
    z = op.round(y, "half_away_from_zero")
    path = save(tmp_path / "m.xml", [z], [x, y.input_value(1).get_node()])
    text = refusal(path)
    assert "m.xml: 5 of its 6 layers cannot be converted: " in text and "\n" not in text
    assert "GRN 'the grn' and 1 more: there is no rule for this type of layer" in text
    assert re.search(r"Elu 'Elu_\d+': there is no rule", text)
    assert re.search(r"ReduceSum '\w+': its input 'axis' is not constant", text)
    assert "padops does not support mode='half_away_from_zero'" in text
    (note,) = padops.inspect(path).notes
    assert text in note


def test_slices_with_empty_masks(tmp_path):
    path = layer(tmp_path / "m.xml", slices([0, 1, -3], [2, 9, 3], [1, 1, 2]))
    text = re.sub(r'(_mask)="[^"]*"', r'\1=""', path.read_text())
    assert text.count('_mask=""') == 5
    path.write_text(text)
    same_bits(path, rng().standard_normal(SHAPE, dtype=np.float32))


def unranked(x: openvino.Node) -> openvino.Node:
    places = op.squeeze(op.non_zero(op.reshape(x, i(-1), False)), i(0))
    return op.reshape(x, places, False)


@pytest.mark.parametrize(("build", "shape", "reason"), [
    (lambda x: op.gather(x, constant([[0, 1], [2, 0]]), constant(1), 1), SHAPE, "does not support batch_dims='1'"),
    (lambda x: op.gather(x, i(0), constant(2**64 - 1, np.uint64)), SHAPE, "out of range"),
    (lambda x: op.prelu(x, f(3)), SHAPE, "OpenVINO applies a slope of rank 1 along axis 1"),
    (lambda x: op.transpose(x, constant([], np.int64)), SHAPE, "the order of its axes is empty"),
    (lambda x: op.reduce_sum(x, constant([], np.int64), True), (-1, 3), "ONNX reduces all axes"),
    (lambda x: op.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], i(18, 16), [0, 0], [0, 0]), IMAGE,
     "output_shape with explicit amounts"),
    (lambda x: op.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], auto_pad="same_upper"), IMAGE,
     "auto_pad='same_upper' without an output_shape"),
    (lambda x: op.max_pool(x, [1, 1], [2, 2], [0, 0], [0, 0], [3, 3], "floor", "same_upper").output(0),
     (1, 4, -1, -1), "ONNX Runtime ignores the dilations"),
    (lambda x: op.max_pool(x, [1, 1], [3, 3], [0, 0], [0, 0], [3, 2], "floor", "same_upper").output(0),
     IMAGE, "ONNX Runtime refuses a pad of 3 for a kernel of 3"),
    (lambda x: sequence("lstm", 4, clip=0.5)(x).output(0), (2, 3, 4), "clip or input_forget"),
    (sequence("gru", 3, activations=["softsign", "tanh"]), (2, 3, 4), "activations='softsign, tanh'"),
    (quantized(256, 0.5, 0.5, 0, 1), SHAPE, "input_low and input_high have equal elements"),
    (lambda x: op.topk(x, constant(2), 1, "max", "index").output(0), SHAPE, "ONNX does not have sort='index'"),
    (lambda x: opset14.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2], "ceil_torch").output(0), IMAGE,
     "rounding_type='ceil_torch' is not floor or ceil"),
    (lambda x: op.divide(x, op.convert_like(constant(3), x)), np.int8, "OpenVINO rounds quotients"),
    (lambda x: op.floor(x), np.int32, "ONNX supports this layer only for floats"),
    (lambda x: op.scatter_update(unranked(x), i(0), f(1), i(0)), SHAPE, "the rank of its input"),
    (lambda x: op.broadcast(x, unranked(x), i(0, 1, 2), "EXPLICIT"), np.int64, "a target of unknown rank"),
    (lambda x: op.variadic_split(x, i(0), i(1, -1)).output(0), (-1, 3), "the size of its axis is dynamic"),
    (lambda x: op.scaled_dot_product_attention(x, x, x), (1, 2, 3, -1), "the size of its query vectors is dynamic"),
    (lambda x: op.matmul(x, f(4), False, True), SHAPE, "transpose_b of a vector"),
    (lambda x: op.group_convolution(x, unranked(x), [1, 1], *[[0, 0]] * 2, [1, 1]), IMAGE, "have no group axis"),
    (lambda x: op.avg_pool(x, [1, 1], [0, 0], [1, 1], [3, 3], False, "ceil"), IMAGE, "in its own way"),
    (lambda x: op.avg_pool(x, [1, 1], [0, 0], [0, 0], [3, 3], False, "floor", "same_upper"), (1, 1, -1, -1),
     "auto_pad with exclude-pad='false'"),
    (lambda x: opset11.interpolate(x, i(9, 9), "linear_onnx", "sizes", [1], [0], axes=i(2, 3)), IMAGE,
     "ONNX's Resize does not have pads_begin"),
    (lambda x: opset1.interpolate(x, i(9, 9), {"mode": "nearest", "axes": [2, 3]}), IMAGE,
     "version='opset1' is not opset4 or opset11"),
])  # fmt: skip
def test_what_onnx_would_get_wrong_is_refused(tmp_path, build, shape, reason):
    given = (SHAPE, shape) if isinstance(shape, type) else (shape, np.float32)
    assert reason in refusal(layer(tmp_path / "m.xml", build, *given))


COUNT = 400
CHANNELS = (1, COUNT, 2, 3)
WEIGHTS = (COUNT, 1, 1, 1, 1)  # more bytes than a small constant has; and each product is alone in its sum


def halves(*shape: int) -> openvino.Node:
    return constant(np.random.default_rng(5).standard_normal(shape), np.float16)


def convolution(x: openvino.Node, weights: openvino.Node) -> openvino.Node:
    return op.group_convolution(x, weights, [1, 1], *[[0, 0]] * 2, [1, 1])


def grouped(weights: openvino.Node) -> openvino.Node:
    """As a network of PyTorch has it: the number of groups before the others."""
    first, others = op.variadic_split(op.shape_of(weights), constant(0, np.int64), i(1, -1)).outputs()
    return op.reshape(weights, op.concat([op.divide(first, i(1)), i(1), others], 0), False)


def eight_bits() -> openvino.Node:
    numbers = constant(np.random.default_rng(6).integers(-128, 128, WEIGHTS), np.int8)
    return op.multiply(op.subtract(op.convert(numbers, "f32"), f(*WEIGHTS)), f(1))


# What computes WEIGHTS; the first is what OpenVINO makes of a depthwise convolution of TensorFlow Lite.
CHAINS = {
    "transpose of unsqueeze of convert": lambda: op.transpose(
        op.unsqueeze(op.convert(halves(1, 1, 1, COUNT), "f32"), i(0)), i(4, 0, 1, 2, 3)
    ),
    "squeeze": lambda: op.squeeze(f(*WEIGHTS, 1), i(-1)),
    "reshape with a special zero": lambda: op.reshape(f(COUNT, 1), i(0, 0, 1, -1, 1), True),
    "reshape to dims of its own": lambda: grouped(f(COUNT, 1, 1, 1)),
    "integers of 8 bits": eight_bits,
}
# Builders by name, each with the data's shape and type, and the operators that are left.
CASES = {
    **{name: (lambda x, made=made: convolution(x, made()), CHANNELS, np.float32, ["Conv"])
       for name, made in CHAINS.items()},
    "amounts": (lambda x: opset12.pad(x, op.squeeze(op.convert(constant([[1, 2]], np.int32), "i64"), i(0)), i(0, 1),
                                      "edge"), (2, 3), np.float32, ["OpenVINOPad_12"]),
    "a long chain": (lambda x: opset12.pad(x, reduce(op.add, (i(1) for _ in range(201))), i(0), "edge"), (1,),
                     np.float32, ["OpenVINOPad_12"]),
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
    proto = same_bits(path, np.random.default_rng(3).standard_normal(shape).astype(type))
    assert [node.op_type for node in proto.graph.node] == operators


def test_half_precision_stays(tmp_path):
    """Of sums, which OpenVINO's CPU device computes in float, and of weights, which are half as large."""
    total = op.convert(op.add(halves(*WEIGHTS), halves(1, 1, 1, 1, 1)), "f32")
    path = layer(tmp_path / "sum.xml", lambda x: convolution(x, total), CHANNELS)
    assert [node.op_type for node in padops.convert(path).proto().graph.node] == ["Add", "Cast", "Reshape", "Conv"]
    weights = op.convert(halves(32, 32, 1, 1), "f32")
    build = lambda x: op.convolution(x, weights, [1, 1], *[[0, 0]] * 2, [1, 1])
    proto = padops.convert(layer(tmp_path / "m.xml", build, (1, 32, 2, 2))).proto()
    assert [tensor.data_type for tensor in proto.graph.initializer] == [onnx.TensorProto.FLOAT16]


@pytest.mark.parametrize("is_input", [False, True])
def test_a_value_that_others_read_or_give(tmp_path: Path, is_input: bool) -> None:
    x, given = parameter(CHANNELS), parameter((1, *WEIGHTS), name="w") if is_input else f(1, *WEIGHTS)
    weights = op.squeeze(given, i(0))
    results = [convolution(x, weights), op.reshape(weights, i(-1), False)]
    path = save(tmp_path / "m.xml", results, [x, given] if is_input else [x])
    data = [np.random.default_rng(3).standard_normal(shape).astype(np.float32) for shape in (CHANNELS, (1, *WEIGHTS))]
    same_bits(path, *data[: 1 + is_input])


def test_a_layer_that_contradicts_the_ir_is_left_to_the_check(tmp_path):
    path = layer(tmp_path / "m.xml", lambda x: op.add(x, op.unsqueeze(f(3), i(0))), (2, 3))
    text, weights = path.read_text(), path.with_suffix(".bin")
    wrong = re.sub(r"(type=\"Unsqueeze\".*?<output>.*?<dim>)1(</dim>)", r"\g<1>2\2", text, flags=re.DOTALL)
    assert wrong != text
    path.write_text(wrong)
    assert "is invalid or contradicts the IR's shapes" in refusal(path)
    path.write_text(text)
    weights.write_bytes(weights.read_bytes().replace(bytes(8), np.int64(-9).tobytes()))  # the axis
    assert "is invalid or contradicts the IR's shapes" in refusal(path)


def test_a_refused_ir_keeps_its_constants(tmp_path):
    moved = lambda x: op.pad(op.transpose(x, i(1, 0)), i(0, 1), i(0, 1), "reflect")
    path = layer(tmp_path / "m.xml", moved, (4, 4))
    wrong = re.sub(r"(type=\"Transpose\".*?<output>.*?<dim>)4(</dim>)", r"\g<1>5\2", path.read_text(), flags=re.DOTALL)
    path.write_text(wrong)
    assert "is invalid or contradicts the IR's shapes" in refusal(path)
    (pad,) = padops.inspect(path).pads
    assert (pad.mode, pad.amounts) == ("reflect", ((0, 0), (1, 1)))


def test_the_bytes_of_computed_weights_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(ir, "LARGEST_MODEL", 2 * 4 * COUNT - 1)
    weights = [op.unsqueeze(f(*WEIGHTS[:4]), i(4)) for _ in range(2)]
    text = refusal(layer(tmp_path / "m.xml", lambda x: convolution(convolution(x, weights[0]), weights[1]), CHANNELS))
    assert f"computes at least {2 * 4 * COUNT} bytes of weights; padops reads at most {2 * 4 * COUNT - 1}" in text


def test_a_pad_of_constants_stays(tmp_path):
    pad = opset12.pad(constant([[4, 5]], np.int32), i(1, 0), i(0, 1), "edge")
    path = layer(tmp_path / "m.xml", lambda x: op.add(x, pad), (2, 3), np.int32)
    assert [record.status for record in padops.convert(path).records] == ["converted"]


@pytest.mark.parametrize(("part", "value", "reason"), [
    ("find_spec", lambda name: None, "and is not installed: pip install 'padops[openvino]'"),
    ("PROGRAM", "padops.no_such_module", "but says: OpenVINO has died (exit code 1)"),
])  # fmt: skip
def test_what_openvino_cannot_compute_says_why(tmp_path, monkeypatch, part, value, reason):
    monkeypatch.setattr(ir, part, value)
    axes = op.convert(constant([1.5], np.float32), "i64")  # loses something, and devices may round differently
    text = refusal(layer(tmp_path / "m.xml", lambda x: op.reduce_sum(x, axes, True)))
    assert f"is not constant; OpenVINO computes this value from constants, {reason}" in text
