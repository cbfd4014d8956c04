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
    per_byte = 8 // dtype.bits
    padded = np.zeros((-(-raw.size // per_byte), per_byte), np.uint8)
    padded.reshape(-1)[: raw.size] = raw & ((1 << dtype.bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * dtype.bits
    packed: np.ndarray = np.bitwise_or.reduce(padded << shifts, axis=1)
    return packed.astype(np.uint8).tobytes()


def from_bytes(raw: bytes, dtype: DType, shape: Sequence[int]) -> np.ndarray:
    """Return the array that :func:`to_bytes` stored in ``raw``."""
    data = np.frombuffer(raw, np.uint8)
    if dtype.bits >= 8:
        whole: np.ndarray = data.view(dtype.numpy).reshape(shape).copy()
        return whole
    count = int(np.prod(shape, dtype=np.int64))
    per_byte = 8 // dtype.bits
    shifts = np.arange(per_byte, dtype=np.uint8) * dtype.bits
    elements = ((data[:, None] >> shifts) & ((1 << dtype.bits) - 1)).reshape(-1)[:count].astype(np.uint8)
    if dtype.name.startswith("int"):  # ml_dtypes keeps signed elements sign-extended in their byte
        elements = np.where(elements >> (dtype.bits - 1), elements | (0x100 - (1 << dtype.bits)), elements)
    return elements.astype(np.uint8).view(dtype.numpy).reshape(shape)


def element_bits(array: np.ndarray) -> np.ndarray:
    """Return an array of the same shape with one comparable number for each element; strings stay strings."""
    dtype = by_numpy(array.dtype)
    if dtype is None or dtype.numpy.kind == "O":
        return array
    whole = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
    return whole & (1 << dtype.bits) - 1 if dtype.bits < 8 else whole
