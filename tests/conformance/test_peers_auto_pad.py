"""OpenVINO reads ``auto_pad`` itself: its results against those of the converted models, dilations and all.

Small integers as data make every sum exact. OpenVINO has no LpPool.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import native
import numpy as np
import onnx
import openvino
import pytest
import same_windows
from same_windows import Geometry
from small_models import FLOAT, model, tensor

import padops

CORE = openvino.Core()
MODES = ("SAME_UPPER", "SAME_LOWER")
OPERATORS = {
    "Conv": {},
    "MaxPool": {},
    "AveragePool": {"count_include_pad": 0},
    "AveragePool, all": {"count_include_pad": 1},
}


def in_openvino(message: onnx.ModelProto) -> Callable[[np.ndarray], np.ndarray]:
    read = CORE.read_model(message.SerializeToString())
    # In its own precision, and not what the processor is fastest with.
    compiled = CORE.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return lambda data: compiled([data])[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", OPERATORS)
def test_same_values(op: str, mode: str) -> None:
    rng = np.random.default_rng(0)
    for kernel, strides, dilations in product([(3, 3), (2, 3)], [(1, 1), (2, 1), (2, 3)], [(1, 1), (2, 2), (1, 2)]):
        attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "auto_pad": mode}
        weights = tensor("w", rng.integers(-9, 10, (4, 3, *kernel)), np.float32)
        inputs, tensors = (["x", "w"], [weights]) if op == "Conv" else (["x"], [])
        node = onnx.helper.make_node(op.split(",")[0], inputs, ["y"], **attributes, **OPERATORS[op])
        shapes = {"inputs": [("x", FLOAT, ("n", 3, "h", "w"))], "outputs": [("y", FLOAT, [None] * 4)]}
        message = model([node], 19, **shapes, tensors=tensors)
        session = native.session(padops.convert(message, auto_pad="explicit").proto())
        by_openvino = in_openvino(message)
        for size in [(8, 7), (5, 9)]:
            data = rng.integers(-9, 10, (2, 3, *size)).astype(np.float32)
            (made,) = session.run(None, {"x": data})
            wanted = by_openvino(data)
            assert made.shape == wanted.shape
            assert wanted.shape[2:] == tuple(Geometry(kernel, strides, dilations, mode).outputs(size))
            np.testing.assert_array_equal(made, wanted)


def test_what_openvino_does_at_the_border() -> None:
    """The long way of ``same_windows`` is right by OpenVINO's account, too."""
    data = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 9)
    attributes = {"kernel_shape": (3,), "dilations": (2,), "auto_pad": "SAME_UPPER"}
    node = onnx.helper.make_node("MaxPool", ["x"], ["y"], **attributes)
    message = model([node], 19, inputs=[("x", FLOAT, (1, 1, 9))], outputs=[("y", FLOAT, [None] * 3)])
    wanted = same_windows.max_pool(data, Geometry((3,), (1,), (2,), "SAME_UPPER"))
    np.testing.assert_array_equal(in_openvino(message)(data), wanted)
