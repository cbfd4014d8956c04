"""Pads of opset 4 to 10 in standard operators: those of that opset, as ONNX Runtime has them, or none."""

from __future__ import annotations

import itertools
import re

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
import pytest
from small_models import FLOAT, model, pad

import padops
from padops.convert import Conversion
from padops.convert.standard import fallback
from padops.runtime.ort_values import run_session
from padops.spec import reference

DATA = np.arange(1, 21, dtype=np.float32).reshape(4, 5)
DIMS = (["a", "b"], [4, "b"], [4, 5])
PADS = ([-1, 0, 0, 1], [-1, 0, 0, -1], [1, 0, 0, 1], [0, 2, 0, 0], [-5, 0, 2, 0])
WHY = re.compile(
    r"it needs (\w+|Slice with bounds as inputs) \(opset \d+\); the model has opset \d+; raise that first \(onnx.*\)"
    r"|without Pad, opset \d+ has no operators that do the same"
    r"|padops::Pad_2 .*\[P[15]\]"
)


def _lowered(opset: int, dims: list[int | str], pads: list[int], mode: str) -> Conversion:
    node = pad(["x"], pads=pads, mode=mode, value=7.0)
    source = model([node], opset, ir_version=3, inputs=[("x", FLOAT, dims)])
    return padops.convert(source, target="onnx", without_pad=True)


@pytest.mark.parametrize("opset", range(4, 11))
def test_what_is_lowered_runs(opset: int) -> None:
    options, converted = onnxruntime.SessionOptions(), 0
    options.log_severity_level = 4
    for dims, pads, mode in itertools.product(DIMS, PADS, ("constant", "edge", "reflect")):
        lowered = _lowered(opset, dims, pads, mode)
        (record,) = lowered.records
        if record.status != "converted":
            assert WHY.match(record.reason), record.reason
            continue
        session = onnxruntime.InferenceSession(lowered.proto().SerializeToString(), options)
        try:
            expected = reference.run("Pad_2", {"pads": pads, "mode": mode, "value": 7.0}, [DATA])
        except padops.PadError:
            with pytest.raises(Exception, match="."):
                run_session(session, {"x": DATA})
            continue
        assert np.array_equal(run_session(session, {"x": DATA})[0], expected), (dims, pads, mode)
        converted += 1
    assert converted >= 12


def test_a_crop_of_open_dims_before_slice_had_inputs() -> None:
    """It became a Slice of three inputs, which opset 9 does not have."""
    lowered = _lowered(9, ["a", "b"], [-1, 0, 0, 1], "constant")
    assert [record.status for record in lowered.records] == ["converted"]
    (cut,) = (node for node in lowered.proto().graph.node if node.op_type == "Slice")
    given = {attribute.name: list(attribute.ints) for attribute in cut.attribute}
    assert len(cut.input) == 1 and given == {"starts": [1, 0], "ends": [2**63 - 1] * 2, "axes": [0, 1]}


def test_integers_are_added_from_opset_7_on() -> None:
    """The amounts of an open dim are computed; before, ONNX Runtime adds floats alone."""
    (record,) = _lowered(6, [4, "b"], [0, 2, 0, 0], "constant").records
    assert record.status == "unconverted"
    assert record.reason == "it needs Add (opset 7); the model has opset 6; raise that first (onnx.version_converter)"


@pytest.mark.parametrize(
    ("amounts", "mode", "dims", "told"),
    [
        ([0, 1, 0, 1], "reflect", [2, 1], True),
        ([0, 1, 0, 1], "reflect", None, True),
        ([0, 1, 0, 1], "reflect", [2, 3], False),
        ([0, 1, 0, 1], "constant", [2, None], False),
    ],
    ids=["too far", "perhaps too far", "near", "constant"],
)
def test_a_fallback_that_may_fail_says_so(
    amounts: list[int], mode: str, dims: list[int | None] | None, told: bool
) -> None:
    """Below opset 11 it is ONNX Runtime's Pad, whether or not that can do it."""
    source = model([pad(["x"], pads=amounts, mode=mode)], 10, inputs=[("x", FLOAT, dims)])
    converted = padops.convert(source, fold=False)
    note = f"the fallback of Pad_2 is ONNX Runtime's Pad alone, which is all that opset 10 has: it {fallback.FAILS}"
    assert (note in converted.notes) == told
    assert [function.name for function in converted.proto().functions] == ["Pad_2"]


@pytest.mark.parametrize("opset", [1, 2, 3])
def test_what_to_do_before_concat(opset: int) -> None:
    """The advice is one that can be followed: onnx has an adapter for the Pad of opset 2, and none for that of 1."""
    source = model([pad(["x"], **{"paddings" if opset == 1 else "pads": [1, 0, 0, 0]})], opset, ir_version=3)
    (record,) = padops.convert(source, target="onnx", without_pad=True).records
    assert record.reason.startswith(f"ONNX Runtime has no Concat before opset 4, and the model is of opset {opset}")
    if opset > 1:
        assert record.reason.endswith("; raise that first (onnx.version_converter)")
        assert onnx.version_converter.convert_version(source, 9).opset_import[0].version == 9
        return
    assert record.reason.endswith(
        "which onnx.version_converter cannot raise; 'padops convert' without '--target onnx' makes the Pad run"
    )
    with pytest.raises(RuntimeError, match="No Adapter"):
        onnx.version_converter.convert_version(source, 9)
    assert [record.status for record in padops.convert(source).records] == ["converted"]
