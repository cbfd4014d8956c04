"""Folding a Pad between Casts: the narrow type is padded."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from folding_models import fold, operators, outcomes, run
from onnx import helper
from rows_of_pads import P, made
from small_models import FLOAT, INT16, INT64, info, model, pad, tensor

import padops
from padops.convert.folding.rules import WIDER
from padops.spec.dtypes import by_name


def cast(
    narrow: int, wide: int, back: int | None = None, mode: str = "constant", fill: Any = None, **parts: Any
) -> Any:
    """Cast, Pad and Cast back."""
    dtype = helper.tensor_dtype_to_np_dtype(wide)
    fills = [tensor("fill", fill, dtype)] if fill is not None else []
    nodes = [helper.make_node("Cast", ["x"], ["w"], name="up", to=wide),
             pad(["w", "pads", *(["fill"] if fills else [])], "q", name="pad", mode=mode),
             helper.make_node("Cast", ["q"], ["y"], name="down", to=back or narrow)]  # fmt: skip
    return model(nodes, parts.get("opset", 21), ir_version=10, inputs=[("x", narrow, ["n"])],
                 outputs=[("y", back or narrow, None)],
                 tensors=[tensor("pads", parts.get("amounts", [2, 1])), *fills])  # fmt: skip


PAIRS = [(narrow, wide) for narrow, wides in WIDER.items() for wide in wides]


def every_value(name: str) -> np.ndarray:
    """All bits of a type of up to 16, many of a wider one; of NaNs the one of either sign that Casts make of them."""
    dtype = by_name(name).numpy
    if name == "bool":
        return np.array([False, True, True])
    if dtype.itemsize <= 2:
        values = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
    elif name == "float":
        values = np.random.default_rng(0).integers(0, 1 << 32, 5000, dtype=np.uint32).view(dtype)
        values = np.append(values, np.array([0.0, -0.0, np.inf, -np.inf, 1e-45, np.finfo(dtype).max], dtype))
    else:
        limits = np.iinfo(dtype)
        values = np.random.default_rng(0).integers(limits.min, limits.max, 5000, dtype, endpoint=True)
    if dtype.kind in "iu":
        return values
    nan = values.dtype.type(np.nan)
    with np.errstate(invalid="ignore"):
        numbers = values[~np.isnan(values.astype(np.float64))]
    return np.append(numbers, np.array([nan, -nan], dtype))


@pytest.mark.parametrize("narrow, wide", PAIRS)
def test_casts_to_every_wider_type_and_back(narrow: str, wide: str) -> None:
    """Every element of the narrow type comes back through ONNX Runtime's Casts as it was."""
    row, other = by_name(narrow), by_name(wide)
    source = cast(row.onnx, other.onnx, mode="edge")
    conversion = fold(source)
    assert operators(conversion.proto()) == ["padops::Pad_21"]
    assert conversion.records[0].notes == (f"of {narrow}, without up to {wide} and down back",)
    values = every_value(narrow)
    assert run(conversion.proto(), {"x": values}) == run(fold(source, fold=False).proto(), {"x": values})
    if wide not in ("bfloat16", "float16"):
        filled = cast(row.onnx, other.onnx, fill=1)
        assert operators(fold(filled).proto()) == ["padops::Pad_21"]
        assert run(fold(filled).proto(), {"x": values}) == run(fold(filled, fold=False).proto(), {"x": values})


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("amounts", ["known", "of the caller"])
def test_every_mode(mode: str, amounts: str) -> None:
    source = cast(10, FLOAT, mode=mode)
    feeds = {"x": np.array([-0.0, 1.5, np.nan, 65504], np.float16)}
    if amounts == "of the caller":
        del source.graph.initializer[0]
        source.graph.input.append(info(("pads", INT64, [2])))
        feeds["pads"] = np.array([2, 1])
    conversion = fold(source)
    assert operators(conversion.proto()) == ["padops::Pad_21"]
    assert conversion.proto().graph.output == source.graph.output
    assert run(conversion.proto(), feeds) == run(source, feeds)


def test_the_payload_of_a_nan_is_kept() -> None:
    """Folding keeps a NaN's payload; the Casts keep only its sign, which is the one difference."""
    source, bits = cast(10, FLOAT, mode="edge"), np.array([0xFD01], np.uint16)
    kept = np.frombuffer(run(fold(source).proto(), {"x": bits.view(np.float16)})[0][2], np.uint16)
    cast_back = np.frombuffer(run(source, {"x": bits.view(np.float16)}, "DISABLE_ALL")[0][2], np.uint16)
    assert set(kept.tolist()) == {0xFD01} and set(cast_back.tolist()) == {0xFE00}


def cast_with_attributes(narrow: int, opset: int) -> onnx.ModelProto:
    nodes = [helper.make_node("Cast", ["x"], ["w"], to=FLOAT), pad(["w"], "q", pads=[1, 0], value=-3.0, name="pad"),
             helper.make_node("Cast", ["q"], ["y"], to=narrow)]  # fmt: skip
    return model(nodes, opset, inputs=[("x", narrow, ["n"])], outputs=[("y", narrow, None)])


@pytest.mark.parametrize("opset, target", [(13, "padops"), (10, "pyop")])
def test_fills_in_attributes(opset: int, target: str) -> None:
    conversion = fold(cast_with_attributes(3, opset), target=target)
    assert "Cast" not in operators(conversion.proto())
    assert conversion.records[0].op_type == f"Pad_{max(opset, 11)}"
    if target == "padops":
        assert run(conversion.proto(), {"x": np.array([5], np.int8)})[0][2] == np.array([-3, 5], np.int8).tobytes()


@pytest.mark.parametrize("narrow", [3, 10], ids=["int8", "float16"])
def test_casts_stay_where_no_fallback_has_the_narrow_type(narrow: int) -> None:
    """The model has run without the library, and has to go on doing so."""
    source = cast_with_attributes(narrow, 10)
    conversion = padops.convert(source)
    assert operators(conversion.proto()) == ["Cast", "padops::Pad_2", "Cast"]
    x = np.array([5], helper.tensor_dtype_to_np_dtype(narrow))
    alone = onnxruntime.InferenceSession(conversion.proto().SerializeToString())
    assert alone.run(None, {"x": x})[0].tolist() == [-3, 5]


NOT_FOLDED = {
    "a type that lacks values": cast(INT64, FLOAT),
    "another type back": cast(3, FLOAT, back=INT16),
    "to an unsigned type": cast(3, 2),
    "a fill that is rounded": cast(10, FLOAT, fill=0.1),
    "a fill out of range": cast(3, FLOAT, fill=200),
    "a fill that is NaN": cast(10, FLOAT, fill=np.nan),
    "a fill that is no bool": cast(9, 6, fill=2),
}


@pytest.mark.parametrize("why", NOT_FOLDED)
def test_casts_that_stay(why: str) -> None:
    conversion = fold(NOT_FOLDED[why])
    assert operators(conversion.proto()) == ["Cast", "padops::Pad_21", "Cast"]


def test_casts_that_others_read_stay() -> None:
    for name, kind in [("w", FLOAT), ("q", FLOAT)]:
        source = cast(10, FLOAT)
        source.graph.output.append(info((name, kind, None)))
        assert operators(fold(source).proto()) == ["Cast", "padops::Pad_21", "Cast"]
    source = cast(10, FLOAT, fill=1)
    del source.graph.initializer[1]
    source.graph.input.append(info(("fill", FLOAT, [])))
    assert operators(fold(source).proto()) == ["Cast", "padops::Pad_21", "Cast"]
    assert operators(fold(cast(10, FLOAT), target="onnx").proto()) == ["Cast", "Pad", "Cast"]
    assert operators(fold(cast(10, FLOAT), select="needed").proto()) == ["Cast", "Pad", "Cast"]


def test_casts_of_earlier_conversions() -> None:
    """An operator of padops takes another type where it has it; Pad_1 and Pad_2 have floats alone."""
    for op, more, becomes in [("Pad_2", {"pads": [1, 0]}, 3), ("Pad_1", {"paddings": [1, 0]}, 3)]:
        node = helper.make_node(op, ["w"], ["q"], name="pad", domain="padops", **more)
        nodes = [helper.make_node("Cast", ["x"], ["w"], to=FLOAT), node, helper.make_node("Cast", ["q"], ["y"], to=3)]
        source = model(nodes, inputs=[("x", 3, ["n"])], outputs=[("y", 3, None)], imports=[("padops", 1)])
        assert len(fold(source).proto().graph.node) == becomes
    source = cast(10, FLOAT)
    kept = fold(source, fold=False).proto()
    conversion = fold(kept)
    assert operators(conversion.proto()) == ["padops::Pad_21"]
    assert conversion.records[0].status == "already converted"
    x = np.arange(5).astype(np.float16)
    assert run(conversion.proto(), {"x": x}) == run(source, {"x": x})
    assert fold(conversion.proto()).proto() == conversion.proto()


def test_a_fill_that_no_one_reads() -> None:
    """In other modes it goes away, so that it need not be of the type."""
    source = cast(10, FLOAT, mode="edge", fill=0.1)
    (node,) = fold(source).proto().graph.node
    assert len(node.input) == 2 and [t.name for t in fold(source).proto().graph.initializer] == ["pads"]
    given = [tensor("f", 7, np.float32)]
    node = helper.make_node("NGraphPad_0", ["w", "f"], ["q"], domain="padops", pad_mode="EDGE", padding_below=[1],
                            padding_above=[0])  # fmt: skip
    nodes = [helper.make_node("Cast", ["x"], ["w"], to=FLOAT), node, helper.make_node("Cast", ["q"], ["y"], to=16)]
    source = model(nodes, inputs=[("x", 16, ["n"])], outputs=[("y", 16, None)], tensors=given, imports=[("padops", 1)])
    message = fold(source).proto()
    assert operators(message) == ["padops::NGraphPad_0"]
    x = np.arange(3).astype(ml_dtypes.bfloat16)
    assert run(message, {"x": x})[0][2] == x[[0, 0, 1, 2]].tobytes()


def test_the_type_behind_a_pad_that_took_over() -> None:
    """Nothing declares what the second Cast gave, and inference has said what the first did."""
    source = cast(10, FLOAT, amounts=[0, 1], mode="edge")
    source.graph.node.append(pad(["y", "pads"], "z", name="again", mode="reflect"))
    source.graph.output[0].name = "z"
    conversion = fold(source, verify=True, run=True)
    assert operators(conversion.proto()) == ["padops::Pad_21"] * 2 and conversion.verification.outcome == "equal"
    assert [info.type.tensor_type.elem_type for info in conversion.proto().graph.value_info] == [10]
    pairs = model([*cast(10, FLOAT, fill=1).graph.node, *_renamed(cast(10, FLOAT, fill=1).graph.node)], 21,
                  ir_version=10,
                  inputs=[("x", 10, ["n"])], outputs=[("z", 10, None)],
                  tensors=[tensor("pads", [1, 1]), tensor("fill", 1, np.float32)])  # fmt: skip
    conversion = fold(pairs, verify=True, run=True)
    assert operators(conversion.proto()) == ["padops::Pad_21"] and conversion.verification.outcome == "equal"


def _renamed(nodes: Any) -> list[onnx.NodeProto]:
    """Return copies of the nodes with new names, to stand behind the originals."""
    made = []
    for node in nodes:
        made.append(onnx.NodeProto())
        made[-1].CopyFrom(node)
        names = {"x": "y", "w": "w2", "q": "q2", "y": "z"}
        for field in (made[-1].input, made[-1].output):
            field[:] = [names.get(name, name) for name in field]
        made[-1].name += "2"
    return made


def test_casts_and_another_pad() -> None:
    """Rules go on where others have ended."""
    source = cast(10, FLOAT, amounts=[1, 0])
    other, tensors = made(P, ("y", "z"), "other", (0, 0, 0, 0), "constant", None)
    del tensors[:]
    other.input[1] = "pads"
    source.graph.node.append(other)
    source.graph.output[0].name = "z"
    conversion = fold(source, verify=True, run=True)
    assert operators(conversion.proto()) == ["padops::Pad_21"] and conversion.verification.outcome == "equal"
    assert outcomes(conversion) == [("pad", "folded", ("other",)), ("other", "converted", ())]
