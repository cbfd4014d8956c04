"""``auto_pad="explicit"``: SAME written out, against NumPy, onnx's shape inference, and ONNX Runtime where it is right."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime as ort
import pytest
import same_windows
from onnx import helper
from same_windows import Geometry
from small_models import FLOAT, INT32, INT64, graph, model, tensor

import padops
from padops.convert import Conversion, UsageError
from padops.convert.auto_pad.amounts import Axis
from padops.dialects import same_padding

ROOT = Path(__file__).resolve().parent.parent
UINT8 = onnx.TensorProto.UINT8
MS = "com.microsoft"
NAMES = ("n", "c", "h", "w", "d")


def node_model(
    op: str,
    shape: Sequence[int | str | None] | None,
    attributes: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray] | None = None,
    *,
    opset: int = 22,
    domain: str = "",
    outputs: Sequence[tuple[str, int]] = (("y", FLOAT),),
    type: int = FLOAT,
) -> onnx.ModelProto:
    """A model of one node with the data ``x``; the other inputs are initializers, named as the inputs are."""
    names = list(tensors or {})
    node = helper.make_node(op, ["x", *names], [o for o, _ in outputs], name="same", domain=domain, **attributes)
    return model(
        [node],
        opset,
        ir_version=10,
        inputs=[("x", type, shape)],
        outputs=[(name, kind, None if shape is None else [None] * len(shape)) for name, kind in outputs],
        tensors=[tensor(name, array, array.dtype) for name, array in (tensors or {}).items()],
        imports=[(domain, 1)] if domain else [],
    )


def run(message: onnx.ModelProto, *feeds: np.ndarray, optimised: bool = True) -> list[np.ndarray]:
    options = native.session_options()
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = native.session(message, options)
    return session.run(None, dict(zip([i.name for i in session.get_inputs()], feeds, strict=True)))


def explicit(message: onnx.ModelProto, **options: Any) -> Conversion:
    return padops.convert(message, auto_pad="explicit", **options)


def only_record(conversion: Conversion):
    (record,) = conversion.records
    return record


def whole(rng: np.random.Generator, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    """Small integers, so that sums are exact."""
    low = 0 if np.dtype(dtype).kind == "u" else -9
    return rng.integers(low, 10, shape).astype(dtype)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return native.bits(a) == native.bits(b)


# --- against NumPy and shape inference -------------------------------------------------------------------------------

MODES = ("SAME_UPPER", "SAME_LOWER")
GEOMETRIES = [  # sizes, kernel, strides, dilations
    ((9,), (3,), (1,), (2,)),
    ((10,), (3,), (2,), (2,)),
    ((9,), (1,), (3,), (1,)),
    ((11,), (2,), (3,), (1,)),
    ((1,), (3,), (2,), (2,)),
    ((8, 7), (3, 3), (1, 1), (2, 2)),
    ((8, 7), (3, 2), (2, 1), (2, 2)),
    ((7, 8), (2, 3), (2, 2), (1, 1)),
    ((6, 9), (2, 3), (3, 4), (1, 2)),
    ((5, 6, 4), (3, 2, 2), (2, 1, 2), (1, 2, 2)),
]
OPERATORS = ("Conv", "MaxPool", "AveragePool", "LpPool")


def expected_of(op: str, data: np.ndarray, geometry: Geometry, weights: np.ndarray) -> np.ndarray:
    if op == "Conv":
        return same_windows.conv(data, weights, geometry).astype(np.float32)
    return {
        "MaxPool": same_windows.max_pool,
        "AveragePool": same_windows.average_pool,
        "LpPool": same_windows.lp_pool,
    }[op](data, geometry)


@pytest.mark.parametrize("shapes", ["static", "dynamic", "unknown"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", GEOMETRIES, ids=str)
@pytest.mark.parametrize("op", OPERATORS)
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
    np.testing.assert_array_equal(output, expected_of(op, data, geometry, weights), strict=True)
    if shapes == "static":
        assert record.op_type == "explicit pads"
        assert not any(row.domain == "padops" for row in conversion.proto().opset_import)


@pytest.mark.parametrize("mode", MODES)
def test_every_amount_that_an_axis_may_need(mode: str) -> None:
    """The begin is right for every size, and a larger end never makes room for another output."""
    for kernel, stride, dilation in product(range(1, 7), range(1, 8), range(1, 4)):
        axis = Axis(None, kernel, stride, dilation)
        choices = axis.amounts(mode)
        for size in range(1, 30):
            amount = next(c for c in choices if c.below is None or (size - 1) % stride < c.below)
            begin, end = same_padding(size, kernel, stride, dilation, mode)
            assert amount.begin == begin and amount.end >= end
            outputs = (size + amount.begin + amount.end - axis.extent) // stride + 1
            assert outputs == -(-size // stride)
            assert axis.least <= Axis(size, kernel, stride, dilation).least
    assert Axis(None, 3, 1 << 13, 1).amounts(mode) is None


# --- against ONNX Runtime itself, where it is right ------------------------------------------------------------------


def q(scale: float, zero: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array(scale, np.float32), np.array(zero, np.uint8)


def quantised(data: str, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """Scales and zero points, in the order of QLinearConv's or QLinearAveragePool's inputs."""
    names = [f"{data}_scale", f"{data}_zero"]
    rows = dict(zip(names, q(0.5, 3)))
    if weights is not None:
        rows |= {"w": weights, **dict(zip(["w_scale", "w_zero"], q(0.25, 2)))}
    return rows | dict(zip(["y_scale", "y_zero"], q(9.0, 7)))


W8 = np.random.default_rng(1).integers(0, 9, (4, 3, 3, 3)).astype(np.uint8)
WF = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
K3 = {"kernel_shape": (3, 3), "strides": (3, 2)}  # of which SAME_LOWER, too, begins in two ways

# Operator, domain, opset, attributes, other inputs, type of data and output, what it becomes where shapes are dynamic.
AGREEING = [
    ("Conv", "", 11, {**K3, "group": 1}, {"w": WF, "b": np.ones(4, np.float32)}, FLOAT, FLOAT, "SamePad_1"),
    ("Conv", "", 1, {"strides": (3, 2)}, {"w": WF}, FLOAT, FLOAT, "SamePad_1"),
    ("Conv", "", 22, {**K3, "group": 3}, {"w": WF[:3, :1]}, FLOAT, FLOAT, "SamePad_1"),
    ("Conv", "", 22, {"kernel_shape": (3, 3)}, {"w": WF}, FLOAT, FLOAT, "explicit pads"),
    ("ConvInteger", "", 10, {"strides": (3, 2)}, {"w": W8, "x_zero": np.array(3, np.uint8)}, UINT8, INT32, "SamePad_1"),
    ("ConvInteger", "", 10, {"strides": (3, 2)}, {"w": W8}, UINT8, INT32, "SamePad_1"),
    ("QLinearConv", "", 10, K3, quantised("x", W8), UINT8, UINT8, "SamePad_1"),
    ("QLinearConv", MS, 22, {**K3, "channels_last": 0}, quantised("x", W8), UINT8, UINT8, "SamePad_1"),
    ("QLinearConv", MS, 22, {**K3, "channels_last": 1}, quantised("x", W8), UINT8, UINT8, "SamePad_1"),
    ("FusedConv", MS, 22, {**K3, "activation": "Relu"}, {"w": WF}, FLOAT, FLOAT, "SamePad_1"),
    ("ConvTranspose", "", 11, {"strides": (2, 2)}, {"w": WF[:3]}, FLOAT, FLOAT, "explicit pads"),
    ("ConvTranspose", "", 22, {"strides": (2, 1), "output_padding": (1, 0)}, {"w": WF[:3]}, FLOAT, FLOAT,
     "explicit pads"),
    ("MaxPool", "", 8, K3, {}, FLOAT, FLOAT, "SamePad_1"),
    ("MaxPool", "", 12, {**K3, "ceil_mode": 1}, {}, UINT8, UINT8, "SamePad_1"),
    ("MaxPool", "", 22, {"kernel_shape": (2, 2)}, {}, FLOAT, FLOAT, "explicit pads"),
    ("NhwcMaxPool", MS, 22, K3, {}, UINT8, UINT8, "SamePad_1"),
    ("AveragePool", "", 7, K3, {}, FLOAT, FLOAT, "explicit pads"),
    ("AveragePool", "", 22, {**K3, "count_include_pad": 1, "ceil_mode": 1}, {}, FLOAT, FLOAT, "SamePad_1"),
    ("AveragePool", "", 11, {"kernel_shape": (5, 4), "strides": (3, 2)}, {}, FLOAT, FLOAT, "explicit pads"),
    ("QLinearAveragePool", MS, 22, K3, quantised("x", None), UINT8, UINT8, "explicit pads"),
    ("QLinearAveragePool", MS, 22, {**K3, "count_include_pad": 1, "channels_last": 1}, quantised("x", None),
     UINT8, UINT8, "SamePad_1"),
    ("LpPool", "", 2, {**K3, "p": 3}, {}, FLOAT, FLOAT, "SamePad_1"),
    ("LpPool", "", 18, {**K3, "ceil_mode": 1}, {}, FLOAT, FLOAT, "SamePad_1"),
]  # fmt: skip


def random_data(op: str, attributes: Mapping[str, Any], type: int, size: tuple[int, int]) -> np.ndarray:
    last = attributes.get("channels_last") or op.startswith("Nhwc")
    shape = (2, *size, 3) if last else (2, 3, *size)
    rng = np.random.default_rng(size)
    return rng.integers(0, 256, shape).astype(np.uint8) if type == UINT8 else rng.standard_normal(shape, np.float32)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "row", AGREEING, ids=[f"{row[1]}{row[0]}-{row[2]}-{row[-1]}-{i}" for i, row in enumerate(AGREEING)]
)
def test_same_bits_as_onnx_runtime(row: tuple, mode: str) -> None:
    op, domain, opset, attributes, tensors, type, result, dynamic = row
    attributes = {**attributes, "auto_pad": mode}
    parts = {"opset": opset, "domain": domain, "type": type, "outputs": [("y", result)]}
    original = node_model(op, ("n", "a", "b", "c"), attributes, tensors, **parts)
    conversion = explicit(original)
    assert only_record(conversion).op_type == dynamic
    # Some runtimes let ceil_mode add an output where pads are explicit.
    nodes = [m for m in messages(conversion.proto()) if isinstance(m, onnx.NodeProto) and m.op_type == op]
    assert nodes and not {"auto_pad", "ceil_mode"} & {a.name for node in nodes for a in node.attribute}
    for size in product((5, 6, 7), (7, 8)):
        data = random_data(op, attributes, type, size)
        fixed = node_model(op, data.shape, attributes, tensors, **parts)
        converted = explicit(fixed)
        assert only_record(converted).op_type == "explicit pads"
        for optimised in (True, False):
            wanted = run(original, data, optimised=optimised)
            for result in (conversion.proto(), converted.proto()):
                assert all(map(same, run(result, data, optimised=optimised), wanted))
    assert only_record(explicit(original, select="needed")).status == "not needed"


@pytest.mark.parametrize("count_include_pad", [0, 1])
def test_averages_of_every_size(count_include_pad: int) -> None:
    """Bit-equal whatever the branch, for random numbers."""
    attributes = {
        "kernel_shape": (3, 5),
        "strides": (2, 3),
        "auto_pad": "SAME_UPPER",
        "count_include_pad": count_include_pad,
    }
    original = node_model("AveragePool", NAMES[:4], attributes)
    conversion = explicit(original)
    ifs = sum(isinstance(m, onnx.NodeProto) and m.op_type == "If" for m in messages(conversion.proto()))
    assert ifs == (0 if count_include_pad else 3)
    before, after = native.session(original), native.session(conversion.proto())
    for size in product(range(1, 8), range(1, 10)):
        data = np.random.default_rng(size).standard_normal((1, 2, *size), np.float32)
        assert same(after.run(None, {"x": data})[0], before.run(None, {"x": data})[0])


def messages(message: Any):
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for item in [value] if hasattr(value, "ListFields") else value:
                yield from messages(item)


@pytest.mark.parametrize("shape", [(1, 2, 6, 7), NAMES[:4]], ids=["static", "dynamic"])
def test_indices_are_those_of_the_data(shape: tuple) -> None:
    attributes = {"kernel_shape": (3, 3), "strides": (2, 2), "auto_pad": "SAME_UPPER", "storage_order": 1}
    original = node_model("MaxPool", shape, attributes, outputs=[("y", FLOAT), ("at", INT64)])
    conversion = explicit(original)
    assert only_record(conversion).op_type == "explicit pads"
    for size in [(6, 7), (5, 8)] if "h" in shape else [(6, 7)]:
        data = np.random.default_rng(size).standard_normal((1, 2, *size), np.float32)
        assert all(map(same, run(conversion.proto(), data), run(original, data)))


SPECIAL = np.array([np.nan, -np.inf, np.inf, -0.0, 0.0, 1.5, -np.inf, np.nan, -3.0, -np.inf, -np.inf], np.float32)


@pytest.mark.parametrize("shape", [(1, 1, 11), ("n", "c", "w")], ids=["static", "dynamic"])
def test_lowest_values_and_nan(shape: tuple) -> None:
    attributes = {"kernel_shape": (3,), "strides": (2,), "auto_pad": "SAME_UPPER"}
    original = node_model("MaxPool", shape, attributes)
    for data in (SPECIAL, np.full(11, -np.inf, np.float32), np.full(11, np.nan, np.float32)):
        assert same(*(run(m, data.reshape(1, 1, 11))[0] for m in (original, explicit(original).proto())))


def test_nothing_is_lower_than_what_a_dilated_pooling_pads_with() -> None:
    """Without a dilation ONNX Runtime begins with the least finite number; with one, minus infinity is a result."""
    attributes = {"kernel_shape": (3,), "strides": (2,), "dilations": (2,), "auto_pad": "SAME_UPPER"}
    conversion = explicit(node_model("MaxPool", NAMES[:3], attributes))
    assert only_record(conversion).op_type == "SamePad_1"
    (made,) = run(conversion.proto(), np.full((1, 1, 8), -np.inf, np.float32))
    assert same(made, np.full((1, 1, 4), -np.inf, np.float32))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_lowest_value_of_integers(dtype: Any) -> None:
    lowest = np.iinfo(dtype).min
    data = np.full((1, 1, 8), lowest, dtype)
    attributes = {"kernel_shape": (3,), "strides": (2,), "dilations": (2,), "auto_pad": "SAME_UPPER"}
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    conversion = explicit(node_model("MaxPool", ("n", "c", "w"), attributes, type=kind, outputs=[("y", kind)]))
    assert only_record(conversion).op_type == "SamePad_1"
    assert (run(conversion.proto(), data)[0] == lowest).all()


# --- amounts as large as the kernel ----------------------------------------------------------------------------------

WIDE = {"kernel_shape": (3,), "dilations": (3,), "auto_pad": "SAME_UPPER"}  # 3 elements on either side


@pytest.mark.parametrize("op", ["MaxPool", "LpPool", "AveragePool"])
def test_pads_as_large_as_the_kernel(op: str) -> None:
    """ONNX Runtime takes none for a pooling, so the data are padded although the shape is known."""
    attributes = {**WIDE, **({"p": 1} if op == "LpPool" else {"count_include_pad": 1} if op == "AveragePool" else {})}
    conversion = explicit(node_model(op, (1, 1, 10), attributes))
    record = only_record(conversion)
    assert (record.op_type, record.notes) == ("SamePad_1", ("ONNX Runtime takes no pads as large as the kernel",))
    data = whole(np.random.default_rng(0), (1, 1, 10))
    geometry = Geometry((3,), (1,), (3,), "SAME_UPPER")
    wanted = {
        "MaxPool": same_windows.max_pool(data, geometry),
        "LpPool": same_windows.lp_pool(data, geometry),
        "AveragePool": same_windows.average_pool(data, geometry, 1),
    }[op]
    np.testing.assert_array_equal(run(conversion.proto(), data)[0], wanted, strict=True)


def test_conv_takes_pads_as_large_as_the_kernel() -> None:
    weights = whole(np.random.default_rng(1), (2, 1, 3))
    conversion = explicit(node_model("Conv", (1, 1, None), WIDE, {"w": weights}))
    assert only_record(conversion).notes == ("pads [3, 3]",)
    data = whole(np.random.default_rng(0), (1, 1, 10))
    wanted = same_windows.conv(data, weights, Geometry((3,), (1,), (3,), "SAME_UPPER"))
    np.testing.assert_array_equal(run(conversion.proto(), data)[0], wanted)


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


# --- what is left, and why -------------------------------------------------------------------------------------------

LEFT = [
    ("pads too", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "pads": (1, 1)}, {}, "",
     "auto_pad and pads are given together, and ONNX has no meaning for that"),
    ("a mode of its own", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "auto_pad": "SAME"}, {}, "",
     "auto_pad is 'SAME', expected one of SAME_UPPER, SAME_LOWER, NOTSET, VALID"),
    ("no kernel", "MaxPool", NAMES[:3], {}, {}, "", "it has no kernel_shape"),
    ("rank", "MaxPool", NAMES[:4], {"kernel_shape": (3,)}, {}, "",
     "its data have rank 4, expected 3 for a kernel of 1 values [S1]"),
    ("strides", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "strides": (1, 1)}, {}, "",
     "strides has 2 values, expected 1 (1 per spatial axis) [S1]"),
    ("no stride", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "strides": (0,)}, {}, "",
     f"strides has 0, expected 1 to {2**59 - 1} [S1]"),
    ("wide average", "AveragePool", (1, 1, 10), {"kernel_shape": (3,), "dilations": (3,)}, {}, "",
     "it counts only data, and ONNX Runtime takes no pads as large as the kernel"),
    ("many branches", "AveragePool", NAMES, {"kernel_shape": (9, 9, 9), "strides": (9, 9, 9)}, {}, "",
     "it counts only data, and there are 125 amounts to choose from, more than 64"),
    ("many strides", "AveragePool", NAMES[:3], {"kernel_shape": (9,), "strides": (5000,)}, {}, "",
     "it counts only data, and its strides leave too many amounts to choose from"),
    ("nothing to crop", "ConvTranspose", (1, 1, 4), {"strides": (3,)}, {"w": np.ones((1, 1, 2), np.float32)}, "",
     ("its stride is larger than its kernel with output_padding, so that there is nothing to crop; ONNX, its reference "
     "and TensorFlow do not agree on the elements that are missing")),
    ("output_shape", "ConvTranspose", (1, 1, 4), {"output_shape": (9,)}, {"w": np.ones((1, 1, 2), np.float32)}, "",
     "its amounts follow from output_shape; auto_pad only says how to halve them"),
    ("mask", "MaxpoolWithMask", NAMES[:3], {"kernel_shape": (3,)}, {}, MS,
     "its mask would have to be padded with the data"),
    ("dynamic pads", "ConvTransposeWithDynamicPads", NAMES[:3], {"kernel_shape": (3,)}, {}, MS,
     "its amounts are an input"),
    ("blocked", "Conv", NAMES[:4], {"kernel_shape": (3, 3)}, {}, "com.microsoft.nchwc",
     "the domain com.microsoft.nchwc is ONNX Runtime's own; convert the model it was made from"),
    ("channels last", "NhwcConv", NAMES[:4], {}, {"w": WF}, MS, "it has no kernel_shape"),
    ("no number", "AveragePool", NAMES[:3], {"kernel_shape": (3,), "count_include_pad": 0.5}, {}, "",
     "its attribute count_include_pad is of type FLOAT"),
    ("no list", "AveragePool", NAMES[:3], {"kernel_shape": 3}, {}, "", "its attribute kernel_shape is of type INT"),
]  # fmt: skip


@pytest.mark.parametrize("row", LEFT, ids=[row[0] for row in LEFT])
def test_left(row: tuple) -> None:
    _, op, shape, attributes, tensors, domain, reason = row
    original = node_model(op, shape, {"auto_pad": "SAME_UPPER", **attributes}, tensors, domain=domain)
    conversion = explicit(original)
    record = only_record(conversion)
    assert (record.status, record.reason, record.op_type) == ("left", reason, None)
    assert record.form.endswith(f"{op} auto_pad={attributes.get('auto_pad', 'SAME_UPPER')}")
    assert conversion.proto() == original


def test_left_without_data() -> None:
    node = helper.make_node("MaxPool", [""], ["y"], kernel_shape=[3], auto_pad="SAME_UPPER")
    assert only_record(explicit(model([node]))).reason == "it has no data"


def test_left_where_the_weights_are_not_known() -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER")
    for shape in (None, (4, 3, None, 3)):
        message = model([node], inputs=[("x", FLOAT, NAMES[:4]), ("w", FLOAT, shape)])
        assert (
            only_record(explicit(message)).reason == "it has no kernel_shape, and the shape of its weights is not known"
        )


def test_left_before_integers_can_be_divided() -> None:
    original = node_model(
        "AveragePool", NAMES[:3], {"kernel_shape": (3,), "strides": (2,), "auto_pad": "SAME_UPPER"}, opset=6
    )
    assert only_record(explicit(original)).reason == "it counts only data, and opset 6 cannot choose by size"


def test_others_are_no_concern() -> None:
    for auto_pad in ({}, {"auto_pad": "NOTSET"}, {"auto_pad": "VALID"}):
        original = node_model("MaxPool", NAMES[:3], {"kernel_shape": (3,), **auto_pad})
        conversion = explicit(original)
        assert not conversion.records and conversion.proto() == original


def test_kept_unless_asked_for() -> None:
    original = node_model("MaxPool", NAMES[:3], {"kernel_shape": (3,), "auto_pad": "SAME_UPPER"})
    assert not padops.convert(original).records
    with pytest.raises(UsageError, match="auto_pad is 'yes', expected 'keep' or 'explicit'"):
        padops.convert(original, auto_pad="yes")


# --- what ONNX Runtime gets wrong ------------------------------------------------------------------------------------

D2 = {"kernel_shape": (3,), "dilations": (2,)}
S3 = {"kernel_shape": (1,), "strides": (3,)}
DILATED = "ONNX Runtime computes SAME as if there were no dilation"
NEGATIVE = "ONNX Runtime pads by a negative amount where the stride is larger than the kernel"
NEEDED = [  # operator, attributes, other inputs, reason, what ONNX Runtime says unless it gives wrong numbers
    ("Conv", D2, {"w": np.ones((1, 1, 3), np.float32)}, "ONNX Runtime refuses SAME with a dilation",
     "Dilation not supported"),
    ("MaxPool", D2, {}, DILATED, None),
    ("AveragePool", D2, {}, DILATED, None),
    ("LpPool", D2, {}, DILATED, None),
    ("MaxPool", S3, {}, NEGATIVE, "padding values must be non-negative"),
    ("AveragePool", S3, {}, NEGATIVE, None),
    ("LpPool", S3, {}, NEGATIVE, None),
]  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1, 9), NAMES[:3]], ids=["static", "dynamic"])
@pytest.mark.parametrize("row", NEEDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_needed(row: tuple, shape: tuple) -> None:
    """Each reason for ``select="needed"`` is a fact about the runtime that is installed."""
    op, attributes, tensors, reason, refusal = row
    original = node_model(op, shape, {**attributes, "auto_pad": "SAME_UPPER"}, tensors)
    conversion = explicit(original, select="needed")
    record = only_record(conversion)
    assert record.status == "converted" and record.notes[-1] == reason
    data = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 9)
    right = run(conversion.proto(), data)[0]
    if refusal is None:
        assert not same(run(original, data)[0], right)
    else:
        with pytest.raises(Exception, match=refusal):
            run(original, data)


@pytest.mark.parametrize("row", NEEDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_verification_of_a_correction(row: tuple, tmp_path: Path) -> None:
    """Outputs that differ because the original's are wrong are no reason against the converted model."""
    op, attributes, tensors, reason, refusal = row
    original = node_model(op, (1, 1, 9), {**attributes, "auto_pad": "SAME_UPPER"}, tensors)
    conversion = explicit(original, output=tmp_path / "out.onnx", verify=True)
    assert (tmp_path / "out.onnx").exists() and conversion.verification.outcome == "runs"
    assert only_record(conversion).corrects == (None if op == "Conv" else reason)
    if refusal is None:
        note = f"the outputs differ because the converted model corrects the original (graph/same: {reason})"
        assert conversion.verification.notes[-1] == note
    right = node_model("MaxPool", (1, 1, 9), {"kernel_shape": (3,), "auto_pad": "SAME_UPPER"})
    conversion = explicit(right, verify=True)
    assert (conversion.verification.outcome, only_record(conversion).corrects) == ("equal", None)


def test_not_needed_where_the_kernel_covers_the_stride() -> None:
    for shape, kernel, stride, needed in [
        ((1, 1, 7), 1, 3, False),  # 7 elements end with the last window
        ((1, 1, 9), 1, 3, True),
        (NAMES[:3], 1, 3, True),
        (NAMES[:3], 3, 3, False),
    ]:
        original = node_model(
            "MaxPool", shape, {"kernel_shape": (kernel,), "strides": (stride,), "auto_pad": "SAME_UPPER"}
        )
        record = only_record(explicit(original, select="needed"))
        assert record.status == ("converted" if needed else "not needed")
        assert needed or record.reason == "ONNX Runtime pads it rightly by itself"


# --- everywhere in a model -------------------------------------------------------------------------------------------


def pools(data: str, prefix: str) -> list[onnx.NodeProto]:
    """A pooling of each kind: pads by the shape, pads by the size, explicit pads."""
    two = {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_UPPER"}
    return [
        helper.make_node("MaxPool", [data], [f"{prefix}m"], name=f"{prefix}max", **two),
        helper.make_node("AveragePool", [f"{prefix}m"], [f"{prefix}a"], name=f"{prefix}average", **two),
        helper.make_node(
            "AveragePool",
            [f"{prefix}a"],
            [f"{prefix}y"],
            name=f"{prefix}fixed",
            kernel_shape=[3],
            auto_pad="SAME_LOWER",
        ),
    ]


def nested(ir_version: int = 8) -> onnx.ModelProto:
    free = ("n", "c", "w")
    then_branch = graph(pools("x", "t_"), [], [("t_y", FLOAT, None)], name="then")
    else_branch = graph(pools("x", "e_"), [], [("e_y", FLOAT, None)], name="else")
    function = helper.make_function(
        "mine", "Pools", ["i"], ["f_y"], pools("i", "f_"), [helper.make_opsetid("", 17)], ["unused"]
    )
    nodes = [
        helper.make_node("If", ["flag"], ["z"], name="if", then_branch=then_branch, else_branch=else_branch),
        helper.make_node("Pools", ["z"], ["y"], name="call", domain="mine"),
    ]
    return model(
        nodes,
        inputs=[("x", FLOAT, free), ("flag", onnx.TensorProto.BOOL, [])],
        outputs=[("y", FLOAT, [None, None, None])],
        functions=[function],
        imports=[("mine", 1)],
        ir_version=ir_version,
    )


def test_branches_and_functions(tmp_path: Path) -> None:
    original = nested()
    padops.convert(original, tmp_path / "out.onnx", auto_pad="explicit", verify=True)
    message = onnx.load(tmp_path / "out.onnx")
    padops.register_schemas()
    onnx.checker.check_model(message, full_check=True)
    nodes = [m for m in messages(message) if isinstance(m, onnx.NodeProto)]
    assert {n.domain for n in nodes if "auto_pad" in [a.name for a in n.attribute]} == {"padops"}
    records = explicit(original).records
    paths = [record.path for record in records]
    assert [path.rsplit("/", 1)[0] for path in paths[::3]] == [
        "graph/if.else_branch",
        "graph/if.then_branch",
        "function mine::Pools",
    ]
    # The type of a function's data is its caller's: what its MaxPool would have to be padded with is not known.
    assert [record.op_type for record in records[::3]] == ["SamePad_1", "SamePad_1", "explicit pads"]
    assert records[6].notes == ("an If chooses between 2 pads by the size; it has data of a type that is not known",)
    for flag, size in product((True, False), (11, 12, 13, 14)):
        data = np.random.default_rng(size).standard_normal((1, 2, size), np.float32)
        assert same(run(message, data, np.array(flag))[0], run(original, data, np.array(flag))[0])


def test_attributes_of_the_caller() -> None:
    node = helper.make_node("MaxPool", ["i"], ["o"], name="pool", kernel_shape=[3])
    node.attribute.add(name="auto_pad", ref_attr_name="how", type=onnx.AttributeProto.STRING)
    kernel = helper.make_node("MaxPool", ["o"], ["p"], name="wide", auto_pad="SAME_UPPER")
    kernel.attribute.add(name="kernel_shape", ref_attr_name="size", type=onnx.AttributeProto.INTS)
    opset = [helper.make_opsetid("", 17)]
    function = helper.make_function("mine", "Pool", ["i"], ["p"], [node, kernel], opset, ["how", "size"])
    for how, reasons in [
        ("SAME_LOWER", ["auto_pad is given by the caller of the function"]),
        ("VALID", []),
    ]:
        call = helper.make_node("Pool", ["x"], ["y"], domain="mine", how=how, size=[3])
        message = model([call], inputs=[("x", FLOAT, NAMES[:3])], functions=[function], imports=[("mine", 1)])
        records = explicit(message).records
        last = "its attribute kernel_shape is given by the caller of the function"
        assert [record.reason for record in records] == [*reasons, last]
        assert [record.form for record in records[:-1]] == ["MaxPool auto_pad=of the caller"] * len(reasons)


def test_before_initializers_were_free() -> None:
    """Before IR version 4, constants are nodes."""
    original = node_model("AveragePool", NAMES[:4], {**K3, "auto_pad": "SAME_UPPER"}, opset=7)
    original.ir_version = 3
    message = explicit(original).proto()
    assert not message.graph.initializer and "Constant" in [node.op_type for node in message.graph.node]
    onnx.checker.check_model(message)
    data = np.random.default_rng(0).standard_normal((1, 2, 7, 8), np.float32)
    assert same(run(message, data)[0], run(original, data)[0])


def test_twice_is_once() -> None:
    once = explicit(nested()).proto()
    again = explicit(once)
    assert again.proto() == once
    assert [record.status for record in again.records] == ["already converted"] * 2


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from padops.cli import main

    source, output = tmp_path / "in.onnx", tmp_path / "out.onnx"
    onnx.save(node_model("Conv", NAMES[:4], {"strides": (2, 2), "auto_pad": "SAME_UPPER"}, {"w": WF}), source)
    assert main(["convert", str(source), "-o", str(output), "--auto-pad", "explicit", "--verify"]) == 0
    told = capsys.readouterr().out
    assert "Conv auto_pad=SAME_UPPER" in told and "padops::SamePad_1" in told and "bit-equal" in told
    onnx.save(node_model("MaxPool", (1, 1, 9), {"kernel_shape": (3,), "auto_pad": "SAME_UPPER"}), source)
    assert main(["convert", str(source), "-o", str(output), "--auto-pad", "explicit"]) == 0
    told = capsys.readouterr().out
    assert "explicit pads" in told and "pads [1, 1]" in told and "padops::explicit" not in told


# --- real models -----------------------------------------------------------------------------------------------------

OCR = [
    ("rapidocr/PP-OCRv6_det_small.onnx", [(1, 3, 96, 160), (1, 3, 160, 224), (2, 3, 64, 96)]),
    ("rapidocr/PP-OCRv6_rec_small.onnx", [(1, 3, 48, 96), (2, 3, 48, 161), (1, 3, 48, 320)]),
]


@pytest.mark.parametrize(("name", "shapes"), OCR, ids=["det", "rec"])
def test_real_models(name: str, shapes: list, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their strides are 1: the amounts are known, although height and width are not."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    path = importlib.import_module("fetch_models").fetch(["rapidocr"])[name]
    conversion = padops.convert(path, tmp_path / "out.onnx", auto_pad="explicit")
    assert [(r.form, r.op_type) for r in conversion.records] == [
        (f"{op} auto_pad=SAME_UPPER", "explicit pads") for op in ("Conv", "Conv", "MaxPool")
    ]
    before, after = onnx.load(path), onnx.load(tmp_path / "out.onnx")
    sessions = [native.session(before), native.session(after)]
    for shape in shapes:
        data = np.random.default_rng(0).standard_normal(shape, np.float32)
        given, made = (session.run(None, {session.get_inputs()[0].name: data}) for session in sessions)
        assert all(map(same, made, given))
