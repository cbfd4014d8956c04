"""``--target onnx --without-pad``: no Pad is left, and the bits are the same in runtimes whose Pad is another."""

from __future__ import annotations

from pathlib import Path

import native
import numpy as np
import onnx
import pytest
import standard_models as standard
import whole_models
from onnx import parser

import padops
from padops import cli
from padops.spec import reference
from padops.spec.plan import PadError


def model(text: str, opset: int = 19) -> onnx.ModelProto:
    """A model from its text; data without dims are of any rank."""
    made = parser.parse_model(f'<ir_version: 9, opset_import: ["": {opset}]> {text}')
    for value in (*made.graph.input, *made.graph.output):
        if not value.type.tensor_type.shape.dim and value.name in ("x", "y"):
            value.type.tensor_type.ClearField("shape")
    return made


def operators(message: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in message.graph.node}


# Data of which less and less is known; amounts, or none where they are an input.
DATA = ("float[3, 5]", "float[3, n]", "float[m, n]", "float")


@pytest.mark.parametrize("data", DATA)
def test_a_negative_dim_is_refused(data: str) -> None:
    source = model(f"g ({data} x, int64[4] p) => (float y) {{ y = Pad (x, p) }}")
    feeds = {"x": np.ones((3, 5), np.float32), "p": np.array([0, -4, 0, -2])}
    with pytest.raises(PadError, match="P1"):
        reference.run("Pad_19", {}, [feeds["x"], feeds["p"]])
    made = padops.lower(source, without_pad=True).proto()
    assert isinstance(standard.run(made, feeds, standard.stock_options()), Exception)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("pads", [([0, -9], [1, 0]), ([-3, 1], [0, 2])])
def test_a_dim_that_openvino_makes_0(data: str, pads: tuple[list[int], list[int]]) -> None:
    """P1: Pad-12 of OpenVINO has no negative dims."""
    source = model(
        f"g ({data} x, int64[2] begins, int64[2] ends, float f) => (float y) "
        '{ y = padops.OpenVINOPad_12 <pad_mode = "constant"> (x, begins, ends, f) }'
    )
    source.opset_import.add(domain="padops", version=1)
    given = [np.ones((3, 5), np.float32), *map(np.array, pads), np.array(7, np.float32)]
    expected = reference.run("OpenVINOPad_12", {"pad_mode": "constant"}, given)
    assert 0 in expected.shape or pads[0] == [-3, 1]
    made = padops.lower(source, without_pad=True).proto()
    assert "Pad" not in str(made)
    feeds = dict(zip(("x", "begins", "ends", "f"), given))
    assert standard.run(made, feeds, standard.stock_options()) == native.bits(expected)


def test_what_cannot_be_done_is_named() -> None:
    source = model("g (float8e5m2[2] x) => (float8e5m2[n] y) <int64[2] p = {1, 2}> { y = Pad (x, p) }", 21)
    why = "no standard operator of opset 21 copies float8e5m2 without changing bits"
    said = rf"and ONNX Runtime does not run the model as it is: graph/Pad_0 \(.*\): {why}"
    with pytest.raises(padops.PadsLeftError, match=said):
        padops.lower(source, without_pad=True)
    source = model('g (float x) => (float y) { y = Pad <mode = "edge", pads = [1, 2]> (x) }', 10)
    (record,) = padops.lower(source, without_pad=True).records
    assert record.reason == "without Pad, opset 10 has no operators that do the same"


@pytest.mark.parametrize("path", whole_models.OF_PADS, ids=lambda path: path.stem)
def test_samples(path: Path, tmp_path: Path) -> None:
    """By the command; what the library does is what the model without Pad does."""
    made, converted = tmp_path / "made.onnx", tmp_path / "converted.onnx"
    options = ["--target", "onnx", "--without-pad", "--no-fold", "-q"]
    refused = path.stem in ("pad_01", "pad_23")  # an opset without a Pad that ONNX Runtime has; float4e2m1
    assert cli.main(["convert", str(path), "-o", str(made), *options]) == (3 if refused else 0)
    assert made.exists() != refused
    left = padops.convert(path if refused else made, target="onnx", without_pad=True, fold=False).unconverted
    too_old = path.stem in ("pad_01", "pad_02")  # for a Concat that ONNX Runtime runs
    assert all("it needs Concat (opset 4)" in record.reason for record in left) == too_old or not left
    assert not left or too_old or path.stem in ("nested", "pad_23")  # a function that says no type; float4e2m1
    if refused:
        return
    message = onnx.load(made)
    assert ("Pad" in operators(message)) == (too_old or path.stem == "pad_23")
    if message.opset_import[0].version > standard.NEWEST or too_old or path.stem in ("nested", "pad_23"):
        return
    padops.convert(path, converted, fold=False)
    feeds = whole_models.sample_feeds(path)
    whole_models.assert_same(
        whole_models.run(made, feeds, registered=False), whole_models.run(converted, feeds, registered=True)
    )
