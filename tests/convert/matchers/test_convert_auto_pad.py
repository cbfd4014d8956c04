"""``auto_pad="explicit"``: SAME written out, against NumPy, onnx's shape inference, and ONNX Runtime where right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
import same_windows
from auto_pad_models import NAMES, WF, explicit, messages, node_model, only_record, opened, run, same
from onnx import helper
from same_windows import Geometry, average_pool
from small_models import FLOAT, INT32, INT64, UINT8, model

import padops

MODES = ("SAME_UPPER", "SAME_LOWER")
GEOMETRIES = [  # sizes, kernel, strides, dilations
    ((9,), (3,), (1,), (2,)), ((10,), (3,), (2,), (2,)),
    ((9,), (1,), (3,), (1,)), ((11,), (2,), (3,), (1,)),
    ((1,), (3,), (2,), (2,)), ((8, 7), (3, 3), (1, 1), (2, 2)),
    ((8, 7), (3, 2), (2, 1), (2, 2)), ((7, 8), (2, 3), (2, 2), (1, 1)),
    ((6, 9), (2, 3), (3, 4), (1, 2)), ((5, 6, 4), (3, 2, 2), (2, 1, 2), (1, 2, 2)),
]  # fmt: skip
POOLS = {"MaxPool": same_windows.max_pool, "AveragePool": average_pool, "LpPool": same_windows.lp_pool}
OPERATORS = ("Conv", *POOLS)


def whole(rng: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return rng.integers(-9, 10, shape).astype(np.float32)


SHAPES = ("static", "dynamic", "unknown")
# Each kind of shape and each mode with each operator and geometry.
VALUES = [(op, row, MODES[(i + j) % 2], SHAPES[(i + j) % 3])
          for i, op in enumerate(OPERATORS) for j, row in enumerate(GEOMETRIES)]  # fmt: skip


@pytest.mark.parametrize(("op", "row", "mode", "shapes"), VALUES, ids=str)
def test_values_and_shapes(op: str, row: tuple, mode: str, shapes: str) -> None:
    """Dilations and strides larger than the kernel, which ONNX Runtime refuses or gets wrong, among them."""
    sizes, kernel, strides, dilations = row
    geometry = Geometry(kernel, strides, dilations, mode)
    rng = np.random.default_rng(0)
    data, weights = whole(rng, (2, 3, *sizes)), whole(rng, (4, 3, *kernel))
    if op == "AveragePool" and sizes == (1,):
        data = np.abs(data)  # a sum of +0 and -0 would depend on the order
    attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "auto_pad": mode}
    attributes |= {"p": 1} if op == "LpPool" else {}
    inputs = {"w": weights} if op == "Conv" else {}
    shape = {"static": data.shape, "dynamic": NAMES[: data.ndim], "unknown": None}[shapes]
    original = node_model(op, shape, attributes, inputs)
    conversion = explicit(original)
    record = only_record(conversion)
    assert (record.status, record.form, record.name) == ("converted", f"{op} auto_pad={mode}", "same")
    if shape is not None:  # the checker wants every output to have a rank
        onnx.checker.check_model(conversion.proto())
    (output,) = run(conversion.proto(), data)
    inferred = onnx.shape_inference.infer_shapes(node_model(op, data.shape, attributes, inputs), strict_mode=True)
    assert list(output.shape) == [d.dim_value for d in inferred.graph.output[0].type.tensor_type.shape.dim]
    wanted = POOLS[op](data, geometry) if inputs == {} else same_windows.conv(data, weights, geometry)
    np.testing.assert_array_equal(output, wanted.astype(np.float32), strict=True)
    if shapes == "static":
        assert record.op_type == "explicit pads"
        assert not any(row.domain == "padops" for row in conversion.proto().opset_import)


def quantised(name: str, scale: float, zero: int) -> dict[str, np.ndarray]:
    return {f"{name}_scale": np.array(scale, np.float32), f"{name}_zero": np.array(zero, np.uint8)}


MS = "com.microsoft"
K3 = {"kernel_shape": (3, 3), "strides": (3, 2)}  # of which SAME_LOWER, too, begins in two ways
W8 = np.random.default_rng(1).integers(0, 9, (4, 3, 3, 3)).astype(np.uint8)
QX, QY = quantised("x", 0.5, 3), quantised("y", 9.0, 7)  # in the order of the inputs
QW = {**QX, "w": W8, **quantised("w", 0.25, 2), **QY}
# Operator, domain, opset, attributes, other inputs, type of data and output, what it becomes where shapes are dynamic.
AGREEING = [
    ("Conv", "", 11, {**K3, "group": 1}, {"w": WF, "b": np.ones(4, np.float32)}, FLOAT, FLOAT, "SamePad_1"),
    ("Conv", "", 1, {"strides": (3, 2)}, {"w": WF}, FLOAT, FLOAT, "SamePad_1"),
    ("Conv", "", 22, {**K3, "group": 3}, {"w": WF[:3, :1]}, FLOAT, FLOAT, "SamePad_1"),
    ("Conv", "", 22, {"kernel_shape": (3, 3)}, {"w": WF}, FLOAT, FLOAT, "explicit pads"),
    ("ConvInteger", "", 10, {"strides": (3, 2)}, {"w": W8, "x_zero": np.array(3, np.uint8)}, UINT8, INT32, "SamePad_1"),
    ("ConvInteger", "", 10, {"strides": (3, 2)}, {"w": W8}, UINT8, INT32, "SamePad_1"),
    ("QLinearConv", "", 10, K3, QW, UINT8, UINT8, "SamePad_1"),
    ("QLinearConv", MS, 22, {**K3, "channels_last": 0}, QW, UINT8, UINT8, "SamePad_1"),
    ("QLinearConv", MS, 22, {**K3, "channels_last": 1}, QW, UINT8, UINT8, "SamePad_1"),
    ("FusedConv", MS, 22, {**K3, "activation": "Relu"}, {"w": WF}, FLOAT, FLOAT, "SamePad_1"),
    ("ConvTranspose", "", 11, {"strides": (2, 2)}, {"w": WF[:3]}, FLOAT, FLOAT, "explicit pads"),
    ("ConvTranspose", "", 22, {"strides": (2, 1), "output_padding": (1, 0)}, {"w": WF[:3]}, FLOAT, FLOAT,
     "explicit pads"),
    ("MaxPool", "", 8, K3, {}, FLOAT, FLOAT, "explicit pads"),
    ("MaxPool", "", 12, {**K3, "ceil_mode": 1}, {}, UINT8, UINT8, "SamePad_1"),
    ("MaxPool", "", 22, {"kernel_shape": (2, 2)}, {}, FLOAT, FLOAT, "explicit pads"),
    ("NhwcMaxPool", MS, 22, K3, {}, UINT8, UINT8, "SamePad_1"),
    ("AveragePool", "", 7, K3, {}, FLOAT, FLOAT, "explicit pads"),
    ("AveragePool", "", 22, {**K3, "count_include_pad": 1, "ceil_mode": 1}, {}, FLOAT, FLOAT, "SamePad_1"),
    ("AveragePool", "", 11, {"kernel_shape": (5, 4), "strides": (3, 2)}, {}, FLOAT, FLOAT, "explicit pads"),
    ("QLinearAveragePool", MS, 22, K3, {**QX, **QY}, UINT8, UINT8, "explicit pads"),
    ("QLinearAveragePool", MS, 22, {**K3, "count_include_pad": 1, "channels_last": 1}, {**QX, **QY}, UINT8, UINT8,
     "SamePad_1"),
    ("LpPool", "", 2, {**K3, "p": 3}, {}, FLOAT, FLOAT, "SamePad_1"),
    ("LpPool", "", 18, {**K3, "ceil_mode": 1}, {}, FLOAT, FLOAT, "SamePad_1"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "mode"), [(row, MODES[i % 2]) for i, row in enumerate(AGREEING)])
def test_same_bits_as_onnx_runtime(row: tuple, mode: str) -> None:
    op, domain, opset, attributes, tensors, type, result, dynamic = row
    attributes = {**attributes, "auto_pad": mode}
    counts = op == "AveragePool" and attributes.get("count_include_pad")  # which some releases get wrong
    parts = {"opset": opset, "domain": domain, "type": type, "outputs": [("y", result)]}
    original = node_model(op, ("n", "a", "b", "c"), attributes, tensors, **parts)
    conversion = explicit(original)
    assert only_record(conversion).op_type == dynamic
    # Some runtimes let ceil_mode add an output where pads are explicit.
    nodes = [m for m in messages(conversion.proto()) if isinstance(m, onnx.NodeProto) and m.op_type == op]
    assert nodes and not {"auto_pad", "ceil_mode"} & {a.name for node in nodes for a in node.attribute}
    dynamic_runs = [(opened(original, optimised), opened(conversion.proto(), optimised)) for optimised in (True, False)]
    for size in ((5, 8), (6, 7)):
        shape = (2, *size, 3) if attributes.get("channels_last") or op.startswith("Nhwc") else (2, 3, *size)
        rng = np.random.default_rng(size)
        data = rng.integers(0, 256, shape, np.uint8) if type == UINT8 else rng.standard_normal(shape, np.float32)
        fixed = node_model(op, data.shape, attributes, tensors, **parts)
        converted = explicit(fixed)
        assert only_record(converted).op_type in ("explicit pads", "SamePad_1" if counts else "")
        for optimised, (before, after) in zip((True, False), dynamic_runs):
            wanted = before(data)
            assert all(map(same, after(data), wanted))
            assert all(map(same, run(converted.proto(), data, optimised=optimised), wanted))
    assert only_record(explicit(original, select="needed")).status == ("converted" if counts else "not needed")
    assert counts or not padops.convert(original).records, "it is kept unless it is asked for"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", [((5, 4), (3, 3), (2, 1), (1, 2), (1, 0)), ((6,), (4,), (3,), (1,), (0,))], ids=str)
def test_transposed_convolutions(row: tuple, mode: str) -> None:
    sizes, kernel, strides, dilations, more = row
    rng = np.random.default_rng(0)
    data, weights = whole(rng, (2, 3, *sizes)), whole(rng, (3, 2, *kernel))
    attributes = {"strides": strides, "dilations": dilations, "output_padding": more, "auto_pad": mode}
    conversion = explicit(node_model("ConvTranspose", NAMES[: data.ndim], attributes, {"w": weights}))
    wanted = same_windows.conv_transpose(data, weights, Geometry(kernel, strides, dilations, mode), more)
    np.testing.assert_array_equal(run(conversion.proto(), data)[0], wanted)


# --- what stays ------------------------------------------------------------------------------------------------------


def window(
    op: str, shape: Any = NAMES[:3], tensors: Any = None, domain: str = "", opset: int = 22, **attributes: Any
) -> onnx.ModelProto:
    return node_model(op, shape, {"auto_pad": "SAME_UPPER", **attributes}, tensors, domain=domain, opset=opset)


CONV = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER")
NO_DATA = helper.make_node("MaxPool", [""], ["y"], kernel_shape=[3], auto_pad="SAME_UPPER")
W2 = {"w": np.ones((1, 1, 2), np.float32)}
LEFT: list[tuple[onnx.ModelProto, str]] = [
    (window("MaxPool", kernel_shape=(3,), pads=(1, 1)),
     "it has auto_pad and pads, and ONNX allows only one of them; remove one"),
    (window("MaxPool", kernel_shape=(3,), auto_pad="SAME"),
     "auto_pad is 'SAME', expected one of SAME_UPPER, SAME_LOWER, NOTSET, VALID"),
    (window("MaxPool"), "it has no kernel_shape"),
    (window("MaxPool", NAMES[:4], kernel_shape=(3,)), "its data have rank 4, expected 3 for a kernel of 1 value [S1]"),
    (window("MaxPool", kernel_shape=(3,), strides=(1, 1)),
     "strides has 2 values, expected 1 (1 per spatial axis) [S1]"),
    (window("MaxPool", kernel_shape=(3,), strides=(0,)), f"strides has 0, expected 1 to {2**59 - 1} [S1]"),
    (window("AveragePool", (1, 1, 10), kernel_shape=(3,), dilations=(3,)),
     "it counts only data, and ONNX Runtime refuses pads (3) that reach the size of the kernel (3)"),
    (window("AveragePool", (1, 1, 8, 7), kernel_shape=(3, 2), dilations=(1, 3)),
     "it counts only data, and ONNX Runtime refuses pads (2) that reach the size of the kernel (2)"),
    (window("AveragePool", NAMES, kernel_shape=(9, 9, 9), strides=(9, 9, 9)),
     "it counts only data, and there are 216 amounts to choose from, more than 64"),
    (window("AveragePool", kernel_shape=(9,), strides=(5000,)),
     "it counts only data, and there are many amounts to choose from, more than 64"),
    (window("AveragePool", opset=6, kernel_shape=(3,), strides=(2,)),
     "it counts only data, and an If that chooses pads by size needs opset 7 or newer"),
    (window("ConvTranspose", (1, 1, 4), W2, strides=(3,)),
     "its stride is larger than its kernel plus output_padding, so that its output lacks elements; ONNX, ONNX's "
     "reference implementation and TensorFlow do not agree on these elements"),
    (window("ConvTranspose", (1, 1, 4), W2, output_shape=(9,)),
     "output_shape sets the padding, which auto_pad only splits in two; remove output_shape"),
    (window("MaxpoolWithMask", domain=MS, kernel_shape=(3,)), "its mask would have to be padded with the data"),
    (window("ConvTransposeWithDynamicPads", domain=MS, kernel_shape=(3,)), "its amounts are an input"),
    (window("Conv", NAMES[:4], domain="com.microsoft.nchwc", kernel_shape=(3, 3)),
     "the domain com.microsoft.nchwc is ONNX Runtime's own; convert the unoptimised model"),
    (window("NhwcConv", NAMES[:4], {"w": WF}, MS), "it has no kernel_shape"),
    (window("AveragePool", kernel_shape=(3,), count_include_pad=0.5),
     "its attribute count_include_pad is not of type INT, or the function's caller sets it"),
    (window("AveragePool", kernel_shape=3),
     "its attribute kernel_shape is not of type INTS, or the function's caller sets it"),
    (model([NO_DATA]), "it has no data"),
    *((model([CONV], inputs=[("x", FLOAT, NAMES[:4]), ("w", FLOAT, shape)]),
       "it has no kernel_shape, and the shape of its weights is not known") for shape in (None, (4, 3, None, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("original", "reason"), LEFT)
def test_left(original: onnx.ModelProto, reason: str) -> None:
    conversion = explicit(original)
    record, node = only_record(conversion), original.graph.node[0]
    assert (record.status, record.reason, record.op_type) == ("unconverted", reason, None)
    assert f"{node.op_type} auto_pad=SAME" in record.form
    assert conversion.proto() == original


@pytest.mark.parametrize("mode", MODES)
def test_a_spatial_dim_of_0_counts_as_open(mode: str) -> None:
    """Nothing can be padded there, and some exporters write 0 for a size that they leave open."""
    window = {"kernel_shape": (3, 3), "strides": (2, 2), "auto_pad": mode}
    zero, size = (only_record(explicit(node_model("MaxPool", (1, 1, h, 4), window))) for h in (0, "h"))
    assert (zero.op_type, zero.notes) == (size.op_type, size.notes)


@pytest.mark.parametrize("shape", [(1, 2, 6, 7), NAMES[:4]], ids=["static", "dynamic"])
def test_indices_are_those_of_the_data(shape: tuple) -> None:
    attributes = {"kernel_shape": (3, 3), "strides": (2, 2), "auto_pad": "SAME_UPPER", "storage_order": 1}
    original = node_model("MaxPool", shape, attributes, outputs=[("y", FLOAT), ("at", INT64)])
    conversion = explicit(original)
    assert only_record(conversion).op_type == "explicit pads"
    for size in [(6, 7), (5, 8)] if "h" in shape else [(6, 7)]:
        data = np.random.default_rng(size).standard_normal((1, 2, *size), np.float32)
        assert all(map(same, run(conversion.proto(), data), run(original, data)))


def test_nothing_is_lower_than_what_a_dilated_pooling_pads_with() -> None:
    """Without a dilation ONNX Runtime begins with the least finite number; with one, minus infinity is a result."""
    attributes = {"kernel_shape": (3,), "strides": (2,), "dilations": (2,), "auto_pad": "SAME_UPPER"}
    conversion = explicit(node_model("MaxPool", NAMES[:3], attributes))
    (made,) = run(conversion.proto(), np.full((1, 1, 8), -np.inf, np.float32))
    assert same(made, np.full((1, 1, 4), -np.inf, np.float32))


# Sizes, kernel, strides, opset; which of the releases 1.21 to 1.24 are wrong, and what the node becomes.
COUNTING: list[tuple[tuple[int | None, ...], tuple[int, ...], tuple[int, ...], int, str, str]] = [
    ((4, 4), (2, 2), (1, 1), 19, "wrong", "SamePad_1"),
    ((4, 4), (2, 2), (1, 1), 18, "runs", "explicit pads"),
    ((4, 4), (3, 3), (1, 1), 19, "runs", "explicit pads"),
    ((4,), (2,), (1,), 19, "runs", "explicit pads"),
    ((4, 4, 4), (1, 3, 1), (1, 1, 1), 21, "wrong", "SamePad_1"),
    ((4, 5), (2, 1), (1, 3), 19, "wrong", "SamePad_1"),
    ((None, 4), (2, 2), (1, 1), 19, "may be wrong", "SamePad_1"),
    ((4, None), (3, 3), (2, 2), 19, "may be wrong", "SamePad_1"),
]


@pytest.mark.parametrize("row", COUNTING, ids=str)
def test_releases_that_count_the_padding_wrongly(row: tuple) -> None:
    """These end the windows of an axis behind the amount of another one."""
    sizes, kernel, strides, opset, verdict, becomes = row
    attributes = {"kernel_shape": kernel, "strides": strides, "auto_pad": "SAME_UPPER", "count_include_pad": 1}
    original = node_model("AveragePool", (1, 1, *sizes), attributes, opset=opset)
    for release in ("1.20", "1.21", "1.24", "1.25"):
        (found,) = padops.inspect(original, onnxruntime=release).pads
        assert found.verdict == (verdict if release in ("1.21", "1.24") else "runs"), release
        assert found.roads == (() if found.verdict == "runs" else ("convert", "lower"))
    record = only_record(explicit(original, select="all" if verdict == "runs" else "needed"))
    assert (record.status, record.op_type) == ("converted", becomes)
    shape = (1, 1, *(size or 4 for size in sizes))
    data = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
    wanted = average_pool(data, Geometry(kernel, strides, [1] * len(sizes), "SAME_UPPER"), 1)
    assert same(run(explicit(original).proto(), data)[0], wanted)


@pytest.mark.parametrize(("op", "mode", "kernel"), [(op, mode, 2 + (i + j) % 2) for i, op in enumerate(OPERATORS[1:])
                                                    for j, mode in enumerate(MODES)])  # fmt: skip
def test_axes_of_no_elements(op: str, mode: str, kernel: int) -> None:
    """ONNX Runtime pools a batch of 0, whatever its sizes; amounts for other sizes would make an output of nothing."""
    attributes = {"kernel_shape": (kernel, 2), "strides": (2, 2), "auto_pad": mode} | ({"p": 1} if op[0] == "L" else {})
    original = node_model(op, NAMES[:4], attributes)
    for sizes in ((0, 0), (0, 4), (5, 0)):
        data = np.zeros((0, 3, *sizes), np.float32)
        (output,) = run(explicit(original).proto(), data)
        assert output.shape == (0, 3, -(-sizes[0] // 2), -(-sizes[1] // 2)) == run(original, data)[0].shape
    fixed = node_model(op, (1, *NAMES[1:4]), attributes | {"kernel_shape": (2, 3), "strides": (2, 1)})
    if mode == "SAME_UPPER":  # which begins in one way
        assert only_record(explicit(fixed)).op_type == "explicit pads"


def test_a_kernel_of_later_releases() -> None:
    """No road helps: the converted model has the same node."""
    original = node_model("ConvInteger", (1, 1, 4), {"auto_pad": "SAME_UPPER"}, {"w": np.ones((1, 1, 2), np.int8)},
                          type=onnx.TensorProto.INT8, outputs=[("y", onnx.TensorProto.INT32)])  # fmt: skip
    (found,) = padops.inspect(original, onnxruntime="1.23").pads
    assert (found.verdict, found.roads) == ("refuses", ()) and "1.24 has" in found.why
    assert padops.inspect(original, onnxruntime="1.24").pads[0].verdict == "runs"
