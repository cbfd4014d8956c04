"""Functions of ONNX whose bodies pad, CenterCropPad and Attention; and Pads of the newest opsets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import native
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from small_models import BOOL, DOUBLE, FLOAT, HALF, INT64, model, parsed

import padops
from padops.convert.matchers import onnx_pad
from padops.convert.matchers.onnx_pad import KNOWN_OPSET
from padops.spec.dialects import VERSIONS


def centred(dims: Sequence[int | str] = (4, 5), shape: Sequence[int] = (7, 2), *, axes: Any = None,
            kind: str = "float", known: bool = True, of_shape: str = "int64", transposed: bool = False,
            opset: int = 20) -> onnx.ModelProto:  # fmt: skip
    """A model of one CenterCropPad, with a shape that is known or an input."""
    node = f"CenterCropPad {'' if axes is None else f'<axes = {axes}>'}"
    turn = f"Transpose <perm = {list(range(len(dims)))[::-1]}>"
    nodes = f"a = {turn} (x) b = {node} (a, s) y = {turn} (b)" if transposed else f"[centre] y = {node} (x, s)"
    data, sizes = (", ".join(map(str, row)) for row in (dims, shape))
    length = f"{of_shape}[{len(shape)}] s"
    given, there = ("", f"{length} = {{{sizes}}}") if known else (f", {length}", "")
    return parsed(f"({kind}[{data}] x{given}) => ({kind}[] y) <{there}> {{ {nodes} }}", opset, 10)


def run(message: onnx.ModelProto, data: np.ndarray, shape: Sequence[int], dtype: Any = np.int64) -> np.ndarray:
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


@pytest.mark.parametrize(("options", "verdict", "amounts", "why"), [
    ({"shape": [7], "axes": [1], "transposed": True}, "may be wrong", ((0, 0), (1, 2)),
     "The optimizer moves a Transpose past this Pad"),  # that of its body
    ({"known": False, "of_shape": "int32"}, "refuses", None,
     "ONNX Runtime inlines its body, which accepts the shape only as int64"),
])  # fmt: skip
def test_center_crop_pad_that_onnx_runtime_gets_wrong(options: dict, verdict: str, amounts: Any, why: str) -> None:
    source, data = centred(**options), np.arange(20, dtype=np.float32).reshape(4, 5)
    shape, dtype = options.get("shape", [7, 2]), options.get("of_shape", "int64")
    wanted = ReferenceEvaluator(source).run(None, {"x": data, "s": np.array(shape, dtype)})[0]
    (pad,) = padops.inspect(source).pads
    assert (pad.verdict, pad.amounts) == (verdict, amounts) and pad.why.startswith(why)
    for conversion in (padops.convert(source, select="needed"), padops.lower(source)):
        assert [record.status for record in conversion.records] == ["converted"]
        assert native.bits(run(conversion.proto(), data, shape, dtype)) == native.bits(wanted)


def test_center_crop_pad_that_changes_nothing_is_folded() -> None:
    (record,) = padops.convert(centred(shape=[4, 5])).records
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


@pytest.mark.parametrize(("opset", "dtype", "verdict"), [(24, FLOAT, "runs if"), (24, HALF, "runs if"),
                                                         (24, DOUBLE, "runs"), (25, FLOAT, "runs")])  # fmt: skip
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
    assert pad.why == "ONNX Runtime runs it if the mask is as long as the keys"
    with pytest.raises(Exception, match="attention_helper"):
        session.run(None, feeds)


def test_a_mask_of_heads_in_one_axis() -> None:
    source = attention(24)
    for value in source.graph.input[:3]:
        del value.type.tensor_type.shape.dim[1]
    source.graph.node[0].attribute.extend(helper.make_attribute(f"{name}_num_heads", 1) for name in ("q", "kv"))
    (pad,) = padops.inspect(source).pads
    assert (pad.verdict, pad.amounts) == ("refuses", ((0, 0), (0, 2)))


FIVE = parsed("(float[1, 2, 3] x, float[2] s) => (float[a, b, c] y) { y = BatchNormalization (x, s, s, s, s) }", 25)


@pytest.mark.parametrize("source", [attention(25, dims=(3, 5)), attention(23), FIVE], ids=["as long", "23", "another"])
def test_masks_that_nothing_pads(source: onnx.ModelProto) -> None:
    assert padops.inspect(source).pads == ()


@pytest.mark.parametrize(("source", "why"), [
    (centred(shape=[7]), "its input 'shape' has dims [1], expected [2]"),
    (centred(shape=[7, -2]), "its target shape is [7, -2], expected non-negative integers"),
    (centred(shape=[7], axes=[2]), "its axes [2] are out of range for data of rank 2 [P8]"),
    (centred(axes=[1, -1]), "its axes [1, 1] name an axis twice [P8]"),
    (centred(axes=1), "its axes are not a list of integers, or the function's caller sets them"),
    (centred(opset=17), "CenterCropPad needs opset 18; the model has opset 17"),
    (centred(kind="complex64"), "its data are complex64, and ONNX Runtime has no complex tensors"),
    (attention(25, mask=INT64), "its mask is of type int64, expected bool or the type of its data, float"),
    (attention(25, dims=(3, 7)), "its mask is longer than its keys, by 2"),
])  # fmt: skip
def test_left(source: onnx.ModelProto, why: str) -> None:
    conversion = padops.convert(source)
    (record,) = conversion.records
    assert (record.status, record.reason) == ("unconverted", why)
    assert conversion.proto().SerializeToString() == source.SerializeToString()


# --- the newest opsets ------------------------------------------------------------------------------------------------


def wrapped(opset: int) -> onnx.ModelProto:
    nodes = '{ [pad] q = Pad <mode = "wrap"> (x, p) y = Relu (q) }'
    return parsed(f"(float[4] x) => (float[n] y) <int64[2] p = {{2, 3}}> {nodes}", opset, 10)


def test_the_standard_has_no_newer_pad() -> None:
    """No opset that padops accepts by default has a newer Pad than padops knows."""
    for opset in range(VERSIONS[-1], min(KNOWN_OPSET, onnx.defs.onnx_opset_version()) + 1):
        assert onnx.defs.get_schema("Pad", opset).since_version == VERSIONS[-1]


def reason(opset: int) -> str | None:
    (record,) = padops.convert(wrapped(opset)).records
    (pad,) = padops.inspect(wrapped(opset)).pads
    if record.reason:
        assert (record.reason, "unknown") == (pad.why, pad.verdict)
    else:  # whatever padops knows of the Pad, this onnxruntime may not load the model
        assert pad.verdict == "runs" or f" loads no model of opset {opset}, but up to " in pad.why
    return record.reason


def test_an_opset_that_nobody_knows() -> None:
    known = onnx.defs.onnx_opset_version()
    newest = max(KNOWN_OPSET, known) + 1
    of_both = f"padops knows the Pads up to opset {KNOWN_OPSET}, and onnx {onnx.__version__} up to opset {known}"
    assert reason(newest) == f"the model has opset {newest}; {of_both}; update padops and onnx"


def test_an_opset_that_onnx_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Pad is asked of onnx: the same is taken, a newer one is named."""
    versions = {29: 25, 30: 30}
    asked = SimpleNamespace(
        onnx_opset_version=lambda: 30, get_schema=lambda name, opset: SimpleNamespace(since_version=versions[opset])
    )
    monkeypatch.setattr(onnx_pad, "onnx", SimpleNamespace(__version__="1.24", defs=asked))
    assert reason(29) is None
    assert reason(30) == "padops knows the Pads up to Pad-25, and opset 30 has Pad-30; update padops"


def test_the_newest_opset_of_this_onnx() -> None:
    """The result does not depend on onnxruntime; tests/long/long_install.py runs these tests with onnx-weekly."""
    newest = onnx.defs.onnx_opset_version()
    (pad,) = padops.inspect(wrapped(newest)).pads
    assert (pad.form, pad.opset, pad.verdict) == (f"Pad-{VERSIONS[-1]} inputs", newest, "runs")
    for made in (padops.convert(wrapped(newest), verify=True), padops.lower(wrapped(newest), without_pad=True)):
        assert [record.status for record in made.records] == ["converted"]
        assert padops.verify(wrapped(newest), made.proto()).passed
