"""A model for each form of a foreign Pad: another framework's, a function of ONNX, or SAME of a window."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper
from small_models import FLOAT, model, tensor

Row = tuple[str, onnx.ModelProto]


def foreign(
    op: str, domain: str, arrays: list[np.ndarray | None], rank: int = 2, opset: int = 18, **rows: object
) -> onnx.ModelProto:
    """One node on data of open dims; its other inputs are constants."""
    names = ["x", *("" if array is None else f"c{at}" for at, array in enumerate(arrays))]
    node = helper.make_node(op, names, ["y"], domain=domain, **rows)
    held = [tensor(f"c{at}", array, array.dtype) for at, array in enumerate(arrays) if array is not None]
    parts = {"inputs": [("x", FLOAT, [f"d{axis}" for axis in range(rank)])], "outputs": [("y", FLOAT, None)]}
    return model([node], opset, ir_version=9, tensors=held, imports=[(domain, 1)] if domain else [], **parts)


def foreign_pads() -> Iterator[Row]:
    """Each form, by name."""
    tf, paddings = "ai.onnx.converters.tensorflow", np.array([[1, 0], [2, 1]], np.int32)
    for mode in ("REFLECT", "SYMMETRIC"):
        yield f"MirrorPad {mode}", foreign("MirrorPad", tf, [paddings], mode=mode)
    yield "TensorFlow Pad", foreign("Pad", tf, [paddings])
    yield "PadV2", foreign("PadV2", tf, [paddings.astype(np.int64), np.float32(2)])
    for name in ("reflection_pad1d", "replication_pad1d", "_pad_circular"):
        yield f"ATen {name}", foreign("ATen", "org.pytorch.aten", [np.array([2, 1])], operator=name)
    yield (
        "ATen constant_pad_nd",
        foreign("ATen", "org.pytorch.aten", [np.array([2, 1, 0, 3]), np.float32(1.5)], operator="constant_pad_nd"),
    )
    yield "ATen replication_pad2d", foreign("replication_pad2d", "aten", [np.array([2, 1, 0, 3])], 3)
    for mode in ("constant", "reflect", "edge"):
        yield f"PadImage {mode}", foreign("PadImage", "", [], 4, pads=[1, 2, 0, 1], mode=mode)
    yield "nGraph", foreign("Pad", "ngraph", [np.float32(3)], padding_below=[1, 0], padding_above=[0, 2],
                            padding_interior=[1, 0])  # fmt: skip
    yield "OpenVINO", foreign("Pad", "ai.intel.openvino", [np.array([1, 0]), np.array([0, 2])], version="opset12",
                              pad_mode="reflect")  # fmt: skip
    yield "com.microsoft", foreign("Pad", "com.microsoft", [np.array([1, 0, 2, 1]), np.float32(7)])
    yield "CenterCropPad", foreign("CenterCropPad", "", [np.array([5, 4])])
    yield "CenterCropPad of axes", foreign("CenterCropPad", "", [np.array([5])], axes=[-1])
    weights = np.ones((2, 3, 3, 2), np.float32)
    for way in ("SAME_UPPER", "SAME_LOWER"):
        more = {"auto_pad": way, "strides": [2, 1]}
        yield f"Conv {way}", foreign("Conv", "", [weights], 4, kernel_shape=[3, 2], **more)
        yield f"MaxPool {way}", foreign("MaxPool", "", [], 4, kernel_shape=[3, 2], **more)
        yield f"AveragePool {way}", foreign("AveragePool", "", [], 4, kernel_shape=[3, 2], **more)
    yield "Attention", attention()


def attention() -> onnx.ModelProto:
    """A mask that is shorter than the keys."""
    node = helper.make_node("Attention", ["q", "k", "v", "m"], ["y"])
    shapes = {"q": [1, 2, 4, 8], "k": [1, 2, 6, 8], "v": [1, 2, 6, 8], "m": [4, 5]}
    inputs = [(name, FLOAT, dims) for name, dims in shapes.items()]
    return model([node], 24, ir_version=11, inputs=inputs, outputs=[("y", FLOAT, None)])
