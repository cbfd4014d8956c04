"""Arrays of every element type: random arrays, and forms for another process and for a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from padops.spec.dtypes import DType, by_name, dtype_of, from_bytes, to_bytes

Packed = tuple[str, tuple[int, ...], Any]  # type, shape, bytes (or a list of strings): equal for equal bits

WORDS = ("", "a", "b\0c", "Zoë", "pad", "長い文字列" * 9)
SHOWN = 64  # the most elements of an array that a report shows


def pack(array: np.ndarray) -> Packed:
    """Pack an array for another process; two arrays with equal bits have equal packed forms."""
    dtype = dtype_of(array)
    if dtype.name == "string":
        return "string", array.shape, [str(text) for text in array.reshape(-1).tolist()]
    return dtype.name, array.shape, to_bytes(array)


def unpack(packed: Packed) -> np.ndarray:
    name, shape, content = packed
    if name == "string":
        array = np.empty(len(content), object)
        array[:] = content
        return array.reshape(shape)
    return from_bytes(content, by_name(name), shape)


def integers(values: Iterable[int], dtype: str = "int64") -> np.ndarray:
    """Return an integer input with one axis."""
    return np.array([*values], dtype)


def draw_array(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Draw a seed, and return an input of random bits from this seed."""
    return random_array(np.random.default_rng(int(rng.integers(1 << 32))), by_name(dtype), shape)


def random_array(rng: np.random.Generator, dtype: DType, shape: Sequence[int]) -> np.ndarray:
    """Return elements of any bit pattern: NaN payloads, negative zeros and denormals; strings with NUL and accents."""
    if dtype.name == "string":
        array = np.empty(tuple(shape), object)
        array[...] = np.array(WORDS, object)[rng.integers(0, len(WORDS), tuple(shape))]
        return array
    if dtype.name == "bool":
        return np.asarray(rng.integers(0, 2, tuple(shape))).astype(bool)
    count = int(np.prod(shape, dtype=np.int64))
    return from_bytes(rng.bytes((count * dtype.bits + 7) // 8), dtype, shape)


def describe(array: np.ndarray | None) -> Any:
    """Describe an array by type, shape and, if it is small, values; a NaN or infinity becomes a text with its bits."""
    if array is None:
        return None
    dtype = dtype_of(array)
    described: dict[str, Any] = {"dtype": dtype.name, "shape": list(array.shape)}
    if not array.size:
        described["values"] = []
    elif array.size <= SHOWN and dtype.name in ("string", "bool"):
        described["values"] = array.tolist()
    elif array.size <= SHOWN:
        values = np.empty(array.shape, object)
        bits = np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}")
        values.reshape(-1)[:] = [_value(element, int(raw)) for element, raw in zip(array.reshape(-1), bits)]
        described["values"] = values.tolist()
    return described


def _value(element: Any, raw: int) -> int | float | str:
    if "int" in type(element).__name__:
        return int(element)
    number = float(element)
    return number if np.isfinite(number) else f"{number} (0x{raw:x})"
