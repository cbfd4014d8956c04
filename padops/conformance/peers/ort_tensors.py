"""Tensors of onnxruntime of types that NumPy lacks, for the scripts of ``repro.py``, which show these functions.

As those of ``adapters.py``, each imports what it needs, and knows nothing of padops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def to_onnxruntime(array: np.ndarray, element: int, bits: int) -> Any:
    """A tensor of onnxruntime with the bits of an array of a type that NumPy lacks.

    Args:
        array: What ml_dtypes has of the type: elements of less than a byte take one each.
        element: ONNX's number of the type.
        bits: Of an element; those of less than a byte lie packed, the first in the low bits.
    """
    import ctypes

    import numpy as np
    import onnxruntime

    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(array.shape), element, "cpu")
    raw: np.ndarray = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if bits < 8:
        count = 8 // bits
        rows = np.append(raw & (1 << bits) - 1, np.zeros(-raw.size % count, np.uint8)).reshape(-1, count)
        raw = np.bitwise_or.reduce(rows << np.arange(0, 8, bits, dtype=np.uint8), axis=1)
    if raw.size:
        ctypes.memmove(value.data_ptr(), raw.tobytes(), raw.size)
    return value


def from_onnxruntime(value: Any, dtype: np.dtype, bits: int) -> np.ndarray:
    """The reverse of ``to_onnxruntime``.

    Args:
        value: A tensor.
        dtype: The type of the array, of ml_dtypes.
        bits: Of an element.
    """
    import ctypes
    import math

    import numpy as np

    shape = value.shape()
    size = (math.prod(shape) * dtype.itemsize * min(bits, 8) + 7) // 8
    raw: np.ndarray = np.frombuffer(ctypes.string_at(value.data_ptr(), size) if size else b"", np.uint8)
    if bits < 8:
        raw = (raw[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & (1 << bits) - 1).reshape(-1)[: math.prod(shape)]
    made: np.ndarray = raw.astype(np.uint8).view(dtype).reshape(shape)
    return made
