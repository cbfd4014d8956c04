"""Folding into convolutions and poolings: bits at every level of optimisation, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from folding_models import LEVELS, fold, operators, outcomes, padded, run
from onnx import helper
from small_models import FLOAT, HALF, INT8, INT16, INT32, INT64, info, model, pad, tensor

import padops
from padops.convert.folding import WIDER
from padops.spec.dtypes import by_name

UINT8 = 2
W = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
X = np.random.default_rng(1).standard_normal((2, 3, 7, 6)).astype(np.float32)
AROUND = [0, 0, 1, 2, 0, 0, 0, 1]  # of which [1, 2, 0, 1] is spatial
K3 = {"kernel_shape": [3, 3]}


def record_of(source: onnx.ModelProto, **options: Any) -> Any:
    return fold(source, **options).records[0]


def attributes_of(message: onnx.ModelProto) -> dict[str, Any]:
    (node,) = message.graph.node
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


# --- what takes the amounts -------------------------------------------------------------------------------------------

Q = {"xs": np.float32(0.02), "xz": np.uint8(7), "w": np.arange(108, dtype=np.uint8).reshape(4, 3, 3, 3),
     "ws": np.float32(0.01), "wz": np.uint8(9), "ys": np.float32(0.1), "yz": np.uint8(3)}  # fmt: skip
SEVEN = {"fill": 7, "kind": UINT8}
TAKING = {
    "Conv": (padded(AROUND, "Conv", others={"w": W}), [1, 2, 0, 1]),
    "Conv of opset 22": (padded(AROUND, "Conv", others={"w": W}, opset=22), [1, 2, 0, 1]),
    "Conv with pads": (padded(AROUND, "Conv", others={"w": W}, pads=[3, 0, 0, 1]), [4, 2, 0, 2]),
    "Conv with pads beyond the kernel": (padded([0, 0, 5, 0, 0, 0, 0, 4], "Conv", others={"w": W}), [5, 0, 0, 4]),
    "Conv with auto_pad VALID": (padded(AROUND, "Conv", others={"w": W}, auto_pad="VALID"), [1, 2, 0, 1]),
    "Conv with auto_pad NOTSET": (padded(AROUND, "Conv", others={"w": W}, auto_pad="NOTSET"), [1, 2, 0, 1]),
    "Conv with strides": (padded(AROUND, "Conv", others={"w": W}, strides=[2, 3], dilations=[2, 1]), [1, 2, 0, 1]),
    "Conv and a fill": (padded(AROUND, "Conv", others={"w": W}, fill=[0.0]), [1, 2, 0, 1]),
    "Conv of float16": (padded(AROUND, "Conv", others={"w": W.astype(np.float16)}, kind=HALF), [1, 2, 0, 1]),
    "ConvInteger": (padded(AROUND, "ConvInteger", others={"w": Q["w"]}, kind=UINT8, result=INT32), [1, 2, 0, 1]),
    "ConvInteger and a zero point": (
        padded(AROUND, "ConvInteger", others={"w": Q["w"], "xz": Q["xz"]}, result=INT32, **SEVEN), [1, 2, 0, 1]),
    "QLinearConv": (padded(AROUND, "QLinearConv", others=Q, **SEVEN), [1, 2, 0, 1]),
    "MaxPool of uint8": (padded(AROUND, "MaxPool", kind=UINT8, **K3), [1, 2, 0, 1]),
    "MaxPool of int8": (padded(AROUND, "MaxPool", kind=INT8, fill=-128, strides=[2, 1], **K3), [1, 2, 0, 1]),
    "AveragePool": (padded(AROUND, "AveragePool", **K3), [1, 2, 0, 1]),
    "AveragePool that counts": (
        padded([0, 0, 0, 1, 0, 0, 0, 1], "AveragePool", count_include_pad=1, pads=[1, 1, 2, 0], **K3), [1, 2, 2, 1]),
    "AveragePool with dilations": (
        padded(AROUND, "AveragePool", opset=19, dilations=[2, 1], **K3), [1, 2, 0, 1]),
}  # fmt: skip


def data_of(message: onnx.ModelProto) -> np.ndarray:
    kind = message.graph.input[0].type.tensor_type.elem_type
    if kind in (UINT8, INT8):
        info = np.iinfo(np.uint8 if kind == UINT8 else np.int8)
        return np.random.default_rng(2).integers(info.min, info.max + 1, X.shape).astype(info.dtype)
    return X.astype(np.float16) if kind == HALF else X


@pytest.mark.parametrize("row", TAKING)
def test_bits_at_every_level(row: str) -> None:
    """The folded model, the one with ONNX's own Pad and the one with that of padops."""
    source, pads = TAKING[row]
    conversion = fold(source)
    message = conversion.proto()
    assert outcomes(conversion) == [("pad", "folded", ("node",))]
    assert conversion.records[0].notes == (f"pads {pads}",)
    assert attributes_of(message)["pads"] == pads and "auto_pad" not in attributes_of(message)
    kept = fold(source, fold=False).proto()
    feeds = {"x": data_of(source)}
    for level in LEVELS:
        made = run(message, feeds, level)
        assert made == run(source, feeds, level) == run(kept, feeds, level), level
    assert fold(message).proto() == message
    # What an earlier conversion made, and the other targets.
    assert fold(kept).proto().graph == message.graph
    assert "padops" not in {row.domain for row in fold(kept).proto().opset_import}
    for target in ("onnx", "pyop"):
        assert fold(source, target=target).proto() == message
        if target == "onnx" or message.graph.input[0].type.tensor_type.elem_type != HALF:
            apart = fold(source, target=target, fold=False).proto()
            if len(apart.graph.node) == 2:
                assert operators(fold(apart, target=target).proto()) == operators(message)


def test_a_zero_point_that_is_the_fill() -> None:
    """The fill and the zero point are one value, so they are equal whatever it is at run time."""
    node = helper.make_node("ConvInteger", ["p", "w", "f"], ["y"], name="node")
    source = model([pad(["x", "pads", "f"], "p", name="pad"), node],
                   inputs=[("x", UINT8, [None] * 4), ("f", UINT8, [])], outputs=[("y", INT32, None)],
                   tensors=[tensor("pads", AROUND), tensor("w", Q["w"], np.uint8)])  # fmt: skip
    message = fold(source).proto()
    assert operators(message) == ["ConvInteger"]
    feeds = {"x": data_of(source), "f": np.array(11, np.uint8)}
    assert run(message, feeds) == run(source, feeds)


def test_several_consumers() -> None:
    nodes = [pad(["x", "pads"], "p", name="pad"),
             helper.make_node("Conv", ["p", "w"], ["a"], name="one"),
             helper.make_node("Conv", ["p", "w"], ["b"], name="two", pads=[1, 1, 1, 1]),
             helper.make_node("AveragePool", ["p"], ["d"], name="three", **K3)]  # fmt: skip
    parts = {"inputs": [("x", FLOAT, [None] * 4)], "tensors": [tensor("pads", AROUND), tensor("w", W, np.float32)]}
    source = model(nodes, outputs=[(name, FLOAT, None) for name in "abd"], **parts)
    conversion = fold(source)
    assert outcomes(conversion) == [("pad", "folded", ("one", "two", "three"))]
    assert conversion.records[0].notes == ("pads [1, 2, 0, 1], pads [2, 3, 1, 2]",)
    for level in LEVELS:
        assert run(conversion.proto(), {"x": X}, level) == run(source, {"x": X}, level)
    nodes.append(helper.make_node("Relu", ["p"], ["r"]))
    source = model(nodes, outputs=[(name, FLOAT, None) for name in "abdr"], **parts)
    assert [status for _, status, _ in outcomes(fold(source))] == ["converted"]


def test_pads_of_tensorflow() -> None:
    """TensorFlow's Pads fold in the form to which they are converted."""
    paddings = tensor("paddings", [[0, 0], [0, 0], [1, 2], [0, 1]], np.int32)
    fill = tensor("fill", 0, np.float32)
    node = helper.make_node("PadV2", ["x", "paddings", "fill"], ["p"], name="pad", domain="tf")
    source = model([node, helper.make_node("Conv", ["p", "w"], ["y"], name="node")], imports=[("tf", 1)],
                   tensors=[paddings, fill, tensor("w", W, np.float32)], inputs=[("x", FLOAT, [None] * 4)])  # fmt: skip
    conversion = fold(source, custom_domains=["tf"])
    assert outcomes(conversion) == [("pad", "folded", ("node",))]
    assert conversion.records[0].form == "TensorFlow PadV2 in the domain 'tf'"
    assert attributes_of(conversion.proto())["pads"] == [1, 0, 2, 1]


# --- what is refused --------------------------------------------------------------------------------------------------

ORDER = "which of a fill and a NaN is the largest depends on the order"
REFUSED = {
    "reflect": (padded(AROUND, "Conv", others={"w": W}, mode="reflect"), None),
    "a negative amount": (padded([0, 0, -1, 2, 0, 0, 0, 1], "Conv", others={"w": W}),
                          "Conv node: not all amounts are positive or 0"),
    "the batch": (padded([1, 0, 1, 2, 0, 0, 0, 1], "Conv", others={"w": W}), "Conv node: the batch is padded"),
    "the channels": (padded([0, 0, 0, 0, 0, 1, 0, 0], "Conv", others={"w": W}), "Conv node: the channels are padded"),
    "a fill": (padded(AROUND, "Conv", others={"w": W}, fill=0.5), "Conv node: the fill is not 0"),
    "a fill of -0": (padded(AROUND, "Conv", others={"w": W}, fill=-0.0), "Conv node: the fill is not 0"),
    "auto_pad": (padded(AROUND, "Conv", others={"w": W}, auto_pad="SAME_LOWER"), "Conv node: auto_pad is SAME_LOWER"),
    "VALID beside pads": (padded(AROUND, "Conv", others={"w": W}, auto_pad="VALID", pads=[1] * 4),
                          "Conv node: auto_pad and pads are given together"),
    "other pads": (padded(AROUND, "Conv", others={"w": W}, pads=[1] * 6), "Conv node: its pads are [1, 1, 1, 1, 1, 1]"),
    "another zero point": (
        padded(AROUND, "ConvInteger", others={"w": Q["w"], "xz": np.uint8(8)}, result=INT32, **SEVEN),
        "ConvInteger node: the fill is not the zero point"),
    "no zero point": (padded(AROUND, "ConvInteger", others={"w": Q["w"]}, result=INT32, **SEVEN),
                      "ConvInteger node: the fill is not the zero point"),
    "ConvTranspose": (padded(AROUND, "ConvTranspose", others={"w": W[:3]}),
                      "ConvTranspose node: its pads crop the output"),
    "MaxPool of floats": (padded(AROUND, "MaxPool", fill=-np.inf, **K3), f"MaxPool node: {ORDER}"),
    "MaxPool with 0": (padded(AROUND, "MaxPool", **K3), f"MaxPool node: {ORDER}"),
    "MaxPool of int8 with 0": (padded(AROUND, "MaxPool", kind=INT8, **K3),
                               "MaxPool node: the fill is not the lowest value of int8"),
    "a window that is too small": (padded([0, 0, 3, 0, 0, 0, 0, 0], "AveragePool", **K3),
                                   "AveragePool node: ONNX Runtime takes no pads as large as the kernel"),
    "both pads too large": (padded(AROUND, "AveragePool", pads=[2, 0, 0, 0], count_include_pad=1, **K3),
                            "AveragePool node: ONNX Runtime takes no pads as large as the kernel"),
    "ceil_mode": (padded(AROUND, "AveragePool", ceil_mode=1, **K3),
                  "AveragePool node: with ceil_mode the last window may begin in the padding"),
    "averages of data": (padded(AROUND, "AveragePool", pads=[1, 0, 0, 0], **K3),
                         "AveragePool node: it does not count what it pads itself"),
    "an axis of nothing": (padded([0, 0, 1, 0, 0, 1], "AveragePool", kernel_shape=[2], shape=[1, 1, 0]),
                           "AveragePool node: ONNX Runtime refuses to pool an axis of 0 elements, whatever its pads"),
    "averages that releases miscount": (
        padded([0, 0, 0, 0, 0, 0, 1, 1], "AveragePool", opset=19, **K3),
        "AveragePool node: onnxruntime 1.21 to 1.24 count such padding of an AveragePool wrongly ([0, 0, 1, 1])"),
    "averages of opset 6": (
        model([pad(["x"], "p", name="pad", pads=AROUND),
               helper.make_node("AveragePool", ["p"], ["y"], name="node", **K3)],
              6, inputs=[("x", FLOAT, [None] * 4)]), "AveragePool node: it counts its padding from opset 7 on"),
    "another operator": (padded(AROUND), None),
    "weights that are padded": (
        padded(AROUND, helper.make_node("Conv", ["w", "p"], ["y"], name="node"), others={"w": X}, shape=[4, 3, 3, 3]),
        None),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_refusals(why: str) -> None:
    source, reason = REFUSED[why]
    record = record_of(source)
    assert (record.status, record.into) == ("converted", ())
    assert record.notes == (() if reason is None else (f"not folded: {reason}",))


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
