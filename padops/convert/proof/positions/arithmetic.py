"""The operators that compute amounts and shapes, on known elements.

Integers are computed without limits and then checked against their type: overflow differs between runtimes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from padops.convert.proof.result import Fails, Unsupported

MOST = 1 << 16  # elements of an operand; amounts and shapes have few
Attribute = Callable[[str, Any], Any]


def compute(op: str, attribute: Attribute, values: Sequence[np.ndarray | None], version: int) -> np.ndarray:
    """The result of an operator of ``following.ARITHMETIC``, but Shape and Size, for known inputs, as ONNX defines it.

    Raises:
        Fails: The operator fails.
        Unsupported: The result is not known.
    """
    given = [value for value in values if value is not None]
    if any(value.dtype == object or value.size > MOST for value in given):
        raise Unsupported(f"{op} of strings or of many elements")
    try:
        if op in _BINARY:
            return _binary(op, attribute, given)
        if op in _LOGIC:
            return _logic(op, given)
        if op in ("Neg", "Abs", "Sign", "Not"):
            return _unary(op, given[0])
        if op in _REDUCTIONS:
            return _reduced(op, attribute, values)
        if op == "Clip" and version >= 11:
            return _clip(values)
        if op == "Range":
            return _range(given)
        if op == "CumSum":
            return _cumsum(attribute, given)
    except (IndexError, ValueError) as error:
        raise Fails(f"{op}: {error}") from error
    raise Unsupported(f"{op} of version {version}")


def _narrow(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Unlimited integers as a type; Unsupported if one does not fit."""
    if kind.kind in "iu":
        bounds = np.iinfo(kind)
        if any(not bounds.min <= int(value) <= bounds.max for value in values.reshape(-1)):
            raise Unsupported("an integer beyond its type")
    return np.asarray(values).astype(kind)


def _wide(value: np.ndarray) -> np.ndarray:
    return value.astype(object) if value.dtype.kind in "iub" else value


def _quotient(one: Any, other: Any) -> Any:
    if other == 0:
        raise Fails("Div by 0")
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def _remainder(one: Any, other: Any) -> Any:
    if other == 0:
        raise Fails("Mod by 0")
    return one % other


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": _quotient,
    "Mod": _remainder,
    "Max": max,
    "Min": min,
}
_LOGIC: dict[str, Callable[[Any, Any], Any]] = {
    "And": np.logical_and,
    "Or": np.logical_or,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
}
_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceMax": np.max, "ReduceMin": np.min, "ReduceSum": np.sum, "ReduceProd": np.prod,
}  # fmt: skip


def _check_types(op: str, values: Sequence[np.ndarray]) -> None:
    if len({value.dtype for value in values}) != 1:
        raise Fails(f"{op} of inputs of several types")


def _binary(op: str, attribute: Attribute, values: Sequence[np.ndarray]) -> np.ndarray:
    _check_types(op, values)
    kind = values[0].dtype
    if kind.kind not in "iu":
        raise Unsupported(f"{op} of {kind}")  # runtimes round floats differently
    if op == "Mod" and attribute("fmod", 0):
        raise Unsupported("Mod with fmod")
    made = _wide(values[0])
    for value in values[1:]:
        made = np.asarray(np.frompyfunc(_BINARY[op], 2, 1)(made, _wide(value)), object)
    return _narrow(made, kind)


def _logic(op: str, values: Sequence[np.ndarray]) -> np.ndarray:
    _check_types(op, values)
    return np.asarray(_LOGIC[op](*values), bool)


def _unary(op: str, value: np.ndarray) -> np.ndarray:
    if op == "Not":
        return np.asarray(np.logical_not(value))
    if value.dtype.kind not in "iu":
        raise Unsupported(f"{op} of {value.dtype}")
    wide = _wide(value)
    signs = np.sign(value).astype(object)
    return _narrow(np.asarray(-wide if op == "Neg" else wide * signs if op == "Abs" else signs, object), value.dtype)


def _reduced(op: str, attribute: Attribute, values: Sequence[np.ndarray | None]) -> np.ndarray:
    value = values[0]
    assert value is not None, "the first input is not optional"
    if value.dtype.kind not in "iu":
        raise Unsupported(f"{op} of {value.dtype}")
    listed = values[1] if len(values) > 1 else attribute("axes", None)
    axes = [] if listed is None else [int(axis) for axis in np.asarray(listed).reshape(-1)]
    if not axes and attribute("noop_with_empty_axes", 0):
        return value
    if any(not -value.ndim <= axis < value.ndim for axis in axes):
        raise Fails(f"{op} along axis {axes} of rank {value.ndim}")
    if value.size == 0:
        raise Unsupported(f"{op} of nothing")
    chosen = tuple({axis % value.ndim for axis in axes} if axes else range(value.ndim))
    made = _REDUCTIONS[op](_wide(value), chosen, keepdims=bool(attribute("keepdims", 1)))
    return _narrow(np.asarray(made, object), value.dtype)


def _clip(values: Sequence[np.ndarray | None]) -> np.ndarray:
    value, low, high = (*values, None, None)[:3]
    assert value is not None, "the first input is not optional"
    if value.dtype.kind not in "iu":
        raise Unsupported(f"Clip of {value.dtype}")
    if low is not None:
        value = np.maximum(value, low.reshape(()))
    return value if high is None else np.minimum(value, high.reshape(()))


def _range(values: Sequence[np.ndarray]) -> np.ndarray:
    _check_types("Range", values)
    start, limit, step = (value.reshape(()).item() for value in values)
    if values[0].dtype.kind != "i":
        raise Unsupported(f"Range of {values[0].dtype}")
    if step == 0:
        raise Fails("Range with a delta of 0")
    numbers = range(start, limit, step)
    if len(numbers) > MOST:
        raise Unsupported(f"Range of {len(numbers)} elements")
    return np.array(numbers, values[0].dtype)


def _cumsum(attribute: Attribute, values: Sequence[np.ndarray]) -> np.ndarray:
    value, axis = values[0], int(values[1].reshape(()))
    if value.dtype.kind not in "iu" or attribute("exclusive", 0) or attribute("reverse", 0):
        raise Unsupported("CumSum of floats, exclusive or reversed")
    return _narrow(np.asarray(np.add.accumulate(_wide(value), axis)), value.dtype)
