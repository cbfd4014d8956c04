"""The element types that padops moves: one row each.

The native library holds the same table in ``csrc/core/types.inc``; ``tests/csrc/test_describe.py`` compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class DType:
    """One element type.

    Attributes:
        name: The name that the ONNX specification uses in ``tensor(name)``.
        onnx: ``TensorProto.DataType`` id.
        ort: ``ONNXTensorElementDataType`` id; differs from ``onnx`` for the newest types.
        bits: Storage bits of one element; 0 for strings.
        pad: The first version of the ONNX Pad operator that lists the type.
        since: The first minor release of onnxruntime 1.x that accepts the type in a custom operator, 0 for all that
            padops supports.
        numpy: The NumPy type of one element (``object`` for strings; sub-byte types take one byte each in NumPy).
    """

    name: str
    onnx: int
    ort: int
    bits: int
    pad: int
    since: int
    numpy: np.dtype


DTYPES: tuple[DType, ...] = tuple(
    DType(name, onnx, ort, bits, pad, since, np.dtype(numpy))
    for name, onnx, ort, bits, pad, since, numpy in (
        ("float", 1, 1, 32, 1, 0, np.float32),
        ("uint8", 2, 2, 8, 11, 0, np.uint8),
        ("int8", 3, 3, 8, 11, 0, np.int8),
        ("uint16", 4, 4, 16, 11, 0, np.uint16),
        ("int16", 5, 5, 16, 11, 0, np.int16),
        ("int32", 6, 6, 32, 11, 0, np.int32),
        ("int64", 7, 7, 64, 11, 0, np.int64),
        ("string", 8, 8, 0, 13, 0, np.object_),
        ("bool", 9, 9, 8, 13, 0, np.bool_),
        ("float16", 10, 10, 16, 1, 0, np.float16),
        ("double", 11, 11, 64, 1, 0, np.float64),
        ("uint32", 12, 12, 32, 11, 0, np.uint32),
        ("uint64", 13, 13, 64, 11, 0, np.uint64),
        ("bfloat16", 16, 16, 16, 13, 0, ml_dtypes.bfloat16),
        ("float8e4m3fn", 17, 17, 8, 21, 0, ml_dtypes.float8_e4m3fn),
        ("float8e4m3fnuz", 18, 18, 8, 21, 0, ml_dtypes.float8_e4m3fnuz),
        ("float8e5m2", 19, 19, 8, 21, 0, ml_dtypes.float8_e5m2),
        ("float8e5m2fnuz", 20, 20, 8, 21, 0, ml_dtypes.float8_e5m2fnuz),
        ("uint4", 21, 21, 4, 21, 0, ml_dtypes.uint4),
        ("int4", 22, 22, 4, 21, 0, ml_dtypes.int4),
        ("float4e2m1", 23, 23, 4, 23, 24, ml_dtypes.float4_e2m1fn),
        ("float8e8m0", 24, 26, 8, 24, 27, ml_dtypes.float8_e8m0fnu),
        ("uint2", 25, 24, 2, 25, 26, ml_dtypes.uint2),
        ("int2", 26, 25, 2, 25, 26, ml_dtypes.int2),
    )
)


@cache
def by_name(name: str) -> DType:
    """The row of ``name``.

    Raises:
        KeyError: padops does not know it.
    """
    for dtype in DTYPES:
        if dtype.name == name:
            return dtype
    raise KeyError(name)


@cache
def by_onnx(element_type: int) -> DType | None:
    """The row of a ``TensorProto.DataType`` id, or None (complex, undefined)."""
    return next((dtype for dtype in DTYPES if dtype.onnx == element_type), None)


@cache
def by_numpy(dtype: np.dtype) -> DType | None:
    """The row of a NumPy type, or None; any NumPy string type is ``string``."""
    if dtype.kind in "OUT":
        return by_name("string")
    return next((row for row in DTYPES if row.numpy == dtype), None)


def types_of(version: int) -> tuple[str, ...]:
    """The element types of ONNX Pad ``version``, in the order of ``DTYPES``."""
    return tuple(dtype.name for dtype in DTYPES if dtype.pad <= version)
