"""Functions of ONNX whose bodies pad: CenterCropPad and Attention."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import native
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from small_models import BOOL, DOUBLE, FLOAT, HALF, INT64, model

import padops

# --- CenterCropPad ---------------------------------------------------------------------------------------------------


def centred(
    dims: Sequence[int | str],
    shape: Sequence[int],
    *,
    axes: Sequence[int] | None = None,
    kind: str = "float",
    known: bool = True,
    of_shape: str = "int64",
    transposed: bool = False,
    opset: int = 20,
) -> onnx.ModelProto:
    """A model of one CenterCropPad, with a shape that is known or an input."""
    node = f"CenterCropPad {'' if axes is None else f'<axes = {list(axes)}>'}"
    nodes = f"[centre] y = {node} (x, s)"
    if transposed:
        turn = f"Transpose <perm = {list(range(len(dims)))[::-1]}>"
        nodes = f"a = {turn} (x) b = {node} (a, s) y = {turn} (b)"
    data, sizes = (", ".join(map(str, row)) for row in (dims, shape))
    length = f"{of_shape}[{len(shape)}] s"
    given, there = ("", f"{length} = {{{sizes}}}") if known else (f", {length}", "")
    return onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["": {opset}]> g ({kind}[{data}] x{given}) => ({kind}[] y)
        <{there}> {{ {nodes} }}
    """)


def run(message: onnx.ModelProto, data: np.ndarray, shape: Sequence[int], dtype: type = np.int64) -> np.ndarray:
    session = native.session(message)
    feeds = {"x": data, "s": np.array(shape, dtype)}
    return session.run(None, {value.name: feeds[value.name] for value in session.get_inputs()})[0]


CENTRED: dict[str, dict[str, Any]] = {
    "known": {},
    "shape at run time": {"known": False},
    "sizes at run time": {"dims": ["n", "m"]},
    "axes": {"axes": [1, 0]},
    "axes at run time": {"axes": [-1, 0], "dims": ["n", "m"], "known": False},
}


@pytest.mark.parametrize("name", CENTRED)
def test_center_crop_pad_as_the_reference(name: str) -> None:
    options = CENTRED[name]
    data = np.arange(24, dtype=np.float32).reshape(4, 6)
    for shape in itertools.product((1, 4, 7), (3, 6, 8)):
        source = centred(**{"dims": data.shape, "shape": shape} | options)
        wanted = ReferenceEvaluator(source).run(None, {"x": data, "s": np.array(shape)})[0]
        for road in (padops.convert, padops.lower):
            conversion = road(source)
            (record,) = conversion.records
            assert (record.form, record.status) in (("CenterCropPad-18", status) for status in ("converted", "folded"))
            assert native.bits(run(conversion.proto(), data, shape)) == native.bits(wanted), (shape, road)


def test_center_crop_pad_between_transposes() -> None:
    """ONNX Runtime moves them through the Pad of its body."""
    source = centred([4, 5], [7], axes=[1], transposed=True)
    data = np.arange(20, dtype=np.float32).reshape(4, 5)
    wanted = ReferenceEvaluator(source).run(None, {"x": data})[0]
    (pad,) = padops.inspect(source).pads
    assert (pad.verdict, pad.amounts) == ("may be wrong", ((0, 0), (1, 2)))
    assert pad.why.startswith("The optimizer moves a Transpose past this Pad")
    for conversion in (padops.convert(source, select="needed"), padops.lower(source)):
        assert [record.status for record in conversion.records] == ["converted"]
        assert native.bits(run(conversion.proto(), data, [7])) == native.bits(wanted)


def test_center_crop_pad_with_a_shape_of_int32() -> None:
    source = centred([4, 5], [7, 2], known=False, of_shape="int32")
    (pad,) = padops.inspect(source).pads
    why = "ONNX Runtime writes out its body, which takes the shape as int64 alone"
    assert (pad.verdict, pad.why) == ("refuses", why)
    data = np.arange(20, dtype=np.float32).reshape(4, 5)
    wanted = ReferenceEvaluator(source).run(None, {"x": data, "s": np.array([7, 2], np.int32)})[0]
    assert native.bits(run(padops.lower(source).proto(), data, [7, 2], np.int32)) == native.bits(wanted)


def test_center_crop_pad_that_changes_nothing_is_folded() -> None:
    (record,) = padops.convert(centred([4, 5], [4, 5])).records
    assert (record.status, record.notes[0]) == ("folded", "it changes nothing")


# --- Attention -------------------------------------------------------------------------------------------------------

HEADS = {"Q": [1, 2, 3, 4], "K": [1, 2, 5, 4], "V": [1, 2, 5, 4]}


def attention(opset: int, dtype: int = FLOAT, mask: int = FLOAT, dims: Sequence[Any] = (3, 3)) -> onnx.ModelProto:
    """A model of one Attention with a mask of 3 of 5 keys."""
    inputs = [(name, dtype, shape) for name, shape in HEADS.items()]
    node = helper.make_node("Attention", ["Q", "K", "V", "m"], ["y"], "attention")
    return model([node], opset, ir_version=11, inputs=[*inputs, ("m", mask, list(dims))], outputs=[("y", dtype, None)])


def feeds_of(dtype: int, mask: int) -> dict[str, np.ndarray]:
    numbers = np.random.default_rng(0)
    numpy_type = helper.tensor_dtype_to_np_dtype(dtype)
    feeds = {name: numbers.standard_normal(dims).astype(numpy_type) for name, dims in HEADS.items()}
    shown = np.array([[True, False, True], [True, True, False], [False, True, False]])
    return feeds | {"m": shown if mask == BOOL else numbers.standard_normal((3, 3)).astype(numpy_type)}


@pytest.mark.parametrize(("opset", "dtype", "mask"), [(24, FLOAT, FLOAT), (24, FLOAT, BOOL), (24, HALF, HALF),
                         (24, DOUBLE, DOUBLE), (25, FLOAT, FLOAT), (25, HALF, HALF), (25, DOUBLE, BOOL)])  # fmt: skip
def test_mask_shorter_than_the_keys(opset: int, dtype: int, mask: int) -> None:
    source, feeds = attention(opset, dtype, mask), feeds_of(dtype, mask)
    stock = native.session(source)
    wanted = ReferenceEvaluator(source).run(None, feeds)[0]
    close = {"atol": 2e-3 if dtype == HALF else 1e-6}
    (pad,) = padops.inspect(source).pads
    assert pad.form == f"mask of Attention-{opset}"
    if opset != 24 or dtype == DOUBLE:
        assert pad.verdict == "runs"
        assert [record.status for record in padops.convert(source).records] == ["not needed"]
        np.testing.assert_allclose(stock.run(None, feeds)[0], wanted, **close)
        return
    assert (pad.verdict, pad.amounts, pad.roads) == ("refuses", ((0, 0), (0, 2)), ("convert", "lower"))
    with pytest.raises(Exception, match="attention_helper"):
        stock.run(None, feeds)
    for road in (padops.convert, padops.lower):
        conversion = road(source)
        assert [record.status for record in conversion.records] == ["converted"]
        np.testing.assert_allclose(native.session(conversion.proto()).run(None, feeds)[0], wanted, **close)


@pytest.mark.parametrize(
    ("opset", "dtype", "verdict"),
    [(24, FLOAT, "runs if"), (24, HALF, "runs if"), (24, DOUBLE, "runs"), (25, FLOAT, "runs")],
)
def test_a_mask_of_unknown_length_runs_where_it_is_as_long_as_the_keys(opset: int, dtype: int, verdict: str) -> None:
    """A kernel of ONNX Runtime ends the run at a shorter mask, which the function's body would pad."""
    source = attention(opset, dtype, dtype, dims=(3, "keys"))
    (pad,) = padops.inspect(source).pads
    assert (pad.verdict, pad.roads) == (verdict, ())
    feeds = feeds_of(dtype, dtype)
    session = native.session(source)
    session.run(None, feeds | {"m": np.concatenate([feeds["m"], feeds["m"][:, :2]], 1)})
    if verdict == "runs":
        session.run(None, feeds)
        return
    assert pad.why == "ONNX Runtime runs it, as long as the mask is as long as the keys"
    with pytest.raises(Exception, match="attention_helper"):
        session.run(None, feeds)


@pytest.mark.parametrize("source", [attention(25, dims=(3, 5)), attention(23)], ids=["as long", "version 23"])
def test_masks_that_nothing_pads(source: onnx.ModelProto) -> None:
    assert padops.inspect(source).pads == ()


@pytest.mark.parametrize(("source", "why"), [
    (centred([4, 5], [7]), "its input shape has dims [1], expected [2]"),
    (centred([4, 5], [7, -2]), "its shape is [7, -2], expected integers that are not negative"),
    (centred([4, 5], [7], axes=[2]), "its axes [2] are out of range for data of rank 2 [P8]"),
    (centred([4, 5], [7, 2], axes=[1, -1]), "its axes [1, 1] have a repeat [P8]"),
    (centred([4, 5], [7, 2], opset=17), "CenterCropPad needs opset 18; the model has opset 17"),
    (centred([4, 5], [7, 2], kind="complex64"), "its data are complex64, and ONNX Runtime has no complex tensors"),
    (attention(25, mask=INT64), "its mask is of type int64, expected bool or that of its data, float"),
    (attention(25, dims=(3, 7)), "its mask is longer than its keys, by 2"),
])  # fmt: skip
def test_left(source: onnx.ModelProto, why: str) -> None:
    conversion = padops.convert(source)
    (record,) = conversion.records
    assert (record.status, record.reason) == ("unconverted", why)
    assert conversion.proto().SerializeToString() == source.SerializeToString()
