"""Evaluates the terms of one region, on known elements or on ids of elements.

An id identifies an unknown element by its tensor in the model and its place in this tensor, and a constant element by
its type and bits. onnx's reference implementation, which shares no code with the converter, computes operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from padops.convert.model.inference import ENDLESS
from padops.convert.verify.bits import BITS
from padops.convert.verify.moves import definitions as pads
from padops.convert.verify.moves.definitions import FOLLOWED, Definition, cone, data_rank, defined, dialect, is_followed
from padops.convert.verify.pad_terms import zero
from padops.convert.verify.schemas import FLOAT, takes, type_name
from padops.convert.verify.terms import ABSENT, Dim, Fails, Head, Kind, Terms, Unsupported
from padops.spec.dtypes import DTYPES

Size = Callable[[int, int, Dim], int]  # returns the size of an open dim, by its term, axis and symbol
DEEPEST = 4000  # the most terms that are followed
PLACES = 40  # the lower bits of an id are the place; the bits above them are the block, the number of the value
# For each integer type, the bits of its magnitude, and whether the type is signed
_INTEGERS = {TensorProto.BOOL: (1, False)} | {
    row.onnx: (row.bits - row.name.startswith("int"), row.name.startswith("int")) for row in DTYPES if "int" in row.name
}
# 8-bit floats with at most one NaN of each sign: a cast to float and back restores each value.
_SMALL_FLOATS = {TensorProto.DataType.Value(f"FLOAT8{name}") for name in ("E4M3FN", "E4M3FNUZ", "E5M2FNUZ", "E8M0")}
KEPT = "casts of 8-bit floats to float and back keep denormals, and the sign of a NaN"
# onnx's reference computes the results. If runtimes disagree with it or with one another, the result is unknown.
FEW = 1 << 16  # the most elements of an operand of arithmetic; amounts and shapes have few elements
SAFE = 1 << 30  # the largest magnitude of operands whose sums and products surely fit into int64
SUMS = {"Abs", "Add", "Clip", "CumSum", "Div", "Max", "Min", "Mod", "Mul", "Neg", "Range", "ReduceMax", "ReduceMin",
        "ReduceProd", "ReduceSum", "Sign", "Sub"}  # fmt: skip
ALIKE = {"Add", "Div", "Mod", "Mul", "Sub", "Max", "Min", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}


class Ids(NamedTuple):
    """A value as the int64 ids of its elements, and its element type, which is 0 if unknown."""

    ids: np.ndarray
    dtype: int


Value = np.ndarray | Ids


def dtype_of(array: np.ndarray) -> int:
    return TensorProto.STRING if array.dtype == object else int(helper.np_dtype_to_tensor_dtype(array.dtype))


def is_exact(source: int, target: int) -> bool:
    """Returns whether a cast from ``source`` to ``target`` keeps every value, so that a cast back restores it."""
    if source in _SMALL_FLOATS:
        return target in (source, TensorProto.FLOAT)
    if source not in _INTEGERS:
        return False
    bits, signed = _INTEGERS[source]
    if (name := type_name(target)) in BITS:
        return bits <= BITS[name]
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
        self._blocks: dict[object, int] = {}  # by value; constants are in block 0
        self._types = [0]  # by block: the type of the value, before any cast

    def leaf(self, key: object, dims: tuple[int, ...], dtype: int) -> Ids:
        """Returns a block of ids for a value of known dims and unknown elements; ``key`` identifies the value."""
        if key not in self._blocks:
            self._blocks[key] = len(self._types)
            self._types.append(dtype)
        block = self._blocks[key]
        return Ids((np.arange(prod(dims), dtype=np.int64) + (block << PLACES)).reshape(dims), dtype)

    @staticmethod
    def blocks(value: Ids) -> set[int]:
        """Returns the blocks from which a value's elements come (see ``leaf``)."""
        return set(np.unique(value.ids >> PLACES).tolist())

    def ids(self, array: Value) -> Ids:
        """Returns the ids of a value; known elements get their ids by bits and type."""
        if isinstance(array, Ids):
            return array
        dtype = dtype_of(array)
        if array.dtype == object:
            flat = [value if isinstance(value, bytes) else str(value).encode() for value in array.reshape(-1)]
            return Ids(np.array([self._number(dtype, value) for value in flat], np.int64).reshape(array.shape), dtype)
        rows = np.ascontiguousarray(array).reshape(-1).view(f"V{array.dtype.itemsize}")
        different, inverse = np.unique(rows, return_inverse=True)
        numbers = np.array([self._number(dtype, row.tobytes()) for row in different], np.int64)
        return Ids(numbers[inverse.reshape(-1)].reshape(array.shape), dtype)

    def cast(self, value: Ids, dtype: int) -> Ids | None:
        """Casts elements to a type; an unknown element keeps its id. Returns None if a result is not certain."""
        if value.dtype == dtype:
            return value
        for block in self.blocks(value) - {0}:
            if not is_exact(self._types[block], dtype):
                return None
            self.conditions |= {KEPT} if self._types[block] in _SMALL_FLOATS else set()
        made = value.ids.copy()
        for number in np.unique(value.ids[value.ids >> PLACES == 0]).tolist():
            known, bits = self._keys[number]
            if known == TensorProto.STRING:
                return None
            converted = cast(np.frombuffer(bits, helper.tensor_dtype_to_np_dtype(known)).reshape(()), dtype)
            if converted is None:
                return None
            made[value.ids == number] = self._number(dtype, converted.tobytes())
        return Ids(made, dtype)

    def _number(self, dtype: int, bits: bytes) -> int:
        found = self._constants.setdefault((dtype, bits), len(self._keys))
        self._keys += [(dtype, bits)] if found == len(self._keys) else []
        return found


def cast(array: np.ndarray, dtype: int) -> np.ndarray | None:
    """Casts known elements to a type; returns None if runtimes may disagree, as on a number beyond the type's range."""
    source = dtype_of(array)
    if source == dtype:
        return array
    if TensorProto.STRING in (source, dtype):
        return None
    kind = helper.tensor_dtype_to_np_dtype(dtype)
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


def plane(value: Value) -> np.ndarray:
    """Returns the array that operators move: a value's known elements, or its ids."""
    return value.ids if isinstance(value, Ids) else value


def padded(data: Ids, said: Definition, fill: Ids | None, most: int) -> Ids:
    """Returns the ids of padded data; raises Unsupported for more ids than ``most``."""
    axes, mode, rules = said.axes, said.mode, said.rules
    if mode not in pads.MODES:
        raise Unsupported(f"no proof covers a Pad of mode {mode!r}")
    if broken := next(pads.broken(axes, mode, rules), ""):
        raise Fails(f"{list(data.ids.shape)} cannot be padded by {[tuple(axis[1:3]) for axis in axes]} [{broken}]")
    dims = [pads.output(axis, rules) for axis in axes]
    if prod(dims) > most:
        raise Unsupported(f"a value has {prod(dims)} elements, which is more than {most}")
    outside = 0
    if mode == "constant":
        if fill is None:
            raise Unsupported("the element type of the fill of a Pad is not known")
        if fill.ids.size != 1:
            raise Fails(f"the fill has shape {list(fill.ids.shape)} [P7]")
        if data.dtype and fill.dtype and fill.dtype != data.dtype:
            raise Fails(f"the fill is {type_name(fill.dtype)}, and the data are {type_name(data.dtype)} [P7]")
        outside = int(fill.ids.item())
    if 0 in dims:
        return Ids(np.empty(dims, np.int64), data.dtype)
    ids = data.ids
    for index, axis in enumerate(axes):
        shown = pads.positions(axis, mode, rules)
        if not axis.size:
            ids = np.full((*ids.shape[:index], len(shown), *ids.shape[index + 1 :]), outside, np.int64)
            continue
        ids = np.take(ids, np.maximum(shown, 0), index)
        if (shown < 0).any():
            ids[(slice(None),) * index + (shown < 0,)] = outside
    return Ids(ids, data.dtype)


def converted(number: np.ndarray, dtype: int) -> np.ndarray:
    """Converts a number to an element of a type as PyTorch does: to a 16-bit float by way of float."""
    if number.size != 1 or not dtype or dtype == TensorProto.STRING:
        raise Unsupported("the fill is not one number, or the type of the data is not known")
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    one = number.reshape(())
    if kind.kind in "iu" and not np.iinfo(kind).min <= one <= np.iinfo(kind).max:
        raise Unsupported(f"the fill {one} cannot become an element of {type_name(dtype)}")
    if kind.kind in "iub":
        return np.asarray(one.astype(kind))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(one.astype(np.float64 if dtype == TensorProto.DOUBLE else np.float32).astype(kind))


class Evaluation:
    """Evaluates two terms on the ids of their inputs; ``most`` limits a value's elements, ``size`` sets open dims."""

    def __init__(self, terms: Terms, roots: tuple[int, int], most: int, size: Size | None) -> None:
        self._terms, self._roots, self._most, self._size = terms, roots, most, size
        self._values: dict[int, Value | Exception] = {}
        self.elements = Elements()
        self.dims: dict[str, list[int]] = {}  # the dims of the leaves, by name
        self._results: set[int] = set()  # the blocks of the leaves that operators compute

    def value(self, root: int) -> Value:
        """Returns the value of a term; raises Fails if the term fails, Unsupported if the value is not known."""
        todo = [(root, False)]
        while todo:
            term, ready = todo.pop()
            if term in self._values:
                continue
            follows = is_followed(self._terms, term) and self._terms.constant(term) is None
            if not ready and follows:
                todo.append((term, True))
                todo += [(one, False) for one in self._terms.inputs(term) if one != ABSENT]
                if len(self._values) + len(todo) > DEEPEST:
                    raise Unsupported(f"a region has more than {DEEPEST} values")
                continue
            try:
                self._values[term] = self._evaluate(term, ready)
            except (Unsupported, Fails) as error:
                self._values[term] = error
        return self._given(root)

    def _given(self, term: int) -> Value:
        found = self._values[term]
        if isinstance(found, Exception):
            raise found
        return found

    def _known(self, term: int, what: str) -> np.ndarray:
        """Returns the elements of a value that decides where elements of other values go."""
        if isinstance(found := self._given(term), Ids):
            raise Unsupported(f"the data determine {what}")
        return found

    def difference(self, one: Value, other: Value) -> str:
        """Describes the difference of two values; ``""`` if their elements are the same."""
        first, second = self.elements.ids(one), self.elements.ids(other)
        if first.ids.shape != second.ids.shape:
            return f"the shapes differ: {list(first.ids.shape)} and {list(second.ids.shape)}"
        if first.dtype and second.dtype and first.dtype != second.dtype:
            return f"the element types differ: {type_name(first.dtype)} and {type_name(second.dtype)}"
        differs = first.ids != second.ids
        if not differs.any():
            return ""
        # Two operators that this class does not evaluate may return the same elements.
        alone = self._results & (self.elements.blocks(first) ^ self.elements.blocks(second))
        if alone and np.isin([side.ids[differs] >> PLACES for side in (first, second)], list(alone)).any(0).all():
            raise Unsupported("two operators that the proof does not evaluate may return equal elements")
        place = tuple(int(index) for index in np.argwhere(differs)[0])
        return f"{int(differs.sum())} of {differs.size} elements differ, the first at {list(place)}"

    def _evaluate(self, term: int, followed: bool) -> Value:
        if (known := self._terms.constant(term)) is not None:
            return known
        if not followed:
            return self._leaf(term)
        try:
            found = self._applied(term)
        except Unsupported:
            if self._terms.op(term) == "Shape" or not self._terms.shared(term):
                raise
            return self._leaf(term)
        self._check_size(plane(found).size)
        return found

    def _check_size(self, count: int) -> None:
        if count > self._most:
            raise Unsupported(f"a value has {count} elements, which is more than {self._most}")

    def _leaf(self, term: int) -> Ids:
        """Returns ids for a value that is not evaluated; refuses a value that only the converted model computes."""
        head = self._terms.head(term)
        name = self._terms.names.get(term, str(head.name or term))
        what = f"the value '{name}' ({head.name if head.kind is Kind.OPERATOR else head.kind.value})"
        if not self._terms.computed(term):
            raise Unsupported(f"only the converted model computes {what}")
        shape = self._terms.shape(term)
        shape = self._open_shape(term) if shape is None else shape
        if shape is None:
            raise Unsupported(f"the rank of {what} is not known")
        if self._size is not None:
            found, size = self._terms.find(term), self._size
            shape = tuple(dim if isinstance(dim, int) else size(found, axis, dim) for axis, dim in enumerate(shape))
        dims = tuple(dim for dim in shape if isinstance(dim, int))
        if len(dims) != len(shape):
            raise Unsupported(f"the dims {list(shape)} of {what} are not all known")
        if prod(dims) > self._most:
            raise Unsupported(f"{what} has {prod(dims)} elements, which is more than {self._most}")
        self.dims[name] = list(dims)
        leaf = self.elements.leaf(self._terms.find(term), dims, self._terms.dtype(term) or 0)
        if head.kind in (Kind.OPERATOR, Kind.PAD):
            self._results |= self.elements.blocks(leaf)
        return leaf

    def _open_shape(self, term: int) -> tuple[Dim, ...] | None:
        """Returns a shape of open dims for a Pad or its data, if the amounts determine the rank; else None."""
        terms = self._terms
        for pad in islice(cone(terms, self._roots[0]), DEEPEST):
            if dialect(terms.head(pad)) and terms.find(term) in map(terms.find, (pad, terms.inputs(pad)[0])):
                given = {at: terms.constant(one) for at, one in enumerate(terms.inputs(pad)) if one != ABSENT}
                if (rank := data_rank(terms.head(pad), given)) is not None:
                    return (None,) * rank
        return None

    def _padded(self, term: int) -> Ids:
        given = {at: one for at, one in enumerate(self._terms.inputs(term)) if one != ABSENT}

        def known(at: int) -> np.ndarray | None:
            return self._known(given[at], "the amounts of a Pad") if at in given else None

        data = self.elements.ids(self._given(given[0]))
        said = defined(self._terms.head(term), data.ids.shape, known)
        at = given.get(said.fill, ABSENT)
        fill = None if at == ABSENT else self._given(at)  # in every mode: the evaluation of a fill may fail
        if said.mode == "constant" and (any(said.value) or (said.number and fill is not None)):
            number = np.frombuffer(said.value, "<f4") if said.value else self._known(at, "the fill of a Pad")
            fill = converted(number, data.dtype)
        elif fill is None and data.dtype:
            fill = zero(data.dtype)
        return padded(data, said, None if fill is None else self.elements.ids(fill), self._most)

    def _applied(self, term: int) -> Value:
        head, inputs = self._terms.head(term), self._terms.inputs(term)
        if dialect(head):
            return self._padded(term)
        op, first = head.name, self._given(inputs[0])
        dtype = first.dtype if isinstance(first, Ids) else dtype_of(first)
        if dtype and op != "Where" and not takes(op, head.version, dtype):
            raise Fails(f"{op} of version {head.version} does not accept {type_name(dtype)}")
        if op in ("Shape", "Size"):
            return apply(head, [plane(first)], self._most)
        if op == "Cast":
            to = self._terms.attribute(term, "to")
            if not isinstance(to, int):
                raise Unsupported("the function's caller sets the type of a Cast")
            made = self.elements.cast(first, to) if isinstance(first, Ids) else cast(first, to)
            if made is None:
                raise Unsupported(f"a cast to {type_name(to)} may round")
            return made
        if op == "ConstantOfShape":
            dims = [int(dim) for dim in self._known(inputs[0], "the dims of ConstantOfShape").reshape(-1)]
            value = self._terms.attribute(term, "value")
            filled = np.zeros(1, np.float32) if value is None else self._terms.constant(value)
            if min(dims, default=0) < 0 or filled is None or filled.size != 1:
                raise Fails(f"ConstantOfShape of {dims}")
            self._check_size(prod(dims))
            return np.full(dims, filled.reshape(-1)[0], filled.dtype)
        # The inputs whose elements become elements of the result
        moved = range(len(inputs)) if op == "Concat" else (1, 2) if op == "Where" else (0,)
        places = moved if op in FOLLOWED else ()
        planes = [None if one == ABSENT or at in places else self._known(one, f"inputs of {op}")
                  for at, one in enumerate(inputs)]  # fmt: skip
        data = [self._given(inputs[at]) for at in places]
        is_known = all(isinstance(value, np.ndarray) and value.dtype.kind in "iub" for value in data)
        data = data if is_known else [self.elements.ids(value) for value in data]
        for at, value in zip(places, data):
            planes[at] = plane(value)
        types = {value.dtype for value in data} - {0}
        if len(types) > 1:
            raise Fails("inputs of several types")
        made = apply(head, planes, self._most)
        return made if is_known else Ids(made, next(iter(types), 0))  # type: ignore[arg-type]


def apply(head: Head, values: Sequence[np.ndarray | None], most: int) -> np.ndarray:
    """Returns one output of an ONNX operator; raises Fails if the operator fails, Unsupported for an unknown result."""
    attributes = {name: value for name, _, value in head.attributes}
    _check(head, attributes, values, most)
    given = tuple(value is not None for value in values)
    feeds = {f"i{place}": value for place, value in enumerate(values) if value is not None}
    try:
        with np.errstate(all="raise"):
            if head.name == "Div":  # onnx's reference rounds down, the ONNX standard towards 0
                one, other = (np.asarray(value) for value in values)
                found = np.abs(one) // np.abs(other)
                return np.asarray(np.where((one < 0) == (other < 0), found, -found), one.dtype)
            (found,) = _evaluator(head, given).run(None, feeds)
    except (ValueError, IndexError) as error:
        raise Fails(f"{head.name}: {error}") from error
    except Exception as error:  # onnx's reference raises exceptions of any type
        raise Unsupported(f"{head.name}: {error}") from error
    return np.asarray(found)


@lru_cache(4096)
def _evaluator(head: Head, given: tuple[bool, ...]) -> ReferenceEvaluator:
    names = [f"i{place}" if is_given else "" for place, is_given in enumerate(given)]
    outputs = [f"o{place}" for place in range(head.outputs)]
    constants = {name: np.frombuffer(value, np.float32)[0].item() if kind == FLOAT else value
                 for name, kind, value in head.attributes}  # fmt: skip
    node = helper.make_node(head.name, names, outputs, **constants)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, None) for name in names if name]
    graph = helper.make_graph([node], "part", inputs, [onnx.ValueInfoProto(name=outputs[head.output])])
    imports = [helper.make_opsetid("", head.version)]
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=imports, ir_version=10))


def _check(head: Head, attributes: dict[str, Any], values: Sequence[np.ndarray | None], most: int) -> None:
    """Rejects operations that the reference computes, but that runtimes refuse or compute differently."""
    op, data, rest = head.name, values[0], [value for value in values[1:] if value is not None]
    if data is None or any(isinstance(value, tuple) and value[:1] == ("@",) for value in attributes.values()):
        raise Unsupported(f"{op} has no data, or has attributes that the function's caller sets")
    rank, axis = data.ndim, attributes.get("axis")
    if op == "Squeeze" and (attributes.get("axes") == () or any(not one.size for one in rest)):
        raise Unsupported("Squeeze has an empty list of axes")
    if axis is not None and not -rank <= axis < rank + (op == "Flatten"):
        raise Fails(f"{op} has axis {axis}, which is out of range for rank {rank}")
    if op == "Slice" and rest:
        _check_slice(rank, [*values[1:], None, None][:4])
    if op == "Split":
        lengths = rest[0].tolist() if rest else list(attributes.get("split") or ())
        size = data.shape[axis or 0]
        if sum(lengths) != size if lengths else (head.version < 18 and size % head.outputs):
            raise Fails(f"Split cannot divide {size} elements into {lengths or head.outputs}")
    if op in ("Reshape", "Expand", "Tile", "ConstantOfShape") and head.version < 5:
        raise Unsupported(f"{op} of version {head.version}")
    if op == "Reshape" and min(rest[0].tolist(), default=0) < -1:
        raise Fails(f"Reshape to {rest[0].tolist()}")
    if op in ("Expand", "Tile") and (rest[0].size > 16 or data.size * prod(max(int(n), 1) for n in rest[0]) > most):
        raise Unsupported(f"{op} by {rest[0].tolist()} is too large")
    if op == "Gather" and rest[0].size > most:
        raise Unsupported(f"{op} of {rest[0].size} elements")
    if op in ALIKE and len({value.dtype for value in (data, *rest)}) != 1:
        raise Fails(f"{op} has inputs of several types")
    if op == "Range" and (rest[1].reshape(-1)[0] == 0 or abs(int(rest[0] - data) // int(rest[1])) > FEW):
        raise Unsupported("Range by 0, or of many elements")
    if op.startswith("Reduce") and (not data.size or (rest and not rest[0].size) or attributes.get("axes") == ()):
        raise Unsupported(f"{op} of nothing")
    if op in SUMS:
        for value in (data, *rest):
            if value.dtype.kind not in "iu" or value.size > FEW:
                raise Unsupported(
                    f"{op} has an operand of {value.dtype} and size {value.size}, expected at most {FEW} integers"
                )
            far = value.size and max(abs(int(value.max())), abs(int(value.min()))) > SAFE
            if far and op not in ("Clip", "Max", "Min", "Sign"):
                raise Unsupported("an integer may grow beyond its type")


def _check_slice(rank: int, lists: Sequence[np.ndarray | None]) -> None:
    starts, ends, axes, steps = lists
    assert starts is not None and ends is not None, "the operator has them as inputs"
    count = starts.size
    chosen = list(range(count)) if axes is None else axes.tolist()
    if any(one is not None and one.size != count for one in lists) or any(not -rank <= at < rank for at in chosen):
        raise Fails("Slice has lists of several lengths, or axes that the data lack")
    if len({at % rank for at in chosen}) < count:
        raise Unsupported("Slice names an axis twice")
    if steps is not None and (steps < 0).any() and np.isin(ends, ENDLESS).any():
        raise Unsupported("a Slice goes backward to the largest integer, on which runtimes do not agree")
