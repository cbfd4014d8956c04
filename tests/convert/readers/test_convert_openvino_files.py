"""The files of OpenVINO IRs, damaged ones too; what is needed to read them; and their verification against OpenVINO."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from openvino import opset12, opset13
from openvino_irs import (
    CORE,
    SHAPE,
    constant,
    converted_outputs,
    f,
    i,
    pad_model,
    parameter,
    refusal,
    save,
)

import padops
from padops.convert import PadopsError


def weighted(path: Path) -> Path:
    x = parameter((2, 3))
    return save(path, [opset12.pad(opset13.add(x, f(2, 3)), [1, 0], [0, 1], "edge")], [x])


def test_records_and_report_name_both_files(tmp_path):
    path = weighted(tmp_path / "m.xml")
    converted = padops.convert(path, tmp_path / "m.onnx", report=tmp_path / "report.json")
    assert [(Path(file.name).name, file.bytes) for file in converted.sources] == [
        ("m.xml", path.stat().st_size),
        ("m.bin", path.with_suffix(".bin").stat().st_size),
    ]
    assert converted.opsets == {}
    (record,) = converted.records
    assert re.fullmatch(r"graph/Pad_\d+", record.path) and record.form == "OpenVINO Pad of opset12"
    onnx.checker.check_model(tmp_path / "m.onnx")


@pytest.mark.parametrize("suffix", [".xml", ".bin"])
def test_the_source_is_not_written_over(tmp_path, suffix):
    path = weighted(tmp_path / "m.xml")
    with pytest.raises(PadopsError, match="belongs to the source, which is not an ONNX model"):
        padops.convert(path, path.with_suffix(suffix))
    with pytest.raises(PadopsError, match="belongs to the source, which is not an ONNX model"):
        padops.convert(path, in_place=True)


def test_names_are_openvinos(tmp_path):
    x, y = parameter((2,), name="x"), parameter((2,), name="y")
    model = openvino.Model([opset13.add(x, y), x], [x, y], "m")
    model.outputs[0].get_tensor().set_names({"zeta", "with, comma"})
    openvino.save_model(model, tmp_path / "m.xml")
    proto = padops.convert(tmp_path / "m.xml").proto()
    compiled = CORE.compile_model(tmp_path / "m.xml", "CPU")
    assert [value.name for value in proto.graph.input] == [port.get_any_name() for port in compiled.inputs]
    assert proto.graph.output[0].name == compiled.outputs[0].get_any_name() == "with, comma"
    found = converted_outputs(proto, [np.float32([1, 2]), np.float32([3, 4])])
    assert [output.tolist() for output in found] == [[4, 6], [1, 2]]


def test_no_layer_needs_openvino(tmp_path, monkeypatch, capfd):
    x = parameter(SHAPE)
    path = save(tmp_path / "m.xml", [opset13.relu(opset12.pad(x, [1, 1, 1], [1, 1, 1], "edge"))], [x])
    monkeypatch.setitem(sys.modules, "openvino", None)
    assert [record.status for record in padops.convert(path).records] == ["converted"]
    assert capfd.readouterr() == ("", "")


def test_an_ir_that_crashes_openvino_is_not_compared(tmp_path):
    path = pad_model(tmp_path / "m.xml", "edge", (4,), constant([-6]), constant([5]))
    verification = padops.convert(path, verify=True, run=True).verification
    assert (verification.outcome, verification.verdict) == ("runs", "unknown")
    # OpenVINO computes a shape from memory that it has not written: it crashes, or says that the shape is another.
    (refused,) = verification.notes
    assert refused.startswith("OpenVINO does not run the original: ")


def test_pads_are_inspected_where_other_layers_cannot_be_converted(tmp_path):
    x = parameter((1, 4, 9, 8))
    begin = opset13.squeeze(constant([[0, 0, 1, 1]], np.int64), i(0))
    path = save(tmp_path / "m.xml", [opset13.grn(opset12.pad(x, begin, begin, "symmetric"), 1e-3)], [x])
    found = padops.inspect(path)
    (pad,) = found.pads
    assert (pad.form, pad.mode, pad.type) == ("OpenVINO Pad of opset12", "symmetric", "float")
    assert (pad.input_shape, pad.output_shape) == ((1, 4, 9, 8), (1, 4, 11, 10))
    assert pad.amounts == ((0, 0), (0, 0), (1, 1), (1, 1))
    (note,) = found.notes
    assert note.startswith(f"padops cannot convert it: {path}: 1 of its 2 layers cannot be converted: GRN '")
    assert found.roads == pad.roads == () and found.commands() == {}
    assert "there is no rule for this type of layer" in refusal(path)
    path.with_suffix(".bin").unlink()
    with pytest.raises(PadopsError, match=r"needs .*m\.bin, which does not exist"):
        padops.inspect(path)
    none = padops.inspect(save(path, [opset13.grn(x, 1e-3)], [x]))
    assert none.pads == () and none.notes[1:] == ("the model has no Pad",)
