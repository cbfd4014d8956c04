"""Inputs of Pad that say what they mean in a form that ONNX Runtime refuses: repaired on every road, or named."""

from __future__ import annotations

from pathlib import Path

import native
import numpy as np
import onnx
import onnxruntime
import pyop_sessions
import pytest
from command_lines import Cli, save
from onnx import TensorProto, helper, numpy_helper
from small_models import FLOAT, model, pad, parsed, tensor

import padops

AMOUNTS, X = [0, 1, 0, 2], np.arange(1, 7, dtype=np.float32).reshape(2, 3)
ROADS = [{"select": "needed"}, {"target": "onnx"}, {"target": "onnx", "without_pad": True}]
PADS, FILLED, WITH_AXES = "int64[4] pads = {0, 1, 0, 2}", "Pad (x, pads, f)", ["x", "pads", "", "axes"]
INT32_PADS = PADS.replace("int64", "int32")

# The tensors, the nodes, what the form says, the fill of the result, the opset and further inputs.
REPAIRED: dict[str, tuple[str, str, str, float, int, str]] = {
    "fill of double": (f"{PADS}, double f = {{0.1}}", FILLED, "Pad-13 node with a fill of double for data of float",
                       0.1, 17, ""),
    "fill of an integer": (f"{PADS}, int64 f = {{-7}}", FILLED, "Pad-13 node with a fill of int64 for data of float",
                           -7, 17, ""),
    "infinite fill": (f"{PADS}, float16 f = {{{0xFC00}}}", FILLED,
                      "Pad-13 node with a fill of float16 for data of float", -np.inf, 17, ""),
    "pads of int32": (INT32_PADS, "Pad (x, pads)", "Pad-13 node with pads of int32", 0, 17, ""),
    "pads of uint8": (PADS.replace("int64", "uint8"), "Pad (x, pads)", "Pad-11 node with pads of uint8", 0, 11, ""),
    "pads of Microsoft's": (INT32_PADS, "com.microsoft.Pad (x, pads)", "com.microsoft::Pad-1 with pads of int32", 0,
                            17, ""),
    "pads at run time": ("", "Pad (x, pads)", "Pad-13 node with pads of int32", 0, 17, ", int32[4] pads"),
    "computed pads": ("int32[4] n = {0, -1, 0, -2}", "Pad (x, pads)", "Pad-13 node with pads of int32", 0, 17, ""),
    "axes of int16": ("int64[2] pads = {1, 2}, int16[1] axes = {1}", "Pad (x, pads, , axes)",
                      "Pad-18 node with axes of int16", 0, 18, ""),
    "value as an integer": ("", "Pad <pads = [0, 1, 0, 2], value = 3> (x)", "Pad-2 node with value as an integer", 3, 9,
                            ""),
}  # fmt: skip


def made(name: str) -> onnx.ModelProto:
    tensors, node, _, _, opset, given = REPAIRED[name]
    before = "pads = Neg (n)" if name == "computed pads" else ""
    return parsed(f"(float[2, 3] x{given}) => (float[] y) <{tensors}> {{ {before} y = {node} }}", opset)


def stock(source: onnx.ModelProto, **feeds: np.ndarray) -> bytes:
    """What onnxruntime gives with padops' Python kernels, which only models of this target have."""
    return native.session(source, pyop_sessions.options()).run(None, feeds)[0].tobytes()


@pytest.mark.parametrize("name", REPAIRED)
def test_repaired(name: str, tmp_path: Path, cli: Cli) -> None:
    source, (_, _, form, value, *_) = made(name), REPAIRED[name]
    feeds = {"x": X} | ({"pads": np.array(AMOUNTS, np.int32)} if len(source.graph.input) > 1 else {})
    with pytest.raises(Exception, match="."):  # onnxruntime's exceptions have no common class of their own
        stock(source, **feeds)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.form) == ("refuses", form)
    expected = np.pad(X, [(0, 0), (1, 2)], constant_values=np.float32(value)).tobytes()
    assert cli("inspect", save(tmp_path / "m.onnx", source), "--check")[0] == 3
    for options in (*ROADS, {"target": "pyop"}):
        conversion = padops.convert(source, strict=True, **options)
        assert len(conversion.converted) == 1
        assert stock(conversion.proto(), **feeds) == expected, options
    assert padops.InferenceSession(source.SerializeToString()).run(None, feeds)[0].tobytes() == expected


def test_types_that_onnx_does_not_infer_end_no_verification() -> None:
    node = helper.make_node("MirrorPad", ["x", "rows"], ["y"], domain="tf", mode="SYMMETRIC")  # it is not imported
    for source in (made("pads of int32"),
                   model([node], tensors=[tensor("rows", [[1, 0], [0, 2]], np.int32)])):  # fmt: skip
        conversion = padops.convert(source, verify=True, run=True, custom_domains=["tf"])
        assert conversion.verification.verdict == "proved"


def test_a_mode_without_a_fill_takes_one_of_any_type() -> None:
    """No float16 is 1e10, and mode edge uses no fill (P7)."""
    source = parsed("""(float16[2, 3] x) => (float16[] y) <int64[4] p = {0, 1, 0, 2}, float f = {1e10}>
        { y = Pad <mode = "edge"> (x, p, f) }""", 13)  # fmt: skip
    x = X.astype(np.float16)
    session = padops.InferenceSession(source.SerializeToString())
    assert session.run(None, {"x": x})[0].tobytes() == np.pad(x, [(0, 0), (1, 2)], "edge").tobytes()
    assert padops.convert(source, verify=True).verification.verdict == "proved"


NAMED = {  # the data and other inputs, the tensors, and what is said of the last input
    "no integer": ("int32[2, 3] x", f"{PADS}, float f = {{0.5}}",
                   "its fill is float, and its data are int32, in which 0.5 would be 0; give it a fill of int32"),
    "too large": ("float16[2, 3] x", f"{PADS}, float f = {{-1e9}}",
                  "its fill is float, and its data are float16, in which -1000000000.0 would be -inf; "
                  "give it a fill of float16"),
    "too small": ("int8[2, 3] x", f"{PADS}, int64 f = {{-129}}",
                  "its fill is int64, and its data are int8, in which -129 would be 127; give it a fill of int8"),
    "at run time": ("float[2, 3] x, double f", PADS,
                    "its fill is double, and its data are float; cast the fill, which is computed"),
    "pads of float": ("float[2, 3] x, float[4] pads", "", "its input pads is of type float, expected integers"),
    "pads beyond int64": ("float[2, 3] x", "uint64[4] pads = {0, 9223372036854775808, 0, 0}",
                          "its input pads has 9223372036854775808, more than int64 has"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_what_cannot_be_repaired_is_named(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given, tensors, why = NAMED[name]
    node = "Pad (x, pads)" if "pads" in name else FILLED
    source = parsed(f"({given}) => ({given.partition('[')[0]}[] y) <{tensors}> {{ y = {node} }}", 13)
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
    path, out = save(tmp_path / "m.onnx", source), tmp_path / "out" / "o.onnx"
    (facts,) = padops.inspect(path).pads
    which = "pads and axes" if place == "pads and axes" else "pads"
    assert facts.why.endswith(f"ONNX Runtime refuses constant {which} in an external file")
    assert facts.verdict == ("refuses" if dims else "runs if")
    if dims:
        with pytest.raises(Exception, match="Cannot parse data from external tensors"):
            onnxruntime.InferenceSession(path)
    expected = np.pad(X, [(0, 0), (2, 1)]).tobytes()
    assert padops.InferenceSession(path).run(None, {"x": X})[0].tobytes() == expected
    out.parent.mkdir()
    for options in ROADS:
        padops.convert(path, out, **options)
        assert [file.name for file in out.parent.iterdir()] == ["o.onnx"]
        assert stock(onnx.load(out), x=X) == expected


def test_a_fill_that_no_cast_brings_to_the_type_of_the_data() -> None:
    source = parsed("""(uint8[2] x) => (uint2[n] y)
        { p = Constant <value_ints = [1, 1]> () b = Cast <to = 25> (x) y = Pad (b, p, f) }""", 25, 11)  # fmt: skip
    source.graph.initializer.add(name="f", data_type=TensorProto.INT2, raw_data=b"\1")
    (row,) = padops.convert(source, fold=False).unconverted
    assert row.reason.startswith("its fill is int2, and its data are uint2; give it a fill")


def test_axes_of_rank_two_and_data_of_unknown_rank() -> None:
    (record,) = padops.convert(parsed("""(float[] x) => (float[] y) <int64[2] p = {1, 1}, int64[1, 1] a = {0}>
        { y = Pad (x, p, , a) }""", 18)).records  # fmt: skip
    assert record.facts.amounts is None
