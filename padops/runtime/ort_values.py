"""Passes tensors of every element type to ONNX Runtime and back, bit for bit.

onnxruntime's Python API accepts no ml_dtypes arrays. So padops reads and writes the memory of tensors of these types.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.spec.dtypes import DType, by_name, dtype_of, from_bytes, to_bytes

if TYPE_CHECKING:
    import onnxruntime

# Types that onnxruntime's Python API accepts as NumPy arrays.
PLAIN = frozenset("float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64".split())


def to_ort_value(array: np.ndarray) -> onnxruntime.OrtValue:
    """Make a tensor with the bits of an array of any element type."""
    from onnxruntime import OrtValue

    dtype = dtype_of(array)
    if dtype.name in PLAIN:
        return OrtValue.ortvalue_from_numpy(np.array(array, order="C"))
    value = OrtValue.ortvalue_from_shape_and_type(array.shape, dtype.onnx, "cpu")
    raw = to_bytes(array)
    if raw:
        ctypes.memmove(value.data_ptr(), raw, len(raw))
    return value


def from_ort_value(value: onnxruntime.OrtValue) -> np.ndarray:
    """Return the bits of a tensor as an array."""
    dtype = _dtype_of(value.data_type())
    if dtype.name in PLAIN:
        array: np.ndarray = value.numpy()
        return array
    count = int(np.prod(value.shape(), dtype=np.int64))
    size = (count * dtype.bits + 7) // 8
    return from_bytes(ctypes.string_at(value.data_ptr(), size) if size else b"", dtype, value.shape())


def run_session(
    session: onnxruntime.InferenceSession,
    feeds: Mapping[str, np.ndarray],
    names: Sequence[str] | None = None,
    options: onnxruntime.RunOptions | None = None,
) -> list[Any]:
    """Run a session with inputs and outputs of any element type; sequences and maps are as onnxruntime returns them."""
    types = [output.type for output in session.get_outputs()]
    tensors = all(text.startswith("tensor(") for text in types)
    fed = {dtype_of(array).name for array in feeds.values()}
    # The Python API has no OrtValues of sequences or strings.
    if not tensors or "string" in fed or fed | {_dtype_of(text).name for text in types} <= PLAIN:
        mixed = {n: a if dtype_of(a).name in PLAIN else to_ort_value(a) for n, a in feeds.items()}
        outputs: list[Any] = session.run(names, mixed, options)
        return outputs
    values = {name: to_ort_value(array) for name, array in feeds.items()}
    return [from_ort_value(value) for value in session.run_with_ort_values(names, values, options)]


def _dtype_of(text: str) -> DType:
    """Return the ``DType`` of a type string of onnxruntime such as ``"tensor(float)"``."""
    return by_name(text.removeprefix("tensor(").removesuffix(")"))
