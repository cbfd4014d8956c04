"""OpenVINO IRs as files, damaged ones too, and verified against OpenVINO."""

from __future__ import annotations

import os
import re
import sys
from contextlib import closing
from pathlib import Path

import fetch_models
import numpy as np
import onnx
import openvino
import pytest
import torch
from auto_pad_models import run
from openvino import opset12, opset13
from openvino_irs import CORE, SHAPE, alike, constant, f, i, pad_model, parameter, refusal, rng, save
from torch.nn import functional

import padops
from padops.convert import PadopsError, VerificationError, ir
from padops.convert.verify.openvino import SAID, _array, _tensor, openvino_process
from padops.spec.dtypes import by_name


def weighted(path: Path) -> Path:
    x = parameter((2, 3))
    return save(path, [opset12.pad(opset13.add(x, f(2, 3)), [1, 0], [0, 1], "edge")], [x])


def test_elements_of_a_type_that_numpy_lacks():
    array = np.array([1.5, -2], by_name("bfloat16").numpy)
    tensor = _tensor(array)
    assert tensor.element_type == openvino.Type.bf16
    assert _array(tensor).dtype == array.dtype and _array(tensor).tobytes() == array.tobytes()


def test_records_and_report_name_both_files(tmp_path):
    path = weighted(tmp_path / "m.xml")
    converted = padops.convert(path, tmp_path / "m.onnx", report=tmp_path / "report.json")
    files = [(Path(file.name).name, file.bytes) for file in converted.sources]
    assert files == [(one.name, one.stat().st_size) for one in (path, path.with_suffix(".bin"))]
    assert converted.opsets == {}
    (record,) = converted.records
    assert re.fullmatch(r"graph/Pad_\d+", record.path) and record.form == "OpenVINO Pad of opset12"
    onnx.checker.check_model(tmp_path / "m.onnx")


@pytest.mark.parametrize("suffix", [".xml", ".bin"])
def test_the_source_is_not_written_over(tmp_path, suffix):
    path = weighted(tmp_path / "m.xml")
    for given in ({"output": path.with_suffix(suffix)}, {"in_place": True}):
        with pytest.raises(PadopsError, match="is a file of a source that is not ONNX"):
            padops.convert(path, **given)


def test_names_are_openvinos(tmp_path):
    x, y = parameter((2,), name="x"), parameter((2,), name="y")
    model = openvino.Model([opset13.add(x, y), x], [x, y], "m")
    model.outputs[0].get_tensor().set_names({"zeta", "with, comma"})
    openvino.save_model(model, tmp_path / "m.xml")
    proto = padops.convert(tmp_path / "m.xml").proto()
    compiled = CORE.compile_model(tmp_path / "m.xml", "CPU")
    assert [value.name for value in proto.graph.input] == [port.get_any_name() for port in compiled.inputs]
    assert proto.graph.output[0].name == compiled.outputs[0].get_any_name() == "with, comma"
    found = run(proto, np.float32([1, 2]), np.float32([3, 4]))
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


DATA = (1, 3, 8, 8)
PADDED = "graph/padded"


def padded(x):
    y = opset12.pad(x, [0, 0, 1, 2], [0, 0, 2, 1], "edge")
    y.set_friendly_name("padded")
    return y


def network(path: Path, scale: float = 1) -> Path:
    """A Pad whose part in the output is as large as ``scale``, and a convolution behind it."""
    x = parameter(DATA)
    small = opset13.multiply(padded(x), constant(np.float32(scale)))
    large = opset13.add(small, constant(np.float32(100 if scale < 1 else 0)))
    y = opset13.convolution(large, f(4, 3, 3, 3), [1, 1], *[[0, 0]] * 2, [1, 1])
    return save(path, [y], [x])


@pytest.fixture
def wrong(monkeypatch):
    """Reads edge as reflect, and Relu as Abs."""
    right = ir.convert_layers

    def convert(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
        message = right(message, path)
        for node in message.graph.node:
            if node.op_type == "Relu":
                node.op_type = "Abs"
            for row in node.attribute:
                if row.name == "pad_mode" and path.stem != "Relu":
                    row.s = b"reflect"
        return message

    monkeypatch.setattr(ir, "convert_layers", convert)


def test_rounding_around_a_pad_that_is_right(tmp_path):
    path = network(tmp_path / "m.xml")
    found = padops.convert(path, tmp_path / "m.onnx", fold=False, verify=True, run=True).verification
    assert found.outcome in ("close", "equal") and found.passed and SAID in found.notes
    assert [(pad.path, pad.equal, pad.right) for pad in found.pads] == [(PADDED, True, True)]


@pytest.mark.parametrize("scale", [1, 1e-5])
def test_a_pad_that_is_wrong_is_named(tmp_path, wrong, scale):
    """Also where it changes the outputs by less than rounding may."""
    path = network(tmp_path / "m.xml", scale=scale)
    with pytest.raises(VerificationError) as caught:
        padops.convert(path, tmp_path / "m.onnx", fold=False, verify=True, run=True)
    assert re.search(rf"{PADDED}: padded: for the data that it has in OpenVINO, \d+ of \d+ elements", str(caught.value))
    found = caught.value.conversion.verification
    assert (found.outcome, [pad.right for pad in found.pads]) == ("different", [False])
    assert not (tmp_path / "m.onnx").exists()


def hidden(path: Path) -> Path:
    """A Pad of which the output shows nothing but the data in its midst."""
    x = parameter(DATA)
    return save(path, [opset13.slice(padded(x), i(1, 2), i(9, 10), i(1, 1), i(2, 3))], [x])


def test_a_pad_that_no_output_shows_is_compared(tmp_path):
    found = padops.convert(hidden(tmp_path / "m.xml"), fold=False, verify=True).verification
    assert (found.verdict, found.outcome) == ("tested", "equal")
    assert [(pad.path, pad.exercise, pad.equal) for pad in found.pads] == [(PADDED, "exercised", True)]
    assert found.unproved[0].startswith("nothing was proved: the original is no ONNX model, or other execution")


def test_a_wrong_pad_that_no_output_shows_is_named(tmp_path, wrong):
    named = f"though all outputs agree; {PADDED}: padded: for the data that it has"
    with pytest.raises(VerificationError, match=named):
        padops.convert(hidden(tmp_path / "m.xml"), tmp_path / "m.onnx", fold=False, verify=True)
    assert not (tmp_path / "m.onnx").exists()


def test_a_layer_that_is_wrong_for_finite_numbers_differs_all_the_same(tmp_path, wrong):
    x = parameter(DATA)
    with pytest.raises(VerificationError, match="1 output differs"):
        padops.convert(save(tmp_path / "Relu.xml", [opset13.relu(padded(x))], [x]), verify=True, run=True)


def test_a_small_result_of_a_sigmoid_is_rounded_as_1_is(tmp_path):
    """OpenVINO computes it from its distance to 1."""
    x = parameter(DATA)
    y = opset13.sigmoid(opset13.subtract(padded(x), constant(np.float32(14))))
    path = save(tmp_path / "m.xml", [opset13.reshape(y, [-1], False)], [x])
    assert padops.convert(path, verify=True, run=True).verification.outcome in ("close", "equal")


def test_openvino_runs_without_telemetry_and_children(tmp_path, monkeypatch):
    """What stands in for the telemetry leaves a file behind."""
    told = tmp_path / "told"
    (tmp_path / "openvino_telemetry").mkdir()
    (tmp_path / "openvino_telemetry" / "__init__.py").write_text(f"open({str(told)!r}, 'w')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("CI", raising=False)
    path = network(tmp_path / "m.xml")
    with closing(openvino_process(path, ["y"])) as peer:
        assert peer.run({"x": np.zeros(DATA, np.float32)})["y"].shape == (1, 4, 9, 9)
        process = Path(f"/proc/{peer._pipes.process.pid}")
        children = [(task / "children").read_text() for task in (process / "task").iterdir()]
    assert not told.exists() and children and not "".join(children).strip()


class Network(torch.nn.Module):
    """Two convolutions between pads of three kinds, a pool, a normalisation and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Conv2d(3, 8, 3, stride=2)
        self.norm = torch.nn.BatchNorm2d(8)
        self.second = torch.nn.Conv2d(8, 8, 3, groups=2, dilation=2)
        self.layer_norm = torch.nn.LayerNorm(8)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.relu(self.norm(self.first(functional.pad(x, (1, 2, 2, 1), "reflect"))))
        x = functional.silu(self.second(functional.pad(x, (2, 2, 2, 2), "replicate")))
        x = functional.pad(functional.max_pool2d(x, 2), (-1, 1, 0, 2), "constant", 0.5)
        return torch.softmax(self.head(self.layer_norm(x.mean((2, 3)))), -1), x


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # what OpenVINO uses
@pytest.mark.parametrize("shape", [[2, 3, 20, 24], [-1, 3, -1, -1]])
def test_a_network_of_openvinos_pytorch_frontend(tmp_path, shape):
    path, example = tmp_path / "network.xml", torch.rand(2, 3, 20, 24)
    with torch.no_grad():
        model = openvino.convert_model(Network().eval(), example_input=example, input=shape)
    for compressed in (False, True):
        openvino.save_model(model, path, compress_to_fp16=compressed)
        alike(path, example.numpy())
        if -1 in shape:
            alike(path, rng().random((1, 3, 17, 31), np.float32))
        records = padops.convert(path).records
        assert [record.status for record in records] == ["converted"] * 3


@pytest.mark.parametrize(("name", "pads", "shape"), [
    ("basic-pitch/nmp.onnx", 24, (1, 43844, 1)), ("swift-f0/model.onnx", 5, (1, 8000)),
])  # fmt: skip
def test_real_models_of_openvinos_onnx_frontend(tmp_path, name, pads, shape):
    source = fetch_models.fetch()[name]
    openvino.save_model(openvino.convert_model(source), tmp_path / "m.xml", compress_to_fp16=False)
    conversion = padops.convert(tmp_path / "m.xml")
    assert [record.status for record in conversion.records] == ["converted"] * pads
    given = {"fmin": np.array(46.875, np.float32), "fmax": np.array(2093.75, np.float32)}
    sound = rng().standard_normal(shape, dtype=np.float32)
    alike(tmp_path / "m.xml", *(given.get(value.name, sound) for value in conversion.proto().graph.input))
