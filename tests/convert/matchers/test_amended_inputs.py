"""Inputs of Pad that say what they mean in a form that ONNX Runtime refuses: repaired on every road, or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_models import DOUBLE, FLOAT, HALF, INT8, INT32, model, pad, tensor

import padops
from padops import cli

AMOUNTS, X = [0, 1, 0, 2], np.arange(1, 7, dtype=np.float32).reshape(2, 3)
PADS = tensor("pads", AMOUNTS)
ROADS = [{"select": "needed"}, {"target": "onnx"}, {"target": "onnx", "without_pad": True}]
WITH_FILL, WITH_AXES = ["x", "pads", "f"], ["x", "pads", "", "axes"]


def fill(value: float, kind: Any) -> dict[str, Any]:
    return {"nodes": [pad(WITH_FILL)], "tensors": [PADS, tensor("f", value, kind)]}


def pads(kind: Any, **attributes: Any) -> dict[str, Any]:
    return {"nodes": [pad(**attributes)], "tensors": [tensor("pads", AMOUNTS, kind)]}


# The parts of a model, what its form says, and the fill of the result.
REPAIRED: dict[str, tuple[dict[str, Any], str, float]] = {
    "fill of double": (fill(0.1, np.float64), "Pad-13 node with a fill of double for data of float", 0.1),
    "fill of an integer": (fill(-7, np.int64), "Pad-13 node with a fill of int64 for data of float", -7),
    "infinite fill": (fill(-np.inf, np.float16), "Pad-13 node with a fill of float16 for data of float", -np.inf),
    "pads of int32": (pads(np.int32), "Pad-13 node with pads of int32", 0),
    "pads of uint8": (pads(np.uint8) | {"opset": 11}, "Pad-11 node with pads of uint8", 0),
    "pads of Microsoft's": (pads(np.int32, domain="com.microsoft"), "com.microsoft::Pad-1 with pads of int32", 0),
    "pads at run time": ({"nodes": [pad()], "inputs": [("x", FLOAT, [2, 3]), ("pads", INT32, [4])]},
                         "Pad-13 node with pads of int32", 0),
    "computed pads": ({"nodes": [helper.make_node("Neg", ["n"], ["pads"]), pad()],
                       "tensors": [tensor("n", [-one for one in AMOUNTS], np.int32)]},
                      "Pad-13 node with pads of int32", 0),
    "axes of int16": ({"nodes": [pad(WITH_AXES)], "opset": 18,
                       "tensors": [tensor("pads", [1, 2]), tensor("axes", [1], np.int16)]},
                      "Pad-18 node with axes of int16", 0),
    "value as an integer": ({"nodes": [pad(["x"], pads=AMOUNTS, value=3)], "opset": 9},
                            "Pad-2 node with value as an integer", 3),
}  # fmt: skip


def made(parts: dict[str, Any]) -> onnx.ModelProto:
    given = {"opset": 17, "inputs": [("x", FLOAT, [2, 3])], "imports": [("com.microsoft", 1)]} | parts
    return model(given.pop("nodes"), given.pop("opset"), **given)


def stock(source: Any, **feeds: np.ndarray) -> np.ndarray:
    """What onnxruntime gives with padops' Python kernels, which only models of this target have."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    padops.register(options, backend="pyop")
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"]).run(None, feeds)[0]


@pytest.mark.parametrize("name", REPAIRED)
def test_repaired(name: str, tmp_path: Path) -> None:
    parts, form, value = REPAIRED[name]
    source, out = made(parts), str(tmp_path / "o.onnx")
    feeds = {"x": X} | ({"pads": np.array(AMOUNTS, np.int32)} if len(source.graph.input) > 1 else {})
    with pytest.raises(Exception, match="."):  # onnxruntime's exceptions have no common class of their own
        stock(source.SerializeToString(), **feeds)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.form) == ("refuses", form)
    expected = np.pad(X, [(0, 0), (1, 2)], constant_values=np.float32(value))
    (tmp_path / "m.onnx").write_bytes(source.SerializeToString())
    assert cli.main(["inspect", str(tmp_path / "m.onnx"), "--check"]) == 3
    for options in (*ROADS, {"target": "pyop"}):
        assert len(padops.convert(source, out, strict=True, **options).converted) == 1
        assert stock(out, **feeds).tobytes() == expected.tobytes(), options
    assert padops.InferenceSession(source.SerializeToString()).run(None, feeds)[0].tobytes() == expected.tobytes()


def test_types_that_onnx_does_not_infer_end_no_verification() -> None:
    node = helper.make_node("MirrorPad", ["x", "rows"], ["y"], domain="tf", mode="SYMMETRIC")  # it is not imported
    for source in (made(REPAIRED["pads of int32"][0]),
                   model([node], tensors=[tensor("rows", [[1, 0], [0, 2]], np.int32)])):  # fmt: skip
        conversion = padops.convert(source, verify=True, run=True, custom_domains=["tf"])
        assert conversion.verification.verdict == "proved"


def test_a_mode_without_a_fill_takes_one_of_any_type() -> None:
    """No float16 is 1e10, and mode edge uses no fill (P7)."""
    source = model([pad(WITH_FILL, mode="edge")], 13, inputs=[("x", HALF, [2, 3])], outputs=[("y", HALF, None)],
                   tensors=[PADS, tensor("f", 1e10, np.float32)])  # fmt: skip
    x = X.astype(np.float16)
    session = padops.InferenceSession(source.SerializeToString())
    assert session.run(None, {"x": x})[0].tobytes() == np.pad(x, [(0, 0), (1, 2)], "edge").tobytes()
    assert padops.convert(source, verify=True).verification.verdict == "proved"


NAMED = {
    "no integer": (INT32, [pad(WITH_FILL)], [PADS, tensor("f", 0.5, np.float32)], [],
                   "its fill is float, and its data are int32, in which 0.5 would be 0; give it a fill of int32"),
    "too large": (HALF, [pad(WITH_FILL)], [PADS, tensor("f", -1e9, np.float32)], [],
                  "its fill is float, and its data are float16, in which -1000000000.0 would be -inf; "
                  "give it a fill of float16"),
    "too small": (INT8, [pad(WITH_FILL)], [PADS, tensor("f", -129)], [],
                  "its fill is int64, and its data are int8, in which -129 would be 127; give it a fill of int8"),
    "at run time": (FLOAT, [pad(WITH_FILL)], [PADS], [("f", DOUBLE, [])],
                    "its fill is double, and its data are float; cast the fill, which is computed"),
    "pads of float": (FLOAT, [pad()], [], [("pads", FLOAT, [4])], "its input pads is of type float, expected integers"),
    "pads beyond int64": (FLOAT, [pad()], [tensor("pads", [0, 2**63, 0, 0], np.uint64)], [],
                          "its input pads has 9223372036854775808, more than int64 has"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_what_cannot_be_repaired_is_named(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kind, nodes, tensors, inputs, why = NAMED[name]
    source = model(nodes, 13, inputs=[("x", kind, [2, 3]), *inputs], outputs=[("y", kind, None)], tensors=tensors)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.why) == ("refuses", f"ONNX Runtime refuses a node of this form; {why}")
    for options in ({}, {"target": "onnx"}, {"select": "needed"}, {"verify": True}):
        with pytest.raises(padops.PadsLeftError) as error:
            padops.convert(source, tmp_path / "o.onnx", **options)
        assert str(error.value).endswith(why) and not list(tmp_path.iterdir())
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        padops.InferenceSession(source.SerializeToString())
    assert caplog.messages == [f"padops cannot convert the model: {facts.path}: {facts.why}"]


def outside(folder: Path, name: str, values: list[int]) -> onnx.TensorProto:
    """A tensor with its elements in a file."""
    made = numpy_helper.from_array(np.array(values, np.int64), name)
    (folder / f"{name}.bin").write_bytes(made.raw_data)
    made.external_data.add(key="location", value=f"{name}.bin")
    made.ClearField("raw_data")
    made.data_location = TensorProto.EXTERNAL
    return made


@pytest.mark.parametrize("place", ["pads", "pads and axes", "Constant", "Identity", "unknown rank"])
def test_amounts_in_an_external_file(place: str, tmp_path: Path) -> None:
    """The amounts move into the model, and their file is not copied: nothing reads it."""
    tensors, nodes = [outside(tmp_path, "pads", [0, 2, 0, 1])], [pad()]
    if place == "pads and axes":  # which turn the amounts around
        tensors, nodes = [*tensors, outside(tmp_path, "axes", [0, 1])], [pad(WITH_AXES)]
    elif place == "Constant":
        tensors, nodes = [], [helper.make_node("Constant", [], ["pads"], value=tensors[0]), pad()]
    elif place == "Identity":
        nodes = [helper.make_node("Identity", ["pads"], ["amounts"]), pad(["x", "amounts"])]
    dims = None if place == "unknown rank" else [2, 3]
    source = model(nodes, 18, inputs=[("x", FLOAT, dims)], tensors=tensors)
    path, out = tmp_path / "m.onnx", tmp_path / "out" / "o.onnx"
    path.write_bytes(source.SerializeToString())
    (facts,) = padops.inspect(path).pads
    which = "pads and axes" if place == "pads and axes" else "pads"
    assert facts.why.endswith(f"ONNX Runtime refuses constant {which} in an external file")
    assert facts.verdict == ("refuses" if dims else "runs if")
    if dims:
        with pytest.raises(Exception, match="Cannot parse data from external tensors"):
            stock(str(path), x=X)
    expected = np.pad(X, [(0, 0), (2, 1)]).tobytes()
    assert padops.InferenceSession(path).run(None, {"x": X})[0].tobytes() == expected
    out.parent.mkdir()
    for options in ROADS:
        padops.convert(path, out, **options)
        assert [file.name for file in out.parent.iterdir()] == ["o.onnx"]
        assert stock(str(out), x=X).tobytes() == expected


def test_a_fill_that_no_cast_brings_to_the_type_of_the_data() -> None:
    message = onnx.parser.parse_model(
        '<ir_version: 11, opset_import: ["" : 25]> g (uint8[2] x) => (uint2[n] y) '
        "{ p = Constant<value_ints = [1, 1]>() b = Cast<to = 25>(x) y = Pad(b, p, f) }"
    )
    message.graph.initializer.append(onnx.TensorProto(name="f", data_type=onnx.TensorProto.INT2, raw_data=b"\1"))
    (row,) = padops.convert(message, fold=False).unconverted
    assert row.reason is not None and row.reason.startswith("its fill is int2, and its data are uint2; give it a fill")


def test_axes_of_rank_two_and_data_of_unknown_rank() -> None:
    message = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 18]> g (float[] x) => (float[] y) '
        "<int64[2] p = {1, 1}, int64[1, 1] a = {0}> { y = Pad(x, p, , a) }"
    )
    message.graph.input[0].type.tensor_type.ClearField("shape")
    (record,) = padops.convert(message).records
    assert record.facts is not None and record.facts.amounts is None
