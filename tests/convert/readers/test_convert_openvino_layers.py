"""Layers of OpenVINO IRs: each type that is converted against OpenVINO, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import openvino
import pytest
from native import bits
from openvino import opset1, opset11, opset12, opset13, opset14
from openvino_composed_layers import quantized, sequence, slices
from openvino_irs import (
    IMAGE,
    SHAPE,
    TOLERANCE,
    constant,
    converted_outputs,
    f,
    i,
    layer,
    openvino_outputs,
    pad_model,
    parameter,
    refusal,
    rng,
    save,
)
from openvino_layers import LAYERS, layer_data, save_layers

import padops
from padops.convert.ir.rules import RULES

GROUPS = 12  # of layers, each an IR


@pytest.mark.parametrize("first", range(GROUPS))
def test_layers_give_what_openvino_gives(tmp_path, first):
    names = list(LAYERS)[first::GROUPS]
    path = save_layers(tmp_path / "layers.xml", *names)
    data = [layer_data(name) for name in names]
    for one, other in zip(
        converted_outputs(padops.convert(path).proto(), data), openvino_outputs(path, data), strict=True
    ):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "f":
            assert np.abs(one - other).max(initial=0) <= TOLERANCE * np.abs(other).max(initial=1)
        else:
            assert bits(one) == bits(other)


def test_every_listed_type_of_layer_is_compared(tmp_path):
    text = save_layers(tmp_path / "layers.xml", *LAYERS).read_text()
    found = set(re.findall(r'<layer [^>]*type="(\w+)"', text))
    assert found - {"Parameter", "Const", "Result"} == set(RULES) - {"Pad"}


def test_layers_that_cannot_be_converted_are_listed_with_the_reasons(tmp_path):
    """All of them at once, in one line: those without a rule, and those that a rule refuses."""
    x = parameter(IMAGE)
    y = opset13.grn(opset13.elu(opset12.pad(x, [0, 0, 1, 1], [0, 0, 1, 1], "edge"), 0.3), 1e-3)
    y.set_friendly_name("the grn")
    y = opset13.reduce_sum(opset13.grn(y, 1e-3), parameter((1,), np.int64, "axis"), True)
    z = opset13.round(y, "half_away_from_zero")
    path = save(tmp_path / "m.xml", [z], [x, y.input_value(1).get_node()])
    text = refusal(path)
    assert "m.xml: 5 of its 6 layers cannot be converted: " in text and "\n" not in text
    assert "GRN 'the grn' and 1 more: there is no rule for this type of layer" in text
    assert re.search(r"Elu 'Elu_\d+': there is no rule", text)
    assert re.search(r"ReduceSum '\w+': its input 'axis' is no constant", text)
    assert "padops does not read mode='half_away_from_zero'" in text
    (note,) = padops.inspect(path).notes
    assert text in note


def test_slices_with_empty_masks(tmp_path):
    path = layer(tmp_path / "m.xml", slices([0, 1, -3], [2, 9, 3], [1, 1, 2]))
    text = re.sub(r'(_mask)="[^"]*"', r'\1=""', path.read_text())
    assert text.count('_mask=""') == 5
    path.write_text(text)
    data = rng().standard_normal(SHAPE, dtype=np.float32)
    (found,), (wanted,) = converted_outputs(padops.convert(path).proto(), [data]), openvino_outputs(path, [data])
    assert bits(found) == bits(wanted)


def unranked(x: openvino.Node) -> openvino.Node:
    """A value of as many dims as the data have elements that are not 0."""
    places = opset13.squeeze(opset13.non_zero(opset13.reshape(x, i(-1), False)), i(0))
    return opset13.reshape(x, places, False)


@pytest.mark.parametrize(
    ("build", "shape", "reason"),
    [
        (lambda x: opset13.gather(x, constant([[0, 1], [2, 0]]), constant(1), 1), SHAPE,
         "does not read batch_dims='1'"),
        (lambda x: opset13.gather(x, i(0), constant(2**64 - 1, np.uint64)), SHAPE, "out of range"),
        (lambda x: opset13.prelu(x, f(3)), SHAPE, "OpenVINO reads a slope of one dim along axis 1"),
        (lambda x: opset13.transpose(x, constant([], np.int64)), SHAPE, "the order of its axes is empty"),
        (lambda x: opset13.reduce_sum(x, constant([], np.int64), True), (-1, 3), "ONNX reduces all axes"),
        (lambda x: opset13.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], i(18, 16), [0, 0], [0, 0]), IMAGE,
         "output_shape with explicit amounts"),
        (lambda x: opset13.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], auto_pad="same_upper"), IMAGE,
         "auto_pad='same_upper' without an output_shape"),
        (lambda x: opset13.max_pool(x, [1, 1], [2, 2], [0, 0], [0, 0], [3, 3], "floor", "same_upper").output(0),
         (1, 4, -1, -1), "ONNX Runtime ignores the dilations"),
        (lambda x: opset13.max_pool(x, [1, 1], [3, 3], [0, 0], [0, 0], [3, 2], "floor", "same_upper").output(0),
         IMAGE, "ONNX Runtime refuses a pad of 3 for a kernel of 3"),
        (lambda x: sequence("lstm", 4, clip=0.5)(x).output(0), (2, 3, 4), "clip or input_forget"),
        (sequence("gru", 3, activations=["softsign", "tanh"]), (2, 3, 4), "activations='softsign, tanh'"),
        (quantized(256, 0.5, 0.5, 0, 1), SHAPE, "its limits of inputs are equal"),
        (lambda x: opset13.topk(x, constant(2), 1, "max", "index").output(0), SHAPE, "ONNX does not have sort='index'"),
        (lambda x: opset14.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2], "ceil_torch").output(0), IMAGE,
         "rounding_type='ceil_torch' is not floor or ceil"),
        (lambda x: opset13.divide(x, opset13.convert_like(constant(3), x)), np.int8, "OpenVINO rounds quotients"),
        (lambda x: opset13.floor(x), np.int32, "ONNX has it only for floats"),
        (lambda x: opset13.scatter_update(unranked(x), i(0), f(1), i(0)), SHAPE, "the rank of its input"),
        (lambda x: opset13.broadcast(x, unranked(x), i(0, 1, 2), "EXPLICIT"), np.int64, "a target of unknown rank"),
        (lambda x: opset13.variadic_split(x, i(0), i(1, -1)).output(0), (-1, 3), "of an axis that is dynamic"),
        (lambda x: opset13.scaled_dot_product_attention(x, x, x), (1, 2, 3, -1), "vectors whose size is dynamic"),
        (lambda x: opset13.matmul(x, f(4), False, True), SHAPE, "transpose_b of a vector"),
        (lambda x: opset13.group_convolution(x, unranked(x), [1, 1], *[[0, 0]] * 2, [1, 1]), IMAGE, "those of groups"),
        (lambda x: opset13.avg_pool(x, [1, 1], [0, 0], [1, 1], [3, 3], False, "ceil"), IMAGE, "in its own way"),
        (lambda x: opset13.avg_pool(x, [1, 1], [0, 0], [0, 0], [3, 3], False, "floor", "same_upper"), (1, 1, -1, -1),
         "auto_pad with exclude-pad='false'"),
        (lambda x: opset11.interpolate(x, i(9, 9), "linear_onnx", "sizes", [1], [0], axes=i(2, 3)), IMAGE,
         "ONNX does not have pads_begin"),
        (lambda x: opset1.interpolate(x, i(9, 9), {"mode": "nearest", "axes": [2, 3]}), IMAGE,
         "version='opset1' is not opset4 or opset11"),
    ],
)  # fmt: skip
def test_what_onnx_would_get_wrong_is_refused(tmp_path, build, shape, reason):
    given = (SHAPE, shape) if isinstance(shape, type) else (shape, np.float32)
    assert reason in refusal(layer(tmp_path / "m.xml", build, *given))


def test_a_single_wrong_pad_is_refused(tmp_path):
    path = pad_model(tmp_path / "pad.xml", "edge", SHAPE, constant([1, 1, 1]), constant([1, 1, 1]))
    path.write_text(path.read_text().replace('pad_mode="edge"', 'pad_mode="wrap"'))
    assert "pad_mode 'wrap' is not one of constant, edge, reflect, symmetric [P9]" in refusal(path)
    path.write_text(path.read_text().replace('pad_mode="wrap"', 'pad_mode="edge"').replace("opset12", "opset99"))
    assert "its version is 'opset99', expected opset1 or opset12" in refusal(path)
