"""``auto_pad="explicit"``: what a pooling reads outside its data is less than every number, and beside NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from auto_pad_models import NAMES, explicit, node_model, only_record, run, same
from onnx import helper
from small_models import FLOAT, INT64, model

import padops


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


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_a_spatial_dim_of_0_counts_as_open(stride: int, mode: str) -> None:
    """Nothing can be padded there, and some exporters write 0 for a size that they leave open."""
    made = []
    for height in (0, "h"):
        window = {"kernel_shape": [3, 3], "strides": [stride, stride], "auto_pad": mode}
        pool = helper.make_node("MaxPool", ["x"], ["y"], **window)
        source = model([pool], 13, inputs=[("x", FLOAT, [1, 1, height, 4])])
        converted = padops.convert(source, auto_pad="explicit", fold=False, fallback=False).proto()
        made.append([(n.op_type, {a.name: list(a.ints) for a in n.attribute if a.ints}) for n in converted.graph.node])
    assert made[0] == made[1]
