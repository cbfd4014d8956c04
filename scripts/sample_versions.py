"""The sample models of make_models.py for the versions of ONNX Pad, one each."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto
from sample_parts import build, constant, pad, tensor


def pad_01() -> onnx.ModelProto:
    T = TensorProto.FLOAT16
    return build(
        "Pad-1: paddings in an attribute; float16, and a fill of 0.1 that is rounded to it.",
        1,
        3,
        [
            pad("constant", ["x"], paddings=[0, 2, 0, 0], value=0.1),
            pad("reflect", ["x"], paddings=[2, 1, 1, 0], mode="reflect"),
            pad("edge", ["x"], paddings=[0, 1, 3, 2], mode="edge"),
        ],
        [("x", T, [3, 2])],
        [("constant", T, [3, 4]), ("reflect", T, [6, 3]), ("edge", T, [6, 5])],
    )


def pad_02() -> onnx.ModelProto:
    T = TensorProto.DOUBLE
    return build(
        "Pad-2: pads in an attribute, negative ones crop; double, filled with the float nearest to 0.1.",
        2,
        3,
        [
            pad("constant", ["x"], pads=[-1, 2, 0, -2], value=0.1),
            pad("reflect", ["x"], pads=[1, 0, 1, 3], mode="reflect"),
            pad("edge", ["x"], pads=[0, -1, 2, 2], mode="edge"),
        ],
        [("x", T, [3, 4])],
        [("constant", T, [2, 4]), ("reflect", T, [5, 7]), ("edge", T, [5, 5])],
    )


def pad_11() -> onnx.ModelProto:
    T = TensorProto.INT8
    return build(
        "Pad-11: pads and the fill are inputs, here an initializer, a Constant node and a graph input.",
        11,
        6,
        [
            constant("sides", [0, 2, 0, 1]),
            pad("constant", ["x", "around", "fill"]),
            pad("reflect", ["x", "sides", "fill"], mode="reflect"),
            pad("edge", ["x", "asked"], mode="edge"),
        ],
        [("x", T, [2, 3]), ("asked", TensorProto.INT64, [4])],
        [("constant", T, [4, 5]), ("reflect", T, [2, 6]), ("edge", T, [None, None])],
        [tensor("around", [1, 1, 1, 1]), tensor("fill", -7, np.int8)],
    )


def pad_13() -> onnx.ModelProto:
    B, W = TensorProto.BOOL, TensorProto.BFLOAT16
    return build(
        "Pad-13: bool and bfloat16.",
        13,
        7,
        [pad("framed", ["mask", "around", "yes"]), pad("mirrored", ["weights", "sides"], mode="reflect")],
        [("mask", B, [2, 3]), ("weights", W, [5])],
        [("framed", B, [4, 5]), ("mirrored", W, [10])],
        [tensor("around", [1, 1, 1, 1]), tensor("yes", True, np.bool_), tensor("sides", [2, 3])],
    )


def pad_18() -> onnx.ModelProto:
    T = TensorProto.FLOAT
    return build(
        "Pad-18: axes, negative and out of order; int32 axes and pads that are known only at run time.",
        18,
        8,
        [
            pad("chosen", ["x", "pads", "fill", "axes"]),
            pad("asked", ["x", "run_pads", "", "run_axes"], mode="reflect"),
        ],
        [("x", T, [2, 3, 4]), ("run_pads", TensorProto.INT64, [2]), ("run_axes", TensorProto.INT32, [1])],
        [("chosen", T, [3, 3, 7]), ("asked", T, [None, None, None])],
        [tensor("pads", [1, 0, 2, 1]), tensor("fill", [-np.inf], np.float32), tensor("axes", [-1, 0])],
    )


def pad_19() -> onnx.ModelProto:
    T = TensorProto.FLOAT
    return build(
        "Pad-19: wrap, by more than one period, and of an axis that is cropped too.",
        19,
        9,
        [
            pad("wrapped", ["x", "periods"], mode="wrap"),
            pad("cropped", ["x", "mixed", "", "columns"], mode="wrap"),
        ],
        [("x", T, ["rows", 3])],
        [("wrapped", T, ["rows", 11]), ("cropped", T, ["rows", 5])],
        [tensor("periods", [0, 7, 0, 1]), tensor("mixed", [-1, 3]), tensor("columns", [1])],
    )


def pad_21() -> onnx.ModelProto:
    S, U, F = TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT8E4M3FN
    return build(
        "Pad-21: int4, uint4 and float8e4m3fn.",
        21,
        10,
        [
            pad("signed", ["s", "pads", "minus_eight"]),
            pad("unsigned", ["u", "pads"], mode="reflect"),
            pad("tiny", ["f", "pads"], mode="wrap"),
        ],
        [("s", S, [3, 3]), ("u", U, [3, 3]), ("f", F, [3, 3])],
        [("signed", S, [4, 6]), ("unsigned", U, [4, 6]), ("tiny", F, [4, 6])],
        [tensor("pads", [1, 2, 0, 1]), tensor("minus_eight", -8, ml_dtypes.int4)],
    )


def pad_23() -> onnx.ModelProto:
    T = TensorProto.FLOAT4E2M1
    return build(
        "Pad-23: float4e2m1, two elements in a byte.",
        23,
        11,
        [pad("filled", ["x", "pads", "six"]), pad("edge", ["x", "pads"], mode="edge")],
        [("x", T, [3, 5])],
        [("filled", T, [4, 7]), ("edge", T, [4, 7])],
        [tensor("pads", [0, 1, 1, 1]), tensor("six", 6.0, ml_dtypes.float4_e2m1fn)],
    )


def pad_24() -> onnx.ModelProto:
    T = TensorProto.FLOAT8E8M0
    return build(
        "Pad-24: float8e8m0, which has no zero: the fill that is not given has the bits 0x00.",
        24,
        12,
        [pad("default", ["x", "pads"]), pad("filled", ["x", "pads", "four"])],
        [("x", T, [4])],
        [("default", T, [7]), ("filled", T, [7])],
        [tensor("pads", [1, 2]), tensor("four", 4.0, ml_dtypes.float8_e8m0fnu)],
    )


def pad_25() -> onnx.ModelProto:
    S, U = TensorProto.INT2, TensorProto.UINT2
    return build(
        "Pad-25: int2 and uint2, four elements in a byte.",
        25,
        13,
        [pad("signed", ["s", "pads", "minus_two"]), pad("unsigned", ["u", "pads"], mode="wrap")],
        [("s", S, [7]), ("u", U, [7])],
        [("signed", S, [10]), ("unsigned", U, [10])],
        [tensor("pads", [2, 1]), tensor("minus_two", -2, ml_dtypes.int2)],
    )


VERSIONS = (pad_01, pad_02, pad_11, pad_13, pad_18, pad_19, pad_21, pad_23, pad_24, pad_25)
