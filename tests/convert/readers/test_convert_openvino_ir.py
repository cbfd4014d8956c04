"""OpenVINO IRs, made with OpenVINO itself, converted, and run beside OpenVINO's CPU device."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from onnx import numpy_helper
from openvino import opset1, opset12
from openvino import opset13 as op
from openvino_irs import (
    SHAPE,
    TOLERANCE,
    constant,
    converted_outputs,
    openvino_outputs,
    pad_model,
    parameter,
    rng,
    same_bits,
    save,
)

import padops


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


@pytest.mark.parametrize(
    ("begin_type", "end_type"),
    [(np.int8, np.int16), (np.uint8, np.uint16), (np.int32, np.uint32), (np.uint64, np.int64)],
)
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
    assert converted_outputs(padops.convert(path).proto(), [])[0].tolist() == [1, 2, 3]


def check_network(path: Path, feeds: list[np.ndarray], pads: int) -> onnx.ModelProto:
    """Converts an IR whose Pads have to become padops', runs both, compares every output."""
    converted = padops.convert(path)
    assert [record.status for record in converted.records] == ["converted"] * pads
    proto = converted.proto()
    assert not [node.domain for node in proto.graph.node if node.domain not in ("", "padops")]
    assert {row.domain for row in proto.opset_import} == {"", "padops"}
    found, wanted = converted_outputs(proto, feeds), openvino_outputs(path, feeds)
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.abs(one - other).max() <= TOLERANCE * np.abs(other).max()
    return proto


@pytest.mark.parametrize(
    ("name", "pads", "shapes"),
    [
        ("basic-pitch/nmp.onnx", 24, {"serving_default_input_2:0": (1, 43844, 1)}),
        ("swift-f0/model.onnx", 5, {"audio": (1, 8000), "fmin": (), "fmax": ()}),
    ],
)
def test_real_models(tmp_path, monkeypatch, name, pads, shapes):
    """Networks with reflected, constant and computed pads, through OpenVINO's ONNX frontend and its IR."""
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "scripts")
    source = importlib.import_module("fetch_models").fetch()[name]
    openvino.save_model(openvino.convert_model(source), tmp_path / "m.xml", compress_to_fp16=False)
    given = {"fmin": np.array(46.875, np.float32), "fmax": np.array(2093.75, np.float32)}
    sound = rng().standard_normal(max(shapes.values(), key=len), dtype=np.float32)
    names = [value.name for value in padops.convert(tmp_path / "m.xml").proto().graph.input]
    assert sorted(names) == sorted(shapes)
    check_network(tmp_path / "m.xml", [given.get(name, sound) for name in names], pads)
