"""``--opset``: Pads written for another version of the standard operators, the rest by onnx's version converter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from written_models import model

import padops

MODELS = Path(__file__).resolve().parents[2] / "models"
WEIGHTS = np.random.default_rng(0).standard_normal((4, 3, 5, 5)).astype(np.float32)


def opset_of(message: onnx.ModelProto) -> dict[str, int]:
    return {row.domain: row.version for row in message.opset_import}


@pytest.mark.parametrize(("name", "opset"), [("pad_02", 11), ("pad_18", 13), ("pad_18", 21), ("pad_19", 17),
                                             ("string", 11), ("string", 21)])  # fmt: skip
def test_pads_for_an_opset(name: str, opset: int) -> None:
    conversion = padops.lower(MODELS / f"{name}.onnx", opset=opset)
    message = conversion.proto()
    assert opset_of(message) == {"": opset} and message.ir_version <= onnx.load(MODELS / f"{name}.onnx").ir_version
    assert conversion.verification is not None and conversion.verification.passed
    assert not conversion.unconverted


@pytest.mark.parametrize(("name", "opset"), [("pad_02", 17), ("pad_19", 21), ("nested", 17), ("string", 21)])
def test_the_record_describes_the_pads_of_the_user(name: str, opset: int) -> None:
    """The Pads pass through onnx's version converter as operators of padops, with dims that it invents."""
    path = MODELS / f"{name}.onnx"
    conversion, wanted = padops.lower(path, opset=opset, fold=False), padops.inspect(path).pads
    assert conversion.opsets == opset_of(onnx.load(path))
    assert [record.facts for record in conversion.records] == [replace(pad, roads=()) for pad in wanted]
    for record, pad in zip(conversion.records, wanted, strict=True):
        assert (record.path, record.name, record.form) == (pad.path, pad.name, pad.form)
    assert "padops: Pad" not in str(conversion.proto().graph)


def test_explicit_amounts_of_same_are_recorded() -> None:
    source = model("""(float[1, 1, 4, p] x) => (float[a, b, c, d] y) {
        y = MaxPool<auto_pad = "SAME_UPPER", kernel_shape = [3, 2], strides = [2, 2]>(x) }""")
    conversion = padops.lower(source, opset=17, auto_pad="explicit")
    assert "padops: Pad" not in str(conversion.proto().graph)
    (row,) = conversion.records
    assert (row.status, row.op_type, row.form) == ("converted", "explicit pads", "MaxPool auto_pad=SAME_UPPER")


def test_a_function_that_is_called_twice() -> None:
    """Both copies keep the path of the Pad in the function; the copy of a node without a name has none."""
    source = model("""(float[2, 3] x) => (float[2, 5] y, float[2, 5] z) { y = other.F(x) z = other.F(x) }
        <opset_import: ["" : 18], domain: "other"> F (a) => (b) {
            p = Constant<value_ints = [0, 1, 0, 1]>() b = Pad<mode = "reflect">(a, p) }""")
    conversion = padops.lower(source, opset=17)
    assert [row.path for row in conversion.records] == ["function other::F/Pad_1"] * 2
    assert not any(node.name for node in conversion.proto().graph.node if node.op_type == "Pad")


def test_weights_stay_where_they_are(tmp_path: Path) -> None:
    made = model("""(float[1, 3, a, b] x) => (float[1, 4, c, d] y) {
        p = Constant<value_ints = [0, 0, 1, 2, 0, 0, 3, 4]>() q = Pad<mode = "reflect">(x, p) y = Conv(q, w) }""")
    made.graph.initializer.append(onnx.numpy_helper.from_array(WEIGHTS, "w"))
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    padops.lower(tmp_path / "m.onnx", tmp_path / "out.onnx", opset=12)
    found = onnx.load(tmp_path / "out.onnx")
    assert [value.name for value in found.graph.input] == ["x"] and opset_of(found)[""] == 12
    (kept,) = [row for row in found.graph.initializer if row.name == "w"]
    assert np.array_equal(onnx.numpy_helper.to_array(kept), WEIGHTS)


def test_what_an_adapter_of_onnx_gets_wrong() -> None:
    """That of ReduceMean leaves an attribute which the older operator lacks."""
    source = model("""(float[3] x) => (float[a] y) <int64[2] p = {1, 2}, int64[1] axes = {0}> {
        q = Pad(x, p) y = ReduceMean<noop_with_empty_axes = 0>(q, axes) }""")
    with pytest.raises(padops.PadopsError, match="from opset 18 to 17: Unrecognized attribute: noop_with_empty_axes"):
        padops.lower(source, opset=17)


NEEDS, RANGE = "opset needs target='onnx' and select='all'", "expected a number from 7 to "


@pytest.mark.parametrize(("options", "reason"), [
    ({"opset": 13}, NEEDS), ({"opset": 13, "target": "onnx", "select": "needed"}, NEEDS),
    *(({"opset": opset, "target": "onnx"}, f"opset is {opset!r}, {RANGE}") for opset in (6, 99, "13", True)),
])  # fmt: skip
def test_options_that_do_not_fit(options: dict[str, object], reason: str) -> None:
    with pytest.raises(padops.UsageError, match=f"^{reason}"):
        padops.convert(MODELS / "pad_18.onnx", **options)


def test_a_pad_that_breaks_a_rule() -> None:
    """The rest of the model is converted, unless onnx's converter refuses the Pad: one that is padops' already."""
    text = "(float[2, 3] x) => (float[a, b] y, float[c, d] z) <int64[4] p = {0, -9, 0, 0}, int64[4] q = {0, 1, 0, 1}> "
    text += '{ y = PAD<mode = "reflect">(x, p) z = Pad<mode = "edge">(x, q) }'
    for pad, wanted, notes in (("Pad", 21, 0), ("padops.Pad_18", 18, 1)):
        conversion = padops.convert(model(text.replace("PAD", pad)), target="onnx", opset=21)
        assert opset_of(conversion.proto())[""] == wanted
        stays = "the model stays in opset 18: a Pad breaks a rule"
        assert sum(note.startswith(stays) for note in conversion.notes) == notes
