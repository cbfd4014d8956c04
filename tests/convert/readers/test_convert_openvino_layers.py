"""Layers of OpenVINO IRs: each type that is converted against OpenVINO, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from native import bits
from openvino import opset12, opset13
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
from openvino_layers import LAYERS, layer_data, save_layer
from openvino_own_layers import quantized, sequence, slices

import padops
from padops.convert.readers.openvino_ir.rules import RULES


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_gives_what_openvino_gives(tmp_path, name):
    path = save_layer(tmp_path / "layer.xml", name)
    data = layer_data(name, *LAYERS[name][:2])
    found, wanted = converted_outputs(padops.convert(path).proto(), [data]), openvino_outputs(path, [data])
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "f":
            assert np.abs(one - other).max(initial=0) <= TOLERANCE * np.abs(other).max(initial=1)
        else:
            assert bits(one) == bits(other)


def test_every_listed_type_of_layer_is_compared(tmp_path):
    found = set()
    for number, name in enumerate(LAYERS):
        text = save_layer(tmp_path / f"{number}.xml", name).read_text()
        found |= set(re.findall(r'<layer [^>]*type="(\w+)"', text))
    assert found - {"Parameter", "Const", "Result"} == set(RULES)


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


@pytest.mark.parametrize(
    ("build", "shape", "reason"),
    [
        (
            lambda x: opset13.gather(x, constant([[0, 1], [2, 0]]), constant(1), 1),
            SHAPE,
            "does not read batch_dims='1'",
        ),
        (lambda x: opset13.prelu(x, f(3)), SHAPE, "OpenVINO reads a slope of one dim along axis 1"),
        (lambda x: opset13.transpose(x, constant([], np.int64)), SHAPE, "the order of its axes is empty"),
        (lambda x: opset13.reduce_sum(x, constant([], np.int64), True), (-1, 3), "ONNX reduces all axes"),
        (
            lambda x: opset13.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], i(18, 16), [0, 0], [0, 0]),
            IMAGE,
            "output_shape with explicit amounts",
        ),
        (
            lambda x: opset13.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], auto_pad="same_upper"),
            IMAGE,
            "auto_pad='same_upper' without an output_shape",
        ),
        (
            lambda x: opset13.max_pool(x, [1, 1], [2, 2], [0, 0], [0, 0], [3, 3], "floor", "same_upper").output(0),
            (1, 4, -1, -1),
            "ONNX Runtime ignores the dilations",
        ),
        (
            lambda x: opset13.max_pool(x, [1, 1], [3, 3], [0, 0], [0, 0], [3, 2], "floor", "same_upper").output(0),
            IMAGE,
            "ONNX Runtime refuses a pad of 3 for a kernel of 3",
        ),
        (lambda x: sequence("lstm", 4, clip=0.5)(x).output(0), (2, 3, 4), "clip or input_forget"),
        (sequence("gru", 3, activations=["softsign", "tanh"]), (2, 3, 4), "activations='softsign, tanh'"),
        (quantized(256, 0.5, 0.5, 0, 1), SHAPE, "its limits of inputs are equal"),
    ],
)
def test_what_onnx_would_get_wrong_is_refused(tmp_path, build, shape, reason):
    assert reason in refusal(layer(tmp_path / "m.xml", build, shape))


def test_a_single_wrong_pad_is_refused(tmp_path):
    path = pad_model(tmp_path / "pad.xml", "edge", SHAPE, constant([1, 1, 1]), constant([1, 1, 1]))
    path.write_text(path.read_text().replace('pad_mode="edge"', 'pad_mode="wrap"'))
    assert "pad_mode 'wrap' is not one of constant, edge, reflect, symmetric [P9]" in refusal(path)
    path.write_text(path.read_text().replace('pad_mode="wrap"', 'pad_mode="edge"').replace("opset12", "opset99"))
    assert "its version is 'opset99', expected opset1 or opset12" in refusal(path)
