"""``auto_pad="explicit"`` where releases of ONNX Runtime differ, and where an axis has no elements."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from auto_pad_models import NAMES, explicit, node_model, only_record, run, same
from same_windows import Geometry, average_pool

import padops

# Sizes, kernel, strides, opset; which of the releases 1.21 to 1.24 are wrong, and what the node becomes.
COUNTING: list[tuple[tuple[int | None, ...], tuple[int, ...], tuple[int, ...], int, str, str]] = [
    ((4, 4), (2, 2), (1, 1), 19, "wrong", "SamePad_1"),
    ((4, 4), (2, 2), (1, 1), 18, "runs", "explicit pads"),
    ((4, 4), (3, 3), (1, 1), 19, "runs", "explicit pads"),
    ((4,), (2,), (1,), 19, "runs", "explicit pads"),
    ((4, 4, 4), (1, 3, 1), (1, 1, 1), 21, "wrong", "SamePad_1"),
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
    data = np.arange(1, 1 + 4 ** len(sizes), dtype=np.float32).reshape(1, 1, *[4] * len(sizes))
    data = data[..., : sizes[-1] or 4]
    wanted = average_pool(data, Geometry(kernel, strides, [1] * len(sizes), "SAME_UPPER"), 1)
    assert same(run(explicit(original).proto(), data)[0], wanted)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("kernel", [2, 3])
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


def test_a_pooling_of_floats_keeps_its_bits() -> None:
    """Those of windows of minus infinity and of NaN too, which verification tries: their data are not padded."""
    attributes = {"kernel_shape": (3, 2), "strides": (2, 2), "auto_pad": "SAME_UPPER"}
    conversion = explicit(node_model("MaxPool", NAMES[:4], attributes, opset=13), verify=True)
    assert conversion.verification.outcome == "equal" and not conversion.proto().functions


def test_a_kernel_of_later_releases() -> None:
    """No road helps: the converted model has the same node."""
    original = node_model("ConvInteger", (1, 1, 4), {"auto_pad": "SAME_UPPER"}, {"w": np.ones((1, 1, 2), np.int8)},
                          type=onnx.TensorProto.INT8, outputs=[("y", onnx.TensorProto.INT32)])  # fmt: skip
    (found,) = padops.inspect(original, onnxruntime="1.23").pads
    assert (found.verdict, found.roads) == ("refuses", ()) and "1.24 has" in found.why
    assert padops.inspect(original, onnxruntime="1.24").pads[0].verdict == "runs"
