"""Folding into convolutions and poolings: bits at every level of optimisation, and what is refused."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest
from folding_models import LEVELS, fold, operators, outcomes, padded, run
from onnx import helper
from small_models import FLOAT, HALF, INT8, INT32, model, pad, tensor

UINT8 = 2
W = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
X = np.random.default_rng(1).standard_normal((2, 3, 7, 6)).astype(np.float32)
AROUND = [0, 0, 1, 2, 0, 0, 0, 1]  # of which [1, 2, 0, 1] is spatial


def attributes_of(message: onnx.ModelProto) -> dict[str, Any]:
    (node,) = message.graph.node
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


# --- what takes the amounts -------------------------------------------------------------------------------------------

Q = {"xs": np.float32(0.02), "xz": np.uint8(7), "w": np.arange(108, dtype=np.uint8).reshape(4, 3, 3, 3),
     "ws": np.float32(0.01), "wz": np.uint8(9), "ys": np.float32(0.1), "yz": np.uint8(3)}  # fmt: skip
SEVEN = {"fill": 7, "kind": UINT8}
conv = partial(padded, AROUND, "Conv", others={"w": W})
integer = partial(padded, AROUND, "ConvInteger", result=INT32)
pool = partial(padded, AROUND, "MaxPool", kernel_shape=[3, 3])
average = partial(padded, AROUND, "AveragePool", kernel_shape=[3, 3])
WQ, SPATIAL = {"w": Q["w"]}, [1, 2, 0, 1]
TAKING = {
    "Conv": (conv(), SPATIAL),
    "Conv of opset 22": (conv(opset=22), SPATIAL),
    "Conv with pads": (conv(pads=[3, 0, 0, 1]), [4, 2, 0, 2]),
    "Conv with pads beyond the kernel": (padded([0, 0, 5, 0, 0, 0, 0, 4], "Conv", others={"w": W}), [5, 0, 0, 4]),
    "Conv with auto_pad VALID": (conv(auto_pad="VALID"), SPATIAL),
    "Conv with auto_pad NOTSET": (conv(auto_pad="NOTSET"), SPATIAL),
    "Conv with strides": (conv(strides=[2, 3], dilations=[2, 1]), SPATIAL),
    "Conv and a fill": (conv(fill=[0.0]), SPATIAL),
    "Conv of float16": (conv(others={"w": W.astype(np.float16)}, kind=HALF), SPATIAL),
    "ConvInteger": (integer(others=WQ, kind=UINT8), SPATIAL),
    "ConvInteger and a zero point": (integer(others=WQ | {"xz": Q["xz"]}, **SEVEN), SPATIAL),
    "QLinearConv": (padded(AROUND, "QLinearConv", others=Q, **SEVEN), SPATIAL),
    "MaxPool of uint8": (pool(kind=UINT8), SPATIAL),
    "MaxPool of int8": (pool(kind=INT8, fill=-128, strides=[2, 1]), SPATIAL),
    "AveragePool": (average(), SPATIAL),
    "AveragePool that counts": (
        padded([0, 0, 0, 1, 0, 0, 0, 1], "AveragePool", count_include_pad=1, pads=[1, 1, 2, 0], kernel_shape=[3, 3]),
        [1, 2, 2, 1]),
    "AveragePool with dilations": (average(opset=19, dilations=[2, 1]), SPATIAL),
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
             helper.make_node("AveragePool", ["p"], ["d"], name="three", kernel_shape=[3, 3])]  # fmt: skip
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
KERNEL = "ONNX Runtime takes no pads as large as the kernel"
# By the reason in short: the model, and the reason after the name of the node; None where there is nothing to say.
REFUSED: dict[str, tuple[onnx.ModelProto, str | None]] = {
    "reflect": (conv(mode="reflect"), None),
    "a negative amount": (padded([0, 0, -1, 2, 0, 0, 0, 1], "Conv", others={"w": W}),
                          "not all amounts are positive or 0"),
    "the batch": (padded([1, 0, 1, 2, 0, 0, 0, 1], "Conv", others={"w": W}), "the batch is padded"),
    "the channels": (padded([0, 0, 0, 0, 0, 1, 0, 0], "Conv", others={"w": W}), "the channels are padded"),
    "a fill": (conv(fill=0.5), "the fill is not 0"),
    "a fill of -0": (conv(fill=-0.0), "the fill is not 0"),
    "auto_pad": (conv(auto_pad="SAME_LOWER"), "auto_pad is SAME_LOWER"),
    "VALID beside pads": (conv(auto_pad="VALID", pads=[1] * 4), "auto_pad and pads are given together"),
    "other pads": (conv(pads=[1] * 6), "its pads are [1, 1, 1, 1, 1, 1]"),
    "another zero point": (integer(others=WQ | {"xz": np.uint8(8)}, **SEVEN), "the fill is not the zero point"),
    "no zero point": (integer(others=WQ, **SEVEN), "the fill is not the zero point"),
    "ConvTranspose": (padded(AROUND, "ConvTranspose", others={"w": W[:3]}), "its pads crop the output"),
    "MaxPool of floats": (pool(fill=-np.inf), ORDER),
    "MaxPool with 0": (pool(), ORDER),
    "MaxPool of int8 with 0": (pool(kind=INT8), "the fill is not the lowest value of int8"),
    "a window that is too small": (padded([0, 0, 3, 0, 0, 0, 0, 0], "AveragePool", kernel_shape=[3, 3]), KERNEL),
    "both pads too large": (average(pads=[2, 0, 0, 0], count_include_pad=1), KERNEL),
    "ceil_mode": (average(ceil_mode=1), "with ceil_mode the last window may begin in the padding"),
    "averages of data": (average(pads=[1, 0, 0, 0]), "it does not count what it pads itself"),
    "an axis of nothing": (padded([0, 0, 1, 0, 0, 1], "AveragePool", kernel_shape=[2], shape=[1, 1, 0]),
                           "ONNX Runtime refuses to pool an axis of 0 elements, whatever its pads"),
    "averages that releases miscount": (
        padded([0, 0, 0, 0, 0, 0, 1, 1], "AveragePool", opset=19, kernel_shape=[3, 3]),
        "onnxruntime 1.21 to 1.24 count such padding of an AveragePool wrongly ([0, 0, 1, 1])"),
    "averages of opset 6": (
        model([pad(["x"], "p", name="pad", pads=AROUND),
               helper.make_node("AveragePool", ["p"], ["y"], name="node", kernel_shape=[3, 3])],
              6, inputs=[("x", FLOAT, [None] * 4)]), "it counts its padding from opset 7 on"),
    "another operator": (padded(AROUND), None),
    "weights that are padded": (
        padded(AROUND, helper.make_node("Conv", ["w", "p"], ["y"], name="node"), others={"w": X}, shape=[4, 3, 3, 3]),
        None),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_refusals(why: str) -> None:
    source, reason = REFUSED[why]
    (record,) = fold(source).records
    assert (record.status, record.into) == ("converted", ())
    assert record.notes == (() if reason is None else (f"not folded: {source.graph.node[1].op_type} node: {reason}",))
