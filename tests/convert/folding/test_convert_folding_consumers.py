"""Folding into convolutions and poolings: bits at every level of optimisation, and what is refused."""

from __future__ import annotations

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
