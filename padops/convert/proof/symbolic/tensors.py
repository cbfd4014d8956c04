"""Tensors of unknown data and dims: a shape, and a function from an index to an element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import z3
from onnx import TensorProto

from padops.convert.proof.result import Unsupported
from padops.convert.proof.symbolic.integers import Int, Integers, is_open, same

Element = Any  # int, bool, or a term: an integer, a bool, or opaque bits
Index = Sequence[Int]

BITS = z3.DeclareSort("Bits")  # opaque elements: they are only equal or not

MOST_LISTED = 4096  # elements of a tensor that is handled element by element
MOST_PIECES = 512  # pieces of a table in which an unknown position is looked up

BOOL = int(TensorProto.BOOL)
INT64 = int(TensorProto.INT64)
RANGES: dict[int, tuple[int, int]] = {
    **{int(getattr(TensorProto, f"INT{n}")): (-(2 ** (n - 1)), 2 ** (n - 1) - 1) for n in (2, 4, 8, 16, 32, 64)},
    **{int(getattr(TensorProto, f"UINT{n}")): (0, 2**n - 1) for n in (2, 4, 8, 16, 32, 64)},
}


class NeedsNumber(Exception):
    """A rank or dim must be a number: each is to be tried."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is not known")
        self.key = key  # the name of the rank or dim


@dataclass(frozen=True)
class Tensor:
    """A tensor."""

    shape: tuple[Int, ...]  # the dims: numbers or terms
    dtype: int  # the element type, as ``onnx.TensorProto`` numbers it; 0 if unknown
    at: Callable[[Index], Element]  # the element at an index within the shape; beyond it, anything
    listed: np.ndarray | None = None  # the elements of a short tensor of known dims, as an array of objects; else None

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.shape)


def is_integer(dtype: int) -> bool:
    """Whether a type is of integers or bools, whose values the proofs know."""
    return dtype in RANGES or dtype == BOOL


def objects(elements: Sequence[Element] | np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Elements as an array of objects."""
    array = np.empty(len(elements), object)
    for position, element in enumerate(elements):
        array[position] = element
    return array.reshape(tuple(shape))


def nothing_of(dtype: int) -> Element:
    """An arbitrary element of a type, for an index beyond a shape."""
    return False if dtype == BOOL else 0 if dtype in RANGES else z3.Const("nothing", BITS)


def of_array(integers: Integers, array: np.ndarray, dtype: int) -> Tensor:
    """A tensor with its elements listed."""
    return Tensor(tuple(array.shape), dtype, lambda index: look_up(integers, array, index, nothing_of(dtype)), array)


def vector(integers: Integers, elements: Sequence[Element], dtype: int = INT64) -> Tensor:
    """A vector with its elements listed."""
    return of_array(integers, objects(elements, [len(elements)]), dtype)


def look_up(integers: Integers, array: np.ndarray, index: Index, nothing: Element) -> Element:
    """The element of a table at an index that may have unknown positions; ``nothing`` beyond the table.

    Raises:
        Unsupported: The table has too many pieces.
    """
    open_axes = [axis for axis, position in enumerate(index) if is_open(position)]
    if any(not is_open(position) and not 0 <= position < size for position, size in zip(index, array.shape)):
        return nothing
    part = array[tuple(slice(None) if is_open(position) else int(position) for position in index)]
    if not open_axes:
        return part
    if not part.size:
        return nothing
    flat = part.reshape(-1)
    if all(same(element, flat[0]) for element in flat):
        return flat[0]
    if len(open_axes) > 1:
        first, *others = [index[axis] for axis in open_axes]
        rows = [look_up(integers, row, others, nothing) for row in part]
    else:
        first, rows = index[open_axes[0]], list(part)
    pieces = pieces_of(rows)
    if len(pieces) > MOST_PIECES:
        raise Unsupported(f"a table of {len(pieces)} pieces")
    found = pieces[-1][1](first)
    for stop, piece in reversed(pieces[:-1]):
        found = integers.where(integers.less(first, stop), piece(first), found)
    return found


def pieces_of(row: Sequence[Element]) -> list[tuple[int, Callable[[Int], Element]]]:
    """Splits a row into arithmetic progressions and runs of one element, each with its end position."""
    pieces: list[tuple[int, Callable[[Int], Element]]] = []
    start = 0
    while start < len(row):
        stop, first = start + 1, row[start]
        step = 0
        if stop < len(row) and _is_number(first) and _is_number(row[stop]):
            step = row[stop] - first
        while stop < len(row) and same(row[stop], first + step * (stop - start) if step else first):
            stop += 1
        pieces.append((stop, partial(_on_line, first, step, start)))
        start = stop
    return pieces


def _on_line(first: Element, step: int, start: int, at: Int) -> Element:
    return first + step * (at - start) if step else first


def _is_number(element: Element) -> bool:
    return isinstance(element, int) and not isinstance(element, bool)


class Leaves:
    """Tensors of unknown data, and the constants among the elements."""

    def __init__(self, integers: Integers) -> None:
        # For each leaf's key: the function of its elements, and its tensor
        self.functions: dict[str, tuple[Any, Tensor]] = {}
        self._integers = integers
        self._constants: dict[int, dict[bytes, z3.ExprRef]] = {}

    def leaf(self, key: str, shape: tuple[Int, ...], dtype: int) -> Tensor:
        """A tensor of unknown data; leaves of one key are equal."""
        sort = z3.BoolSort() if dtype == BOOL else z3.IntSort() if dtype in RANGES else BITS
        function = z3.Function(key, *[z3.IntSort()] * len(shape), sort) if shape else z3.Const(key, sort)

        def at(index: Index) -> Element:
            element = function(*index) if shape else function
            return self._integers.bound(element, *RANGES[dtype]) if dtype in RANGES else element

        tensor = Tensor(shape, dtype, at)
        if is_integer(dtype) and not any(map(is_open, shape)) and np.prod(shape, dtype=object) <= MOST_LISTED:
            listed = objects([at(list(map(int, index))) for index in np.ndindex(*shape)], shape)
            tensor = of_array(self._integers, listed, dtype)
        self.functions[key] = (function, tensor)
        return tensor

    def constant(self, element: Any, dtype: int) -> Element:
        """An element of a constant: a number, a bool, or its bits."""
        if dtype == BOOL:
            return bool(element)
        if dtype in RANGES:
            return int(element)
        if isinstance(element, str):
            element = element.encode()
        data = element if isinstance(element, bytes) else np.asarray(element).tobytes()
        known = self._constants.setdefault(dtype, {})
        if data not in known:
            known[data] = z3.Const(f"bits {dtype} {data.hex()}", BITS)
        return known[data]

    def distinct(self) -> list[z3.BoolRef]:
        """Facts: constants of different bits differ."""
        return [z3.Distinct(*known.values()) for known in self._constants.values() if len(known) > 1]

    def array(self, array: np.ndarray, dtype: int) -> Tensor:
        """A constant of at most ``MOST_LISTED`` elements."""
        elements = [self.constant(element, dtype) for element in array.reshape(-1)]
        return of_array(self._integers, objects(elements, array.shape), dtype)
