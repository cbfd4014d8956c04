"""Elements as ids, and Pads and casts of ids.

An unknown element has an id for its value and place, a constant element an id for its bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.verify.moves import plan
from padops.convert.verify.moves.definitions import Definition
from padops.convert.verify.result import Fails, Unsupported
from padops.convert.verify.schemas import type_name

PLACES = 40  # the lower bits of an id are the place; the bits above are the block, which is the value
# Bits of the magnitude of integer types, and whether they are signed.
_INTEGERS: dict[int, tuple[int, bool]] = {TensorProto.BOOL: (1, False)}
for _bits in (2, 4, 8, 16, 32, 64):
    _INTEGERS[TensorProto.DataType.Value(f"UINT{_bits}")] = (_bits, False)
    _INTEGERS[TensorProto.DataType.Value(f"INT{_bits}")] = (_bits - 1, True)
# These types hold every integer up to so many bits.
_MANTISSAS: dict[int, int] = {
    TensorProto.FLOAT16: 11, TensorProto.BFLOAT16: 8, TensorProto.FLOAT: 24, TensorProto.DOUBLE: 53,
}  # fmt: skip
# 8-bit floats with at most one NaN of each sign: a cast to float and back gives each value again.
_SMALL_FLOATS = {
    TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ, TensorProto.FLOAT8E8M0,
}  # fmt: skip
KEPT = "casts of 8-bit floats to float and back keep denormals, and the sign of a NaN"


@dataclass(frozen=True)
class Ids:
    """A value by the ids of its elements."""

    ids: np.ndarray  # int64, of the value's shape
    dtype: int  # the element type as ``onnx.TensorProto`` numbers it; 0 if unknown


Value = np.ndarray | Ids


def dtype_of(array: np.ndarray) -> int:
    """The element type of known elements."""
    return TensorProto.STRING if array.dtype == object else int(onnx.helper.np_dtype_to_tensor_dtype(array.dtype))


def is_exact(source: int, target: int) -> bool:
    """Whether a cast from ``source`` to ``target`` keeps every value, so that a cast back restores it."""
    if source in _SMALL_FLOATS:
        return target in (source, TensorProto.FLOAT)
    if source not in _INTEGERS:
        return False
    bits, signed = _INTEGERS[source]
    if target in _MANTISSAS:
        return bits <= _MANTISSAS[target]
    if target not in _INTEGERS or target == TensorProto.BOOL:
        return source == target
    more, has_sign = _INTEGERS[target]
    return bits <= more and (has_sign or not signed)


class Elements:
    """The ids of the elements of one comparison."""

    def __init__(self) -> None:
        self.conditions: set[str] = set()  # the assumptions about casts
        self._constants: dict[tuple[int, bytes], int] = {}
        self._keys: list[tuple[int, bytes]] = []
        self._blocks: dict[object, int] = {}  # by value; block 0 is constants
        self._types = [0]  # by block: the type of the value, before any cast

    def leaf(self, key: object, dims: tuple[int, ...], dtype: int) -> Ids:
        """The ids of a value with known dims and unknown elements. ``key`` identifies the value."""
        if key not in self._blocks:
            self._blocks[key] = len(self._types)
            self._types.append(dtype)
        block = self._blocks[key]
        return Ids((np.arange(prod(dims), dtype=np.int64) + (block << PLACES)).reshape(dims), dtype)

    @staticmethod
    def blocks(value: Ids) -> set[int]:
        """The blocks that a value has elements of."""
        return set(np.unique(value.ids >> PLACES).tolist())

    def constant(self, array: np.ndarray) -> Ids:
        """The ids of known elements, by bits and type."""
        dtype = dtype_of(array)
        if array.dtype == object:
            flat = [value if isinstance(value, bytes) else str(value).encode() for value in array.reshape(-1)]
            ids = np.array([self._number(dtype, value) for value in flat], np.int64)
            return Ids(ids.reshape(array.shape), dtype)
        size = array.dtype.itemsize
        rows = np.ascontiguousarray(array).reshape(-1).view(f"V{size}")
        different, inverse = np.unique(rows, return_inverse=True)
        numbers = np.array([self._number(dtype, row.tobytes()) for row in different], np.int64)
        return Ids(numbers[inverse.reshape(-1)].reshape(array.shape), dtype)

    def cast(self, value: Ids, dtype: int) -> Ids | None:
        """The elements cast to a type; an unknown one keeps its id. None if a cast may round, or is not known."""
        if value.dtype == dtype:
            return value
        blocks = value.ids >> PLACES
        made = value.ids.copy()
        for block in np.unique(blocks).tolist():
            chosen = blocks == block
            if block:
                if not is_exact(self._types[block], dtype):
                    return None
                self.conditions |= {KEPT} if self._types[block] in _SMALL_FLOATS else set()
                continue
            for number in np.unique(value.ids[chosen]).tolist():
                known, bits = self._keys[number]
                converted = cast(_array(known, bits), dtype)
                if converted is None:
                    return None
                made[value.ids == number] = self._number(dtype, converted.tobytes())
        return Ids(made, dtype)

    def _number(self, dtype: int, bits: bytes) -> int:
        key = (dtype, bits)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = len(self._keys)
            self._keys.append(key)
        return found


def _array(dtype: int, bits: bytes) -> np.ndarray:
    if dtype == TensorProto.STRING:
        return np.array(bits, object)
    return np.frombuffer(bits, onnx.helper.tensor_dtype_to_np_dtype(dtype)).reshape(())


def cast(array: np.ndarray, dtype: int) -> np.ndarray | None:
    """Known elements cast to a type; None if runtimes may differ, such as for numbers beyond the type."""
    source = dtype_of(array)
    if source == dtype:
        return array
    if TensorProto.STRING in (source, dtype):
        return None
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    if dtype == TensorProto.BOOL:
        return np.asarray(array != 0)
    if source in _INTEGERS:
        made = array.astype(kind)
        return made if np.array_equal(made.astype(object), array.astype(object)) else None
    if dtype in (TensorProto.INT32, TensorProto.INT64):
        wide = array.astype(np.float64)
        return np.trunc(wide).astype(kind) if np.all(np.abs(wide) < 2.0 ** _INTEGERS[dtype][0]) else None
    is_sure = dtype in (TensorProto.DOUBLE, *_SMALL_FLOATS) if source == TensorProto.FLOAT else source in _SMALL_FLOATS
    if not is_sure or TensorProto.FLOAT not in (source, dtype) or np.isnan(array).any():
        return None
    made = array.astype(kind)
    return made if np.array_equal(made.astype(array.dtype), array) else None


def plane(value: np.ndarray | Ids) -> np.ndarray:
    """The array that operators move: a value's known elements, or its ids."""
    return value.ids if isinstance(value, Ids) else value


def padded(data: Ids, said: Definition, fill: Ids | None, most: int) -> Ids:
    """The ids of padded data.

    Raises:
        Fails: The Pad breaks a rule.
        Unsupported: The mode is not known, or the result has more than ``most`` elements.
    """
    axes, mode, rules = said.axes, said.mode, said.rules
    if mode not in plan.MODES:
        raise Unsupported(f"a Pad of mode {mode!r}")
    if broken := next(plan.broken(axes, mode, rules), ""):
        raise Fails(f"a Pad of {list(data.ids.shape)} by {[tuple(axis[1:3]) for axis in axes]} [{broken}]")
    dims = [plan.output(axis, rules) for axis in axes]
    if prod(dims) > most:
        raise Unsupported(f"a value of {prod(dims)} elements, which is more than {most}")
    outside = _outside(data, fill) if mode == "constant" else 0
    if 0 in dims:
        return Ids(np.empty(dims, np.int64), data.dtype)
    ids = data.ids
    for index, axis in enumerate(axes):
        shown = plan.positions(axis, mode, rules)
        if not axis.size:
            ids = np.full((*ids.shape[:index], len(shown), *ids.shape[index + 1 :]), outside, np.int64)
            continue
        ids = np.take(ids, np.maximum(shown, 0), index)
        if (shown < 0).any():
            ids[(slice(None),) * index + (shown < 0,)] = outside
    return Ids(ids, data.dtype)


def _outside(data: Ids, fill: Ids | None) -> int:
    """The id of a Pad's fill."""
    if fill is None:
        raise Unsupported("the fill of a Pad whose element type is not known")
    if fill.ids.size != 1:
        raise Fails(f"a fill of shape {list(fill.ids.shape)} [P7]")
    if data.dtype and fill.dtype and fill.dtype != data.dtype:
        raise Fails(f"a fill of {type_name(fill.dtype)} for {type_name(data.dtype)} [P7]")
    return int(fill.ids.reshape(-1)[0])


def converted(number: np.ndarray, dtype: int) -> np.ndarray:
    """A number as an element of a type, as PyTorch converts it: to 16-bit floats by way of float.

    Raises:
        Unsupported: The type cannot hold it.
    """
    if number.size != 1 or not dtype or dtype == TensorProto.STRING:
        raise Unsupported("a fill that is not one number, or of data of an unknown type")
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    one = number.reshape(())
    if kind.kind in "iu" and not np.iinfo(kind).min <= one <= np.iinfo(kind).max:
        raise Unsupported(f"a fill of {one} for {type_name(dtype)}")
    if kind.kind in "iub":
        return np.asarray(one.astype(kind))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(one.astype(np.float64 if dtype == TensorProto.DOUBLE else np.float32).astype(kind))
