"""The bits of arrays: their storage in ONNX, and one comparable number for each element."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from padops.spec.dtypes import DType, by_numpy


def dtype_of(array: np.ndarray) -> DType:
    """Return the ``DType`` of an array.

    Raises:
        TypeError: The type is not in ``padops.spec.dtypes``.
    """
    dtype = by_numpy(array.dtype)
    if dtype is None:
        raise TypeError(f"an array of {array.dtype}, which is no element type of Pad")
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
    data = np.frombuffer(raw, np.uint8)
    if dtype.bits >= 8:
        whole: np.ndarray = data.view(dtype.numpy).reshape(shape).copy()
        return whole
    count = int(np.prod(shape, dtype=np.int64))
    elements = np.zeros((count, 8), np.uint8)
    elements[:, : dtype.bits] = np.unpackbits(data, count=count * dtype.bits, bitorder="little").reshape(
        count, dtype.bits
    )
    if dtype.name.startswith("int"):  # ml_dtypes keeps signed elements sign-extended in their byte
        elements[:, dtype.bits :] = elements[:, [dtype.bits - 1]]
    return np.packbits(elements, axis=1, bitorder="little").view(dtype.numpy).reshape(shape)


def element_bits(array: np.ndarray) -> np.ndarray:
    """Return an array of the same shape with one comparable number for each element; strings stay strings."""
    dtype = by_numpy(array.dtype)
    if dtype is None or dtype.numpy.kind == "O":
        return array
    whole = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
    return whole & (1 << dtype.bits) - 1 if dtype.bits < 8 else whole
