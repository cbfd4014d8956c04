"""What the verifier knows of casts, fills and padded elements without running a model."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

from padops.convert.verify.bits import BITS
from padops.convert.verify.moves import evaluation
from padops.convert.verify.moves.definitions import ONCE, ONNX, Axis, Definition
from padops.convert.verify.moves.evaluation import FEW, KEPT, SAFE, Elements, Ids, cast, converted, is_exact, padded
from padops.convert.verify.terms import Fails, Head, Kind, Unsupported
from padops.spec.dtypes import DTYPES, by_name

FLOAT, DOUBLE, INT8, INT32, INT64 = (by_name(name).onnx for name in ("float", "double", "int8", "int32", "int64"))
BOOL, HALF, STRING, SMALL = (by_name(name).onnx for name in ("bool", "float16", "string", "float8e4m3fn"))


def ends(name: str) -> tuple[int, int] | None:
    if "int" not in name:
        return (0, 1) if name == "bool" else None
    info = ml_dtypes.iinfo(by_name(name).numpy)
    return int(info.min), int(info.max)


def test_casts_that_keep_every_value() -> None:
    for source, target in product(DTYPES, repeat=2):
        one, other = ends(source.name), ends(target.name)
        if one is None:
            is_small = source.name.startswith("float8") and source.name != "float8e5m2"
            expected = is_small and target.name in (source.name, "float")
        elif target.name == "bool" or (other is None and target.name not in BITS):
            expected = source is target
        else:
            least, most = other or (-(2 ** BITS[target.name]), 2 ** BITS[target.name])
            expected = least <= one[0] and one[1] <= most
        assert is_exact(source.onnx, target.onnx) == expected, (source.name, target.name)


L, F = (lambda *numbers: np.array(numbers, np.int64)), (lambda *numbers: np.array(numbers, np.float32))
TINY = np.array([1, 1.125], by_name("float8e4m3fn").numpy)
CASTS: list[tuple[np.ndarray, int, Any]] = [
    (L(1, -2), INT64, L(1, -2)), (L(1, -2), INT8, np.array([1, -2], np.int8)), (L(300), INT8, None),
    (L(2**24), FLOAT, F(2**24)), (L(2**24 + 1), FLOAT, None), (F(0, 2.5), BOOL, np.array([False, True])),
    (F(2.7, -2.7), INT32, np.array([2, -2], np.int32)), (F(2**31), INT32, None), (F(-(2**31)), INT32, None),
    (F(np.nan), INT32, None), (F(2**31), INT64, L(2**31)), (F(1), INT8, None), (F(1.5), DOUBLE, np.array([1.5])),
    (F(1.5), HALF, None), (np.array([1.5]), FLOAT, None), (F(np.nan), DOUBLE, None), (F(1, 1.125), SMALL, TINY),
    (F(1.1), SMALL, None), (TINY, FLOAT, F(1, 1.125)), (TINY, DOUBLE, None), (L(1), STRING, None),
    (np.array(["1"], object), INT64, None),
]  # fmt: skip


@pytest.mark.parametrize(("array", "dtype", "expected"), CASTS, ids=str)
def test_known_elements_that_are_cast(array: np.ndarray, dtype: int, expected: Any) -> None:
    made = cast(array, dtype)
    assert (made is None) == (expected is None)
    if made is not None:
        assert made.dtype == helper.tensor_dtype_to_np_dtype(dtype) and made.tobytes() == expected.tobytes()
    elements = Elements()
    found = elements.cast(elements.ids(array), dtype)
    assert (found is None) == (expected is None)
    if found is not None:
        assert found.dtype == dtype and elements.ids(expected).ids.tolist() == found.ids.tolist()


@pytest.mark.parametrize(("source", "target", "kept", "conditions"), [
    (INT8, INT8, True, set()), (INT8, FLOAT, True, set()), (SMALL, FLOAT, True, {KEPT}), (FLOAT, INT8, False, set()),
    (INT32, FLOAT, False, set()),
])  # fmt: skip
def test_unknown_elements_that_are_cast(source: int, target: int, kept: bool, conditions: set[str]) -> None:
    elements = Elements()
    leaf = elements.leaf("x", (2,), source)
    found = elements.cast(leaf, target)
    assert (found is not None and found.ids.tolist() == leaf.ids.tolist()) == kept and elements.conditions == conditions


NUMBERS: list[tuple[Any, int, Any]] = [
    (1.5, FLOAT, F(1.5)), (3.0, INT8, np.array([3], np.int8)), (0.1, DOUBLE, np.array([0.1])),
    (2.0, BOOL, np.array([True])),
    (1 + 2.0**-11 + 2.0**-30, HALF, np.array([1], np.float16)),  # as a double it would round up
]  # fmt: skip


@pytest.mark.parametrize(("number", "dtype", "expected"), NUMBERS, ids=str)
def test_a_number_as_a_fill(number: float, dtype: int, expected: np.ndarray) -> None:
    made = converted(np.array(number), dtype)
    assert made.dtype == expected.dtype and made.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("number", "dtype"), [((1, 2), FLOAT), (1, 0), (1, STRING), (128, INT8), (-129, INT8)])
def test_a_number_that_is_no_fill(number: Any, dtype: int) -> None:
    with pytest.raises(Unsupported, match="the fill"):
        converted(np.array(number), dtype)


def of(*axes: tuple[int, ...], mode: str = "constant", rules: Any = ONNX) -> Definition:
    return Definition([Axis(*axis) for axis in axes], mode, rules)


DATA, FILL = Ids(np.array([[11, 12, 13], [21, 22, 23]]), FLOAT), Ids(np.array([7]), FLOAT)
PADDED: list[tuple[Ids, Definition, list[list[int]]]] = [
    (DATA, of((2, 0, 1), (3, 1, -1)), [[7, 11, 12], [7, 21, 22], [7, 7, 7]]),
    (DATA, of((2, 0, 0), (3, 0, 0, 1)), [[11, 7, 12, 7, 13], [21, 7, 22, 7, 23]]),
    (DATA, of((2, 0, 0), (3, 2, 0), mode="reflect"), [[13, 12, 11, 12, 13], [23, 22, 21, 22, 23]]),
    (DATA, of((2, -2, 0), (3, 1, 1), mode="edge"), []),
    (Ids(np.empty((2, 0), np.int64), FLOAT), of((2, 0, 0), (0, 1, 1)), [[7, 7], [7, 7]]),  # an axis shows the fill
]  # fmt: skip


@pytest.mark.parametrize(("data", "said", "expected"), PADDED, ids=str)
def test_padded_elements(data: Ids, said: Definition, expected: list[list[int]]) -> None:
    """Of as many elements as are allowed."""
    assert padded(data, said, FILL, np.size(expected)).ids.tolist() == expected


@pytest.mark.parametrize(("said", "fill", "error", "why"), [
    (of((2, 0, 0), (3, 0, 0), mode="other"), FILL, Unsupported, "mode 'other'"),
    (of((2, -3, 0), (3, 0, 0)), FILL, Fails, r"\[P1\]"),
    (of((2, 9, 0), (3, 9, 0)), FILL, Unsupported, "has 132 elements"),
    (of((2, 0, 2), (3, 0, 0), mode="reflect", rules=ONCE), FILL, Fails, r"\(0, 2\).* \[P4\]"),
    (of((2, 1, 0), (3, 0, 0)), None, Unsupported, "the fill of a Pad"),
    (of((2, 1, 0), (3, 0, 0)), Ids(np.array([7, 8]), FLOAT), Fails, r"the fill has shape \[2\] \[P7\]"),
    (of((2, 1, 0), (3, 0, 0)), Ids(np.array([7]), INT8), Fails, r"the fill is int8, and the data are float \[P7\]"),
])  # fmt: skip
def test_what_cannot_be_padded(said: Definition, fill: Ids | None, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        padded(DATA, said, fill, 131)


def applied(op: str, version: int, attributes: dict[str, Any], values: list[Any], **more: int) -> Any:
    rows = tuple((name, helper.make_attribute(name, row).type if row else 7, row) for name, row in attributes.items())
    return evaluation.apply(Head(Kind.OPERATOR, "", op, version, rows, **more), values, 1000)


APPLIED: list[tuple[str, int, dict[str, Any], list[Any], Any]] = [
    ("Div", 14, {}, [L(-7, 7, 6), L(2, -2, 3)], [-3, -3, 2]), ("Flatten", 13, {"axis": 1}, [L(1, 2)], [[1], [2]]),
    ("Split", 13, {}, [L(1, 2, 3), L(1, 2)], [2, 3]), ("Split", 2, {"split": (1, 2)}, [L(1, 2, 3)], [2, 3]),
    ("Split", 18, {"num_outputs": 2}, [L(1, 2, 3)], [3]), ("Split", 13, {}, [L(1, 2, 3, 4)], [3, 4]),
    ("Slice", 13, {}, [L(1, 2, 3), L(-1), L(-9), L(0), L(-1)], [3, 2, 1]),
    ("Slice", 13, {}, [L(1, 2, 3), L(1), L(9)], [2, 3]),
    ("Squeeze", 13, {}, [np.array([[5]]), L(0)], [5]), ("Max", 13, {}, [L(SAFE + 1), L(1)], [SAFE + 1]),
    ("Add", 14, {}, [L(SAFE), L(1)], [SAFE + 1]), ("Range", 11, {}, [np.array(0), np.array(6), np.array(2)], [0, 2, 4]),
    ("Reshape", 5, {}, [L(1, 2), L(-1, 1)], [[1], [2]]), ("ReduceSum", 13, {}, [L(1, 2), L(0)], [3]),
    ("Gather", 13, {"axis": -1}, [L(7, 8), L(1)], [8]), ("Expand", 13, {}, [L(7), L(2, 1)], [[7], [7]]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "version", "attributes", "values", "expected"), APPLIED, ids=str)
def test_operators_on_known_elements(op: str, version: int, attributes: dict, values: list, expected: Any) -> None:
    two = {"output": 1, "outputs": 2} if op == "Split" else {}
    assert applied(op, version, attributes, values, **two).tolist() == expected


FAR, LAST = L(SAFE + 1), np.iinfo(np.int64).max
NOT_APPLIED: list[tuple[str, int, dict[str, Any], list[Any], type[Exception], str]] = [
    ("Div", 14, {}, [L(1), L(0)], Unsupported, "Div: divide by zero"),
    ("Neg", 13, {}, [None], Unsupported, "has no data"),
    ("Gather", 13, {"axis": 1}, [L(1), L(0)], Fails, "axis 1, which is out of range for rank 1"),
    ("Gather", 13, {"axis": -2}, [L(1), L(0)], Fails, "-2"),
    ("Gather", 13, {"axis": 0}, [L(1), np.zeros(1001, int)], Unsupported, "of 1001 elements"),
    ("Gather", 13, {"axis": ("@", "a")}, [L(1), L(0)], Unsupported, "the function's caller sets"),
    ("Squeeze", 13, {}, [L(1), L()], Unsupported, "empty list"),
    ("Squeeze", 11, {"axes": ()}, [L(1)], Unsupported, "empty list"),
    ("Split", 13, {}, [L(1, 2, 3), L(1, 1)], Fails, r"3 elements into \[1, 1\]"),
    ("Split", 13, {}, [L(1, 2, 3)], Fails, "into 2"),
    ("Reshape", 1, {"shape": (1,)}, [L(1)], Unsupported, "Reshape of version 1"),
    ("Reshape", 5, {}, [L(1), L(-2)], Fails, "-2"),
    ("Reshape", 5, {}, [L(1, 2), L(1, -2)], Fails, "Reshape to"), ("Reshape", 5, {}, [L(1), L(3)], Fails, "Reshape: "),
    ("Tile", 13, {}, [L(1), L(1001)], Unsupported, "is too large"),
    ("Expand", 13, {}, [L(1), np.ones(17, int)], Unsupported, "is too large"),
    ("Slice", 13, {}, [L(1), L(0), L(1, 2)], Fails, "several lengths"),
    ("Slice", 13, {}, [L(1), L(0), L(1), L(1)], Fails, "lack"),
    ("Slice", 13, {}, [L(1), L(0), L(1), L(-2)], Fails, "lack"),
    ("Slice", 13, {}, [L(1), L(0, 0), L(1, 1), L(0, -1)], Unsupported, "twice"),
    ("Slice", 13, {}, [L(1), L(0), L(LAST), L(0), L(-1)], Unsupported, "do not agree"),
    ("Add", 14, {}, [L(1), F(1)], Fails, "several types"), ("Add", 14, {}, [F(1), F(1)], Unsupported, "of float32"),
    ("Add", 14, {}, [FAR, L(1)], Unsupported, "beyond its type"),
    ("Add", 14, {}, [L(1), -FAR], Unsupported, "beyond its type"),
    ("Add", 14, {}, [np.zeros(FEW + 1, int), L(1)], Unsupported, f"size {FEW + 1}, expected"),
    ("Range", 11, {}, [np.array(0), np.array(6), np.array(0)], Unsupported, "Range by 0"),
    ("Range", 11, {}, [np.array(0), np.array(FEW + 1), np.array(1)], Unsupported, "of many"),
    ("ReduceSum", 13, {}, [L(), L(0)], Unsupported, "of nothing"),
    ("ReduceSum", 13, {}, [L(1), L()], Unsupported, "of nothing"),
    ("ReduceSum", 11, {"axes": ()}, [L(1)], Unsupported, "of nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "version", "attributes", "values", "error", "why"), NOT_APPLIED, ids=str)
def test_operators_without_a_result(op: str, version: int, attributes: Any, values: list, error: Any, why: str) -> None:
    with pytest.raises(error, match=why):
        applied(op, version, attributes, values, outputs=1 + (op == "Split"))
