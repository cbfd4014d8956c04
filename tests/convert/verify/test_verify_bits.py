"""The bits of two tensors: how they are kept, compared and described."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from padops.convert.verify.bits import describe_difference

DIFFERENCES = [
    (np.float32([1, 2]), np.float32([1, 2]), ""),
    (np.float32([0.0]), np.float32([-0.0]), "1 of 1 element, first at [0]: 0.0 became -0.0; largest difference 0"),
    (np.float32([[1, 2]]), np.float32([[1, 2.5]]),
     "1 of 2 elements, first at [0, 1]: 2.0 became 2.5; largest difference 0.5"),
    (np.float32([1]), np.float64([1]), "float32 became float64"),
    (np.float32([1]), np.float32([[1]]), "shape [1] became [1, 1]"),
    (np.array(1, np.int8), np.array(2, np.int8), "1 of 1 element, first at []: 1 became 2"),
    (np.float32(np.nan), np.float32(np.nan), ""),
    (np.array([0x7FC00000], np.uint32).view(np.float32), np.array([0x7FC00001], np.uint32).view(np.float32),
     "1 of 1 element, first at [0]: nan became nan; largest difference 0"),
    (np.array(["a", "b"], object), np.array(["a", "c"], object), "1 of 2 elements, first at [1]: b became c"),
    (np.array([3], ml_dtypes.int4), np.array([-3], ml_dtypes.int4), "1 of 1 element, first at [0]: 3 became -3"),
    (np.array([1], ml_dtypes.bfloat16), np.array([2], ml_dtypes.bfloat16),
     "1 of 1 element, first at [0]: 1 became 2"),
    ([np.float32([1])], [np.float32([1])], ""),
    ([np.float32([1])], [], "a sequence of 1 became one of 0"),
    ([1, np.int8([1])], [1, np.int8([2])], "element 1: 1 of 1 element, first at [0]: 1 became 2"),
    ({"a": 1}, {"a": 2}, "key 'a': 1 != 2"),
    ({"a": 1}, {"b": 1}, "the keys of a map differ"),
    (1, 1.0, "1 != 1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("original", "converted", "text"), DIFFERENCES)
def test_differences_are_described(original: Any, converted: Any, text: str) -> None:
    original, converted = (np.asarray(v) if isinstance(v, np.generic) else v for v in (original, converted))
    assert describe_difference(original, converted) == text
