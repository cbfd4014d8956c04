"""IRs verified against OpenVINO: a Pad that differs from OpenVINO's, and rounding and NaN around Pads that do not."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

import numpy as np
import onnx
import pytest
from openvino import opset12, opset13
from openvino_irs import constant, f, parameter, save

import padops
from padops.convert import VerificationError, ir
from padops.convert.verify.openvino import SAID, openvino_process

SHAPE = (1, 3, 8, 8)
PADDED = "graph/padded"


def padded(x, mode: str = "edge"):
    y = opset12.pad(x, [0, 0, 1, 2], [0, 0, 2, 1], mode)
    y.set_friendly_name("padded")
    return y


def network(path: Path, mode: str = "edge", scale: float = 1) -> Path:
    """A Pad whose part in the output is as large as ``scale``, and a convolution behind it."""
    x = parameter(SHAPE)
    small = opset13.multiply(padded(x, mode), constant(np.float32(scale)))
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
    assert found.outcome in ("close", "equal") and found.passed
    assert SAID in found.notes
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
    x = parameter(SHAPE)
    begin, end, one, axes = (np.array(row, np.int64) for row in ([1, 2], [9, 10], [1, 1], [2, 3]))
    return save(path, [opset13.slice(padded(x), begin, end, one, axes)], [x])


def test_a_pad_that_no_output_shows_is_compared(tmp_path):
    found = padops.convert(hidden(tmp_path / "m.xml"), fold=False, verify=True).verification
    assert (found.verdict, found.outcome) == ("tested", "equal")
    assert [(pad.path, pad.exercise, pad.equal) for pad in found.pads] == [(PADDED, "exercised", True)]
    assert found.unproved == (
        "nothing was proved: the original is no ONNX model, or other execution providers were asked for",
    )


def test_a_wrong_pad_that_no_output_shows_is_named(tmp_path, wrong):
    with pytest.raises(
        VerificationError, match=f"though all outputs agree; {PADDED}: padded: for the data that it has"
    ):
        padops.convert(hidden(tmp_path / "m.xml"), tmp_path / "m.onnx", fold=False, verify=True)
    assert not (tmp_path / "m.onnx").exists()


def test_a_layer_that_is_wrong_for_finite_numbers_differs_all_the_same(tmp_path, wrong):
    x = parameter(SHAPE)
    with pytest.raises(VerificationError, match="1 output differs"):
        padops.convert(save(tmp_path / "Relu.xml", [opset13.relu(padded(x))], [x]), verify=True, run=True)


def test_a_small_result_of_a_sigmoid_is_rounded_as_1_is(tmp_path):
    """OpenVINO computes it from its distance to 1."""
    x = parameter(SHAPE)
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
        assert peer.run({"x": np.zeros(SHAPE, np.float32)})["y"].shape == (1, 4, 9, 9)
        process = Path(f"/proc/{peer._pipes.process.pid}")
        children = [(task / "children").read_text() for task in (process / "task").iterdir()]
    assert not told.exists() and children and not "".join(children).strip()
