"""The element types that padops moves, one row each, and the bits of their arrays.

The native library holds the same table in ``csrc/core/types.inc``; ``tests/csrc/test_describe.py`` compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from padops.extras import needing


@dataclass(frozen=True)
class DType:
    name: str  # the name that the ONNX specification uses in ``tensor(name)``
    onnx: int  # ``TensorProto.DataType`` id
    ort: int  # ``ONNXTensorElementDataType`` id; differs from ``onnx`` for the newest types
    bits: int  # storage bits of one element; 0 for strings
    pad: int  # the first version of the ONNX Pad operator that lists the type
    # The first minor release of onnxruntime 1.x that accepts the type in a custom operator, 0 for all that padops
    # supports.
    since: int
    # NumPy's type of one element (``object`` for strings), or the name of the ml_dtypes type.
    scalar: type[np.generic] | str

    @cached_property
    def numpy(self) -> np.dtype:
        """The NumPy type of one element; an element of less than 8 bits occupies a whole byte."""
        if not isinstance(self.scalar, str):
            return np.dtype(self.scalar)
        with needing(f"the element type {self.name}"):
            import ml_dtypes
        found: np.dtype = np.dtype(getattr(ml_dtypes, self.scalar))
        return found


DTYPES: tuple[DType, ...] = (
    DType("float", 1, 1, 32, 1, 0, np.float32),
    DType("uint8", 2, 2, 8, 11, 0, np.uint8),
    DType("int8", 3, 3, 8, 11, 0, np.int8),
    DType("uint16", 4, 4, 16, 11, 0, np.uint16),
    DType("int16", 5, 5, 16, 11, 0, np.int16),
    DType("int32", 6, 6, 32, 11, 0, np.int32),
    DType("int64", 7, 7, 64, 11, 0, np.int64),
    DType("string", 8, 8, 0, 13, 0, np.object_),
    DType("bool", 9, 9, 8, 13, 0, np.bool_),
    DType("float16", 10, 10, 16, 1, 0, np.float16),
    DType("double", 11, 11, 64, 1, 0, np.float64),
    DType("uint32", 12, 12, 32, 11, 0, np.uint32),
    DType("uint64", 13, 13, 64, 11, 0, np.uint64),
    DType("bfloat16", 16, 16, 16, 13, 0, "bfloat16"),
    DType("float8e4m3fn", 17, 17, 8, 21, 0, "float8_e4m3fn"),
    DType("float8e4m3fnuz", 18, 18, 8, 21, 0, "float8_e4m3fnuz"),
    DType("float8e5m2", 19, 19, 8, 21, 0, "float8_e5m2"),
    DType("float8e5m2fnuz", 20, 20, 8, 21, 0, "float8_e5m2fnuz"),
    DType("uint4", 21, 21, 4, 21, 0, "uint4"),
    DType("int4", 22, 22, 4, 21, 0, "int4"),
    DType("float4e2m1", 23, 23, 4, 23, 24, "float4_e2m1fn"),
    DType("float8e8m0", 24, 26, 8, 24, 27, "float8_e8m0fnu"),
    DType("uint2", 25, 24, 2, 25, 26, "uint2"),
    DType("int2", 26, 25, 2, 25, 26, "int2"),
)
_BY_NAME = {dtype.name: dtype for dtype in DTYPES}


def by_name(name: str) -> DType:
    return _BY_NAME[name]


@cache
def by_onnx(element_type: int) -> DType | None:
    """Return the row of a ``TensorProto.DataType`` id; None for an id without a row (complex, undefined)."""
    return next((dtype for dtype in DTYPES if dtype.onnx == element_type), None)


@cache
def by_numpy(dtype: np.dtype) -> DType | None:
    """Return the row of a NumPy type, or None if no row has it; any NumPy string type has the row ``string``."""
    if dtype.kind in "OUT":
        return by_name("string")
    # An array of an ml_dtypes type exists only if ml_dtypes is installed.
    candidates = (row for row in DTYPES if isinstance(row.scalar, str) == (dtype.type.__module__ == "ml_dtypes"))
    return next((row for row in candidates if row.numpy == dtype), None)


def types_of(version: int) -> tuple[str, ...]:
    """Return the element types of ONNX Pad ``version``, in the order of ``DTYPES``."""
    return tuple(dtype.name for dtype in DTYPES if dtype.pad <= version)


def dtype_of(array: np.ndarray) -> DType:
    """Return the ``DType`` of an array; raise TypeError if its element type has no ``DType``."""
    dtype = by_numpy(array.dtype)
    if dtype is None:
        raise TypeError(f"{array.dtype} is not an element type of Pad")
    return dtype


def to_bytes(array: np.ndarray) -> bytes:
    """Return the bytes of ``array`` as a tensor: little-endian, 4- and 2-bit elements packed from the low bits."""
    dtype = dtype_of(array)
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if dtype.bits >= 8:
        return raw.tobytes()
    bits = np.unpackbits(raw[:, None], axis=1, bitorder="little")[:, : dtype.bits]
    return np.packbits(bits, bitorder="little").tobytes()


def from_bytes(raw: bytes, dtype: DType, shape: Sequence[int]) -> np.ndarray:
    """Return the array that :func:`to_bytes` stored in ``raw``."""
    data: np.ndarray = np.frombuffer(raw, np.uint8).copy()
    if dtype.bits < 8:
        count = int(np.prod(shape, dtype=np.int64))
        bits = np.unpackbits(data, count=count * dtype.bits, bitorder="little").reshape(count, dtype.bits)
        # ml_dtypes keeps signed elements sign-extended in their byte.
        elements = np.pad(bits, ((0, 0), (0, 8 - dtype.bits)), "edge" if dtype.name.startswith("int") else "constant")
        data = np.packbits(elements, axis=1, bitorder="little")
    return data.view(dtype.numpy).reshape(shape)


def element_bits(array: np.ndarray) -> np.ndarray:
    """Return an array of the same shape with each element's bits as an unsigned integer; strings stay strings."""
    dtype = by_numpy(array.dtype)
    if dtype is None or dtype.numpy.kind == "O":
        return array
    whole = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
    return whole & (1 << dtype.bits) - 1 if dtype.bits < 8 else whole
