"""padops.convert and its kin in Python: what they take, --opset included, what they refuse, and what they give back."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from command_lines import MODELS
from external_data import save, write_floats
from small_models import external, one_pad
from written_models import model

import padops

WEIGHTS = np.arange(4, dtype=np.float32).tobytes()


@pytest.fixture
def with_data(tmp_path: Path) -> Path:
    for name in "ab":
        (tmp_path / name).mkdir()
    write_floats(tmp_path / "w.bin", *range(4))
    return save(tmp_path, [external("w", "w.bin", 4)], "m.onnx")


def test_bytes_and_file_objects(tmp_path: Path) -> None:
    content = one_pad(13).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    expected = padops.convert(path).proto()
    with path.open("rb") as file:
        for source in (content, bytearray(content), memoryview(content), io.BytesIO(content), file):
            conversion = padops.convert(source, verify=True, run=True)
            assert conversion.proto() == expected
            assert conversion.verification.outcome == "equal"
    assert padops.lower(io.BytesIO(content)).records[0].status == "not needed"
    assert padops.inspect(content).pads == padops.inspect(path).pads
    assert padops.verify(content, io.BytesIO(expected.SerializeToString()), run=True).outcome == "equal"


@pytest.mark.parametrize(("source", "error", "why"), [
    (b"no model", padops.PadopsError, "the model: not an ONNX model: it cannot be parsed"),
    (io.StringIO("text"), padops.UsageError, "does not return bytes: open it in mode 'rb'"),
    (io.TextIOWrapper(io.BytesIO(b"\xff")), padops.UsageError, "open it in mode 'rb'"),
], ids=["bytes", "text", "text file"])  # fmt: skip
def test_what_is_no_model(source: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        padops.convert(source)


NEWEST, NEEDS = onnx.defs.onnx_opset_version(), "opset needs target='onnx' and select='all'"
KINDS = "expected a path, bytes, a binary file, an onnx.ModelProto or an onnx_ir.Model"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"source": 3}, f"source is an int, {KINDS}"),
    ({"source": ""}, "the path of the model is empty"),
    ({"output": 3}, "output is an int, expected a path"),
    ({"report": ["r.json"]}, "report is a list, expected a path"),
    ({"fallback": "no"}, "fallback is 'no', expected True or False"),
    ({"fold": 0}, "fold is 0, expected True or False"),
    ({"verify": "yes"}, "verify is 'yes', expected True or False"),
    ({"verify": True, "inputs": [1]},
     "inputs is a list, expected arrays by input name, or the path of an .npz"),
    ({"seed": "1"}, "seed is '1', expected an integer"),
    ({"custom_domains": "tf"}, "custom_domains is 'tf', expected a list of names"),
    ({"custom_domains": [1]}, "custom_domains is [1], expected a list of names"),
    ({"target": "onx"}, "target is 'onx', expected one of padops, onnx, pyop"),
    ({"emulated": "maybe"}, "emulated is 'maybe', expected 'convert' or 'keep'"),
    ({"auto_pad": "yes"}, "auto_pad is 'yes', expected 'keep' or 'explicit'"),
    ({"without_pad": True}, "without_pad needs target='onnx'"),
    ({"target": "onnx", "without_pad": True, "select": "needed"}, "without_pad needs select='all'"),
    ({"opset": 13}, NEEDS),
    ({"opset": 13, "target": "onnx", "select": "needed"}, NEEDS),
    *(({"target": "onnx", "opset": opset}, f"opset is {opset!r}, expected a number from 7 to {NEWEST}")
      for opset in (6, 99, "13", True)),
]  # fmt: skip


@pytest.mark.parametrize(("given", "text"), WRONG, ids=[next(reversed(row[0])) for row in WRONG])
def test_wrong_arguments_are_named(given: dict[str, Any], text: str) -> None:
    with pytest.raises(padops.UsageError) as error:
        padops.convert(**{"source": one_pad(13), **given})
    assert str(error.value) == text


def test_wrong_arguments_of_the_others() -> None:
    source, options = one_pad(13), onnxruntime.SessionOptions()
    session = onnxruntime.InferenceSession(source.SerializeToString())
    expected = "expected onnxruntime.SessionOptions$"
    for call, error, why in (
        (lambda: padops.lower("m.onnx", target="padops"), padops.UsageError, "is not an argument of padops.lower"),
        (lambda: padops.verify(source, source, inputs=[1], run=True), padops.UsageError, "inputs is a list"),
        (lambda: padops.inspect(source, select="x"), padops.UsageError, "select is 'x', expected 'all' or 'needed'"),
        (lambda: padops.inspect([]), padops.UsageError, "source is a list"),
        (lambda: padops.inspect(""), padops.UsageError, "the path of the model is empty"),
        (lambda: padops.register(session), TypeError, f"session_options is InferenceSession, {expected}"),
        (lambda: padops.register({}), TypeError, f"session_options is dict, {expected}"),
        (lambda: padops.register(options, provider="no"), TypeError, "provider is 'no', expected True or False"),
    ):
        with pytest.raises(error, match=why):
            call()


def test_a_short_repr(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(one_pad(13).SerializeToString())
    assert repr(padops.convert(path)) == f"<Conversion of {path}: 1 Pad: 1 converted>"
    conversion = padops.convert(path, tmp_path / "out.onnx")
    assert repr(conversion) == f"<Conversion of {path}: 1 Pad: 1 converted, written to {tmp_path / 'out.onnx'}>"
    assert repr(padops.inspect(path)) == f"<Inspection of {path}: 1 Pad: 1 run>"


@pytest.mark.parametrize("written", [False, True])
def test_pickling(written: bool, with_data: Path) -> None:
    out = with_data.parent / "a" / "m.onnx"
    conversion = padops.convert(with_data, out if written else None, verify=True, run=True)
    again = pickle.loads(pickle.dumps(conversion))
    assert (again.proto(), again.to_json(), repr(again)) == (conversion.proto(), conversion.to_json(), repr(conversion))
    weights = again.model.graph.initializers["w"].const_value
    assert weights.tobytes() == conversion.model.graph.initializers["w"].const_value.tobytes() == WEIGHTS
    assert pickle.loads(pickle.dumps(padops.inspect(with_data))) == padops.inspect(with_data)
    again.save(with_data.parent / "b" / "m.onnx")
    assert (with_data.parent / "b" / "w.bin").read_bytes() == WEIGHTS


def test_saving(with_data: Path, tmp_path: Path) -> None:
    conversion = padops.convert(with_data)
    saved = conversion.save(tmp_path / "a" / "m.onnx")
    assert saved.output == tmp_path / "a" / "m.onnx"
    assert [Path(file.name).name for file in saved.outputs] == ["m.onnx", "w.bin"]
    padops.convert(with_data, tmp_path / "b" / "m.onnx")
    for name in ("m.onnx", "w.bin"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert onnx.load(tmp_path / "a" / "m.onnx", load_external_data=False) == conversion.proto()
    with pytest.raises(padops.PadopsError, match="cannot write"):
        conversion.save(tmp_path / "missing" / "m.onnx")


KERNELS = np.random.default_rng(0).standard_normal((4, 3, 5, 5)).astype(np.float32)


def opset_of(message: onnx.ModelProto) -> dict[str, int]:
    return {row.domain: row.version for row in message.opset_import}


@pytest.mark.parametrize(("name", "opset"), [("pad_02", 11), ("pad_18", 13), ("pad_19", 21), ("nested", 17),
                                             ("string", 11), ("string", 21)])  # fmt: skip
def test_pads_for_an_opset(name: str, opset: int) -> None:
    """They pass through onnx's version converter as operators of padops; the records describe those of the user."""
    path = MODELS / f"{name}.onnx"
    conversion, wanted, source = padops.lower(path, opset=opset, fold=False), padops.inspect(path).pads, onnx.load(path)
    message = conversion.proto()
    assert opset_of(message)[""] == opset and message.ir_version <= source.ir_version
    assert conversion.verification.passed and not conversion.unconverted
    assert conversion.opsets == opset_of(source)
    assert [record.facts for record in conversion.records] == [replace(pad, roads=()) for pad in wanted]
    for record, pad in zip(conversion.records, wanted, strict=True):
        assert (record.path, record.name, record.form) == (pad.path, pad.name, pad.form)
    assert "padops: Pad" not in str(message.graph)


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
    made.graph.initializer.append(onnx.numpy_helper.from_array(KERNELS, "w"))
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    padops.lower(tmp_path / "m.onnx", tmp_path / "out.onnx", opset=12)
    found = onnx.load(tmp_path / "out.onnx")
    assert [value.name for value in found.graph.input] == ["x"] and opset_of(found)[""] == 12
    (kept,) = [row for row in found.graph.initializer if row.name == "w"]
    assert np.array_equal(onnx.numpy_helper.to_array(kept), KERNELS)


def test_what_an_adapter_of_onnx_gets_wrong() -> None:
    """That of ReduceMean leaves an attribute which the older operator lacks."""
    source = model("""(float[3] x) => (float[a] y) <int64[2] p = {1, 2}, int64[1] axes = {0}> {
        q = Pad(x, p) y = ReduceMean<noop_with_empty_axes = 0>(q, axes) }""")
    with pytest.raises(padops.PadopsError, match="from opset 18 to 17: Unrecognized attribute: noop_with_empty_axes"):
        padops.lower(source, opset=17)


def test_a_pad_that_breaks_a_rule() -> None:
    """The rest of the model is converted, unless onnx's converter refuses the Pad: one that is padops' already."""
    text = "(float[2, 3] x) => (float[a, b] y, float[c, d] z) <int64[4] p = {0, -9, 0, 0}, int64[4] q = {0, 1, 0, 1}> "
    text += '{ y = PAD<mode = "reflect">(x, p) z = Pad<mode = "edge">(x, q) }'
    for pad, wanted, notes in (("Pad", 21, 0), ("padops.Pad_18", 18, 1)):
        conversion = padops.convert(model(text.replace("PAD", pad)), target="onnx", opset=21)
        assert opset_of(conversion.proto())[""] == wanted
        stays = "the model stays in opset 18: a Pad breaks a rule"
        assert sum(note.startswith(stays) for note in conversion.notes) == notes
