"""IRs of other layers than Pads with broken parts: the layers are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from broken_files import ran, refusal, short
from openvino import opset13
from openvino_irs import IMAGE, Build, constant, i, layer
from openvino_layers import LAYERS, save_layer


def damaged(path: Path, damage: Callable[[str], str]) -> dict[str, bytes]:
    """The files of an IR whose XML is another."""
    text = path.read_text()
    changed = damage(text)
    assert changed != text
    return {"m.xml": changed.encode(), "m.bin": path.with_suffix(".bin").read_bytes()}


def without_last_input(text: str) -> str:
    """The last port of the first list of inputs is not there."""
    end = text.index("</input>")
    return text[: text.rindex("<port", 0, end)] + text[end:]


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        ("max pool", lambda t: t.replace(' kernel="3, 2"', ""), "it has no kernel"),
        ("max pool", lambda t: t.replace(' pads_begin="1, 0"', ""), "it has no pads_begin"),
        ("max pool", lambda t: t.replace('pads_end="0, 1"', 'pads_end="0"'), "pads_begin has 2 values, pads_end 1"),
        ("max pool", lambda t: t.replace('dilations="1, 2"', 'dilations="1, x"'),
         "dilations='1, x' is not a list of integers"),
        ("max pool", lambda t: t.replace('kernel="3, 2"', f'kernel="{2**70}, 2"'), "is not a list of integers"),
        ("convolution SAME_UPPER with dilations", lambda t: t.replace('strides="2, 1"', 'strides="0, 1"'),
         "stride is 0, expected 1"),
        ("convolution SAME_UPPER with dilations", lambda t: t.replace('strides="2, 1"', 'strides="2"'),
         "strides or dilations have 1"),
        ("convolution SAME_UPPER with dilations", without_last_input, "it has 1 input, expected 2"),
        ("clamp of integers", lambda t: t.replace('min="-1"', 'min="x"'), "min='x' is not a number"),
        ("clamp of integers", lambda t: t.replace(' max="2"', ""), "it has no max"),
        ("mvn", lambda t: t.replace('eps="', 'epsilon="'), "it has no eps"),
        ("shape of", lambda t: t.replace('output_type="i64"', 'output_type="f32"'),
         "output_type='f32' is not i32 or i64"),
        ("gather nd", lambda t: t.replace('batch_dims="0"', 'batch_dims="x"'), "GatherND"),
        ("add", without_last_input, "it has 1 input, expected 2"),
        ("lstm sequence forward", without_last_input, "it has 6 inputs, expected 7"),
        ("relu", lambda t: t.replace("</output>\n\t\t</layer>\n\t\t<layer id=\"2\"", '<port id="9" precision="FP32"/>'
         "</output></layer><layer id=\"2\""), "it has 2 outputs, expected 1"),
        ("split", lambda t: t.replace('num_splits="2"', 'num_splits="3"'), "num_splits is 3, expected 2"),
        ("matmul", lambda t: t.replace('transpose_b="true"', 'transpose_b="x"'), "transpose_b='x' is not true or"),
        ("gather of a list of one axis", lambda t: t.replace('shape="1"', 'shape="0"'), "0 elements, expected one"),
        ("deconvolution to a shape, same_upper", lambda t: t.replace('output_padding="0, 0"', 'output_padding="0"'),
         "different numbers of axes"),
        ("interpolate of opset11", without_last_input, "it has 2 numbers for the axes [0, 1, 2, 3]"),
        ("interpolate nearest sizes half_pixel", lambda t: t.replace('"opset4"', '"opset11"'), "it has 4 inputs"),
        ("reduce_sum", without_last_input, "it has 1 input, expected 2"),
        ("prelu", without_last_input, "it has 1 input, expected 2"),
        ("concat", lambda t: t.replace('axis="1"', 'axis="9999999999999999999999"'),
         "axis='9999999999999999999999' is not a list of integers"),
    ],
    ids=short,
)  # fmt: skip
def test_a_layer_with_a_broken_part(tmp_path: Path, name: str, damage: Callable[[str], str], reason: str) -> None:
    assert name in LAYERS
    said = refusal(damaged(save_layer(tmp_path / "m.xml", name), damage), "m.xml")
    assert said.startswith("m.xml: 1 of its 1 layer cannot be converted:") and reason in said


def sliced(end: Callable[[], object]) -> Build:
    return lambda x: opset13.strided_slice(x, i(0, 0), end(), i(1, 1), begin_mask=[0, 0], end_mask=[0, 1])


def test_ten_thousand_million_numbers_are_not_computed(tmp_path: Path) -> None:
    """OpenVINO, which is to compute the end, may ask for some memory only."""
    end = lambda: opset13.range(constant(0, np.int64), constant(78, np.int64), constant(39, np.int64), "i64")
    path = layer(tmp_path / "m.xml", sliced(end), (3, 3))
    weights = path.with_suffix(".bin").read_bytes()
    for before, after in ((78, 10**10), (39, 1)):
        weights = weights.replace(np.int64(before).tobytes(), np.int64(after).tobytes())
    files = {"m.xml": path.read_bytes(), "m.bin": weights}
    assert "not a valid model of these shapes" in refusal(files, "m.xml")


def test_weights_of_half_precision_are_constants(tmp_path: Path) -> None:
    """float16 weights count as constants through the layer that makes them float."""

    def build(x: object) -> object:
        weights = opset13.convert(constant(np.ones((2, 2, 3, 3, 3)), np.float16), "f32")
        return opset13.group_convolution_backprop_data(
            x, weights, [2, 2], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1]
        )

    path = layer(tmp_path / "m.xml", build, IMAGE)
    files = {"m.xml": path.read_bytes(), "m.bin": path.with_suffix(".bin").read_bytes()}
    assert ran(files, "m.xml", "-o", "out.onnx").code == 0


def test_dims_between_two_layers_that_are_wrong(tmp_path: Path) -> None:
    """An IR's dims of inner values are checked against the layers, as those of inputs and outputs are."""
    path = layer(tmp_path / "m.xml", lambda x: opset13.abs(opset13.sin(opset13.relu(x))), (3, 4))

    def damage(text: str) -> str:
        """The dims of what Sin gives, where it gives it and where Abs takes it."""
        before, sin, after = text.partition('type="Sin"')
        given, end, rest = after.partition("</output>")
        inputs, output = given.split("<output>")
        taken, end_of_taken, rest = rest.partition("</input>")
        wrong = [part.replace("<dim>4</dim>", "<dim>5</dim>") for part in (output, taken)]
        return f"{before}{sin}{inputs}<output>{wrong[0]}{end}{wrong[1]}{end_of_taken}{rest}"

    said = refusal(damaged(path, damage), "m.xml")
    assert "not a valid model of these shapes" in said and "differ in dimension 1: (4) vs (5)" in said
