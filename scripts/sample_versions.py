"""The sample models of make_models.py for the versions of ONNX Pad, one each."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from onnx import TensorProto as T
from sample_parts import build, constant, pad, tensor

VERSIONS = {
    "pad_01": build(
        "Pad-1: paddings in an attribute; float16, and a fill of 0.1 that is rounded to it.",
        1,
        3,
        [
            pad("constant", ["x"], paddings=[0, 2, 0, 0], value=0.1),
            pad("reflect", ["x"], paddings=[2, 1, 1, 0], mode="reflect"),
            pad("edge", ["x"], paddings=[0, 1, 3, 2], mode="edge"),
        ],
        [("x", T.FLOAT16, [3, 2])],
        [("constant", T.FLOAT16, [3, 4]), ("reflect", T.FLOAT16, [6, 3]), ("edge", T.FLOAT16, [6, 5])],
    ),
    "pad_02": build(
        "Pad-2: pads in an attribute, negative ones crop; double, filled with the float nearest to 0.1.",
        2,
        3,
        [
            pad("constant", ["x"], pads=[-1, 2, 0, -2], value=0.1),
            pad("reflect", ["x"], pads=[1, 0, 1, 3], mode="reflect"),
            pad("edge", ["x"], pads=[0, -1, 2, 2], mode="edge"),
        ],
        [("x", T.DOUBLE, [3, 4])],
        [("constant", T.DOUBLE, [2, 4]), ("reflect", T.DOUBLE, [5, 7]), ("edge", T.DOUBLE, [5, 5])],
    ),
    "pad_11": build(
        "Pad-11: pads and the fill are inputs, here an initializer, a Constant node and a graph input.",
        11,
        6,
        [
            constant("sides", [0, 2, 0, 1]),
            pad("constant", ["x", "around", "fill"]),
            pad("reflect", ["x", "sides", "fill"], mode="reflect"),
            pad("edge", ["x", "asked"], mode="edge"),
        ],
        [("x", T.INT8, [2, 3]), ("asked", T.INT64, [4])],
        [("constant", T.INT8, [4, 5]), ("reflect", T.INT8, [2, 6]), ("edge", T.INT8, [None, None])],
        [tensor("around", [1, 1, 1, 1]), tensor("fill", -7, np.int8)],
    ),
    "pad_13": build(
        "Pad-13: bool and bfloat16.",
        13,
        7,
        [pad("framed", ["mask", "around", "yes"]), pad("mirrored", ["weights", "sides"], mode="reflect")],
        [("mask", T.BOOL, [2, 3]), ("weights", T.BFLOAT16, [5])],
        [("framed", T.BOOL, [4, 5]), ("mirrored", T.BFLOAT16, [10])],
        [tensor("around", [1, 1, 1, 1]), tensor("yes", True, np.bool_), tensor("sides", [2, 3])],
    ),
    "pad_18": build(
        "Pad-18: axes, negative and out of order; int32 axes and pads that are known only at run time.",
        18,
        8,
        [
            pad("chosen", ["x", "pads", "fill", "axes"]),
            pad("asked", ["x", "run_pads", "", "run_axes"], mode="reflect"),
        ],
        [("x", T.FLOAT, [2, 3, 4]), ("run_pads", T.INT64, [2]), ("run_axes", T.INT32, [1])],
        [("chosen", T.FLOAT, [3, 3, 7]), ("asked", T.FLOAT, [None, None, None])],
        [tensor("pads", [1, 0, 2, 1]), tensor("fill", [-np.inf], np.float32), tensor("axes", [-1, 0])],
    ),
    "pad_19": build(
        "Pad-19: wrap, by more than one period, and of an axis that is cropped too.",
        19,
        9,
        [
            pad("wrapped", ["x", "periods"], mode="wrap"),
            pad("cropped", ["x", "mixed", "", "columns"], mode="wrap"),
        ],
        [("x", T.FLOAT, ["rows", 3])],
        [("wrapped", T.FLOAT, ["rows", 11]), ("cropped", T.FLOAT, ["rows", 5])],
        [tensor("periods", [0, 7, 0, 1]), tensor("mixed", [-1, 3]), tensor("columns", [1])],
    ),
    "pad_21": build(
        "Pad-21: int4, uint4 and float8e4m3fn.",
        21,
        10,
        [
            pad("signed", ["s", "pads", "minus_eight"]),
            pad("unsigned", ["u", "pads"], mode="reflect"),
            pad("tiny", ["f", "pads"], mode="wrap"),
        ],
        [("s", T.INT4, [3, 3]), ("u", T.UINT4, [3, 3]), ("f", T.FLOAT8E4M3FN, [3, 3])],
        [("signed", T.INT4, [4, 6]), ("unsigned", T.UINT4, [4, 6]), ("tiny", T.FLOAT8E4M3FN, [4, 6])],
        [tensor("pads", [1, 2, 0, 1]), tensor("minus_eight", -8, ml_dtypes.int4)],
    ),
    "pad_23": build(
        "Pad-23: float4e2m1, two elements in a byte.",
        23,
        11,
        [pad("filled", ["x", "pads", "six"]), pad("edge", ["x", "pads"], mode="edge")],
        [("x", T.FLOAT4E2M1, [3, 5])],
        [("filled", T.FLOAT4E2M1, [4, 7]), ("edge", T.FLOAT4E2M1, [4, 7])],
        [tensor("pads", [0, 1, 1, 1]), tensor("six", 6.0, ml_dtypes.float4_e2m1fn)],
    ),
    "pad_24": build(
        "Pad-24: float8e8m0, which has no zero: the fill that is not given has the bits 0x00.",
        24,
        12,
        [pad("default", ["x", "pads"]), pad("filled", ["x", "pads", "four"])],
        [("x", T.FLOAT8E8M0, [4])],
        [("default", T.FLOAT8E8M0, [7]), ("filled", T.FLOAT8E8M0, [7])],
        [tensor("pads", [1, 2]), tensor("four", 4.0, ml_dtypes.float8_e8m0fnu)],
    ),
    "pad_25": build(
        "Pad-25: int2 and uint2, four elements in a byte.",
        25,
        13,
        [pad("signed", ["s", "pads", "minus_two"]), pad("unsigned", ["u", "pads"], mode="wrap")],
        [("s", T.INT2, [7]), ("u", T.UINT2, [7])],
        [("signed", T.INT2, [10]), ("unsigned", T.UINT2, [10])],
        [tensor("pads", [2, 1]), tensor("minus_two", -2, ml_dtypes.int2)],
    ),
}
