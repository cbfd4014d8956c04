"""Compares two values of a model's output, bit by bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from padops.plural import plural
from padops.spec.dtypes import by_numpy, element_bits

Value = Any  # an output: an array of a type in padops/spec/dtypes.py, or lists and dicts of such values
BITS = {"float": 24, "double": 53, "float16": 11, "bfloat16": 8}  # bits of the significand, by float type


def describe_difference(original: Value, converted: Value) -> str:
    """Describes how the converted model's value differs; "" if every bit agrees."""
    if isinstance(original, (list, tuple)) and isinstance(converted, (list, tuple)):
        if len(original) != len(converted):
            return f"a sequence of {len(original)} became one of {len(converted)}"
        parts = enumerate(map(describe_difference, original, converted))
        return next((f"element {i}: {text}" for i, text in parts if text), "")
    if isinstance(original, dict) and isinstance(converted, dict):
        if list(original) != list(converted):
            return "the keys of a map differ"
        values = ((key, describe_difference(original[key], converted[key])) for key in original)
        return next((f"key {key!r}: {text}" for key, text in values if text), "")
    if not isinstance(original, np.ndarray) or not isinstance(converted, np.ndarray):
        return "" if type(original) is type(converted) and original == converted else f"{original!r} != {converted!r}"
    if original.dtype != converted.dtype:
        return f"{original.dtype} became {converted.dtype}"
    if original.shape != converted.shape:
        return f"shape {list(original.shape)} became {list(converted.shape)}"
    differing = np.argwhere(np.atleast_1d(element_bits(original) != element_bits(converted)))
    if not len(differing):
        return ""
    first = tuple(map(int, differing[0])) if original.ndim else ()
    text = f"{len(differing)} of {plural(original.size, 'element')}, first at {list(first)}: "
    text += f"{original[first]!s} became {converted[first]!s}"
    if original.dtype.kind == "f":
        with np.errstate(all="ignore"):
            largest = np.nanmax(np.abs(original.astype(np.float64) - converted.astype(np.float64)), initial=0)
        text += f"; largest difference {largest:.3g}"
    return text


@dataclass(frozen=True)
class Tolerance:
    """The tolerance for finite elements of floats. Infinities and NaN must be the same."""

    rtol: float = 0  # a factor of the original's element
    atol: float = 0  # a difference in the unit of the elements

    def __str__(self) -> str:
        return f"{self.atol:g} + {self.rtol:g} of the element"

    def takes(self, original: Value, converted: Value) -> bool:
        """Returns whether two float arrays of one type and shape are within the tolerance."""
        if not are_alike(original, converted):
            return False
        row = by_numpy(original.dtype)  # NumPy's kind "V" covers float types that NumPy lacks, and small integers
        if row is None or original.dtype.kind not in "fV" or "int" in row.name:
            return False
        with np.errstate(invalid="ignore"):
            limit = self.atol + self.rtol * np.abs(original.astype(np.float64))
        return are_near(original, converted, limit)


def are_alike(original: Value, converted: Value) -> bool:
    """Returns whether two values are arrays of one type and shape."""
    is_array = isinstance(original, np.ndarray) and isinstance(converted, np.ndarray)
    return is_array and (original.dtype, original.shape) == (converted.dtype, converted.shape)


def are_near(original: np.ndarray, converted: np.ndarray, limit: Any) -> bool:
    """Returns whether finite elements of two arrays differ by no more than a limit, and other elements are the same."""
    one, other = original.astype(np.float64), converted.astype(np.float64)
    finite = np.isfinite(one)
    with np.errstate(invalid="ignore"):
        near = np.abs(other - one) <= limit
    return bool((near | ~finite).all()) and np.array_equal(one[~finite], other[~finite], equal_nan=True)
