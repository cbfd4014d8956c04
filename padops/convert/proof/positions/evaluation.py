"""Evaluates the terms of one region, on known elements or on ids of elements."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from padops.convert.proof import following, plan, schemas
from padops.convert.proof.pads import zero
from padops.convert.proof.positions.arithmetic import compute
from padops.convert.proof.positions.elements import Elements, Ids, cast, dtype_of, plane
from padops.convert.proof.positions.indexed import INDEXED
from padops.convert.proof.positions.moves import PLAIN, Move, concat, split
from padops.convert.proof.positions.pads import dialect_axes, onnx_axes, padded
from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.terms import ABSENT, Kind, Terms
from padops.plural import plural

Value = np.ndarray | Ids
FEW = 1024  # shared integer values of so many elements are computed, not leaves: amounts, shapes, indices
DEEPEST = 4000  # the most terms that are followed


class Evaluation:
    """Evaluates two terms on the ids of the elements of shared values.

    ``most`` limits the elements of any value; ``deep`` also follows terms that both models have.
    """

    def __init__(self, terms: Terms, a: int, b: int, most: int, deep: bool) -> None:
        self._terms, self._roots, self._most, self._deep = terms, (a, b), most, deep
        self._elements = Elements()
        self._values: dict[int, Value | Exception] = {}
        self._dims: dict[str, list[int]] = {}

    def value(self, root: int) -> Value:
        """The value of a term.

        Raises:
            Fails: The term fails.
            Unsupported: Its value is not known.
        """
        todo = [(root, False)]
        while todo:
            term, ready = todo.pop()
            if term in self._values:
                continue
            if not ready and self._follows(term):
                todo.append((term, True))
                todo += [(one, False) for one in self._terms.inputs(term) if one != ABSENT]
                if len(self._values) + len(todo) > DEEPEST:
                    raise Unsupported(f"a region of more than {DEEPEST} values")
                continue
            try:
                self._values[term] = self._evaluate(term, ready)
            except (Unsupported, Fails) as error:
                self._values[term] = error
        return self._given(root)

    def dims(self) -> dict[str, Any]:
        """The dims of the leaves of the comparison, by name."""
        return {"dims": dict(self._dims)}

    def conditions(self) -> tuple[str, ...]:
        """The assumptions of the comparison."""
        return tuple(sorted(self._elements.conditions))

    def difference(self, one: Value, other: Value) -> str:
        """The difference of two values; ``""`` if their elements are the same.

        Raises:
            Unsupported: Ids differ whose elements may be equal.
        """
        first, second = self._ids(one), self._ids(other)
        if first.ids.shape != second.ids.shape:
            return f"the shapes differ: {list(first.ids.shape)} and {list(second.ids.shape)}"
        if first.dtype and second.dtype and first.dtype != second.dtype:
            return f"the element types differ: {schemas.type_name(first.dtype)} and {schemas.type_name(second.dtype)}"
        differs = first.ids != second.ids
        if not differs.any():
            return ""
        if self._elements.is_rounded(first.ids[differs]) or self._elements.is_rounded(second.ids[differs]):
            raise Unsupported("elements that were cast and may be rounded")
        place = tuple(int(index) for index in np.argwhere(differs)[0])
        verb = "differs" if differs.sum() == 1 else "differ"
        return f"{int(differs.sum())} of {plural(differs.size, 'element')} {verb}, the first at {list(place)}"

    def _follows(self, term: int) -> bool:
        if not following.is_followed(self._terms, term) or self._terms.constant(term) is not None:
            return False
        if self._deep or term in self._roots or not self._terms.shared(term):
            return True
        shape = self._terms.shape(term)
        if shape is None or not all(isinstance(dim, int) for dim in shape):
            return True
        few = prod(dim for dim in shape if isinstance(dim, int)) <= FEW
        return few and self._terms.dtype(term) in (None, *following.INTEGERS)

    def _given(self, term: int) -> Value:
        found = self._values[term]
        if isinstance(found, Exception):
            raise found
        return found

    def _evaluate(self, term: int, followed: bool) -> Value:
        known = self._terms.constant(term)
        if known is not None:
            return known
        if not followed:
            return self._leaf(term)
        try:
            found = self._applied(term)
        except Unsupported:
            if self._terms.op(term) == "Shape" or term in self._roots or not self._terms.computed(term):
                raise
            return self._leaf(term)
        size = found.size if isinstance(found, np.ndarray) else found.ids.size
        if size > self._most:
            raise Unsupported(f"a value of {size} elements, which is more than {self._most}")
        return found

    def _leaf(self, term: int) -> Ids:
        """New ids for the elements of a value whose node is not evaluated: both models have it."""
        name = self._terms.names.get(term, str(self._terms.head(term).name or term))
        if not self._terms.computed(term):
            raise Unsupported(f"only the converted model computes the value '{name}' ({self._what(term)})")
        shape = self._terms.shape(term)
        if shape is None:
            raise Unsupported(f"the rank of the value '{name}' ({self._what(term)}) is not known")
        dims = tuple(dim for dim in shape if isinstance(dim, int))
        if len(dims) != len(shape):
            raise Unsupported(f"the dims {list(shape)} of the value '{name}' ({self._what(term)}) are not all known")
        if prod(dims) > self._most:
            raise Unsupported(f"the value '{name}' has {prod(dims)} elements, which is more than {self._most}")
        self._dims[name] = list(dims)
        return self._elements.leaf(self._terms.find(term), dims, self._terms.dtype(term) or 0)

    def _what(self, term: int) -> str:
        head = self._terms.head(term)
        return head.name if head.kind is Kind.OPERATOR else head.kind.value

    def _ids(self, value: Value) -> Ids:
        return value if isinstance(value, Ids) else self._elements.constant(value)

    def _known(self, term: int, what: str) -> np.ndarray:
        """The elements of a value that decides where other elements go.

        Raises:
            Unsupported: They are not known.
        """
        found = self._given(term)
        if isinstance(found, Ids):
            raise Unsupported(f"{what} that are computed from data")
        return found

    def _applied(self, term: int) -> Value:
        """The result of a term's operation on its inputs' values."""
        terms, head = self._terms, self._terms.head(term)
        inputs = terms.inputs(term)
        if head.kind is Kind.PAD:
            return self._pad(term, head.mode, inputs)
        if head.domain == schemas.PADOPS:
            return self._dialect(term)
        values = [None if one == ABSENT else self._given(one) for one in inputs]
        if head == following.BESIDES:
            return self._given(inputs[0])
        op = head.name
        self._check_type(op, head.version, values)
        if op in ("Shape", "Size"):
            return self._shape(term, values[0])
        if op == "Cast":
            return self._cast(term, values[0])
        if op == "ConstantOfShape":
            return self._constant_of_shape(term, inputs)
        if op == "Where":
            return self._where(inputs)
        if op not in following.MOVES:
            if any(isinstance(value, Ids) for value in values):
                raise Unsupported(f"{op} of data")
            known = [value for value in values if not isinstance(value, Ids)]
            return compute(op, partial(terms.attribute, term), known, head.version)
        node = Move(op, head.version, partial(terms.attribute, term), self._integers(term))
        if op in INDEXED:
            indices = self._known(inputs[1], f"indices of {op}")
            data, *rest = self._together([inputs[0], *inputs[2:]])
            return self._like(data, INDEXED[op](node, plane(data), indices, *(plane(one) for one in rest)))
        parts = self._together(inputs if op == "Concat" else inputs[:1])
        if op == "Concat":
            return self._like(parts[0], concat(node, [plane(part) for part in parts]))
        if op == "Split":
            return self._like(parts[0], split(node, plane(parts[0]), head.outputs, head.output))
        return self._like(parts[0], PLAIN[op](node, plane(parts[0])))

    def _check_type(self, op: str, version: int, values: list[Value | None]) -> None:
        """Fails for an operator that does not take the type of its first input."""
        if values and values[0] is not None:
            dtype = values[0].dtype if isinstance(values[0], Ids) else dtype_of(values[0])
            if dtype and not schemas.takes(op, version, dtype):
                raise Fails(f"{op} of version {version} does not take {schemas.type_name(dtype)}")

    def _integers(self, term: int) -> Any:
        inputs = self._terms.inputs(term)

        def listed(index: int) -> list[int] | None:
            if index >= len(inputs) or inputs[index] == ABSENT:
                return None
            found = self._known(inputs[index], f"amounts of {self._terms.op(term) or 'a Pad'}")
            return [int(value) for value in found.reshape(-1)]

        return listed

    def _together(self, inputs: list[int] | tuple[int, ...]) -> list[Value]:
        """The values in one form: known elements if all are known, else ids."""
        values = [self._given(one) for one in inputs]
        if all(isinstance(value, np.ndarray) for value in values):
            if len({value.dtype for value in values}) != 1:
                raise Fails("inputs of several types")
            return values
        made = [self._ids(value) for value in values]
        if len({one.dtype for one in made} - {0}) > 1:
            raise Fails("inputs of several types")
        return list(made)

    def _like(self, value: Value, plane: np.ndarray) -> Value:
        return Ids(plane, value.dtype) if isinstance(value, Ids) else plane

    def _shape(self, term: int, value: Value | None) -> np.ndarray:
        assert value is not None, "the input is not optional"
        shape = plane(value).shape
        if self._terms.op(term) == "Size":
            return np.array(prod(shape), np.int64)
        start, end = (self._terms.attribute(term, name, None) for name in ("start", "end"))
        return np.array(shape[slice(*slice(start, end).indices(len(shape)))], np.int64)

    def _cast(self, term: int, value: Value | None) -> Value:
        assert value is not None, "the input is not optional"
        to = self._terms.attribute(term, "to")
        how = self._terms.head(term).attributes
        made = self._elements.cast(value, to, how) if isinstance(value, Ids) else cast(value, to)
        if made is None:
            raise Unsupported(f"a cast to {schemas.type_name(to)} on whose result runtimes disagree")
        return made

    def _constant_of_shape(self, term: int, inputs: tuple[int, ...]) -> Value:
        dims = [int(dim) for dim in self._known(inputs[0], "dims of ConstantOfShape").reshape(-1)]
        value = self._terms.attribute(term, "value")
        filled = np.zeros(1, np.float32) if value is None else self._terms.constant(value)
        if min(dims, default=0) < 0 or filled is None or filled.size != 1:
            raise Fails(f"ConstantOfShape of {dims}")
        if prod(dims) > self._most:
            raise Unsupported(f"a value of {prod(dims)} elements, which is more than {self._most}")
        return np.full(dims, filled.reshape(-1)[0], filled.dtype)

    def _where(self, inputs: tuple[int, ...]) -> Value:
        condition = self._known(inputs[0], "conditions of Where")
        one, other = self._together(inputs[1:])
        try:
            made = np.where(condition, plane(one), plane(other))
        except ValueError:
            raise Fails("Where of shapes that do not fit") from None
        dtype = max(value.dtype if isinstance(value, Ids) else 0 for value in (one, other))
        return Ids(made, dtype) if isinstance(one, Ids) else made

    def _pad(self, term: int, mode: str, inputs: tuple[int, ...]) -> Value:
        data, listed = self._ids(self._given(inputs[0])), self._integers(term)
        pads = self._known(inputs[1], "amounts of a Pad")
        axes = onnx_axes(data.ids.shape, pads, listed(3))
        fill = inputs[2]
        if self._terms.head(term).fill:
            raise Unsupported("the fill of a Pad whose element type is not known")
        return self._padded(data, axes, mode, plan.ONNX, fill)

    def _dialect(self, term: int) -> Value:
        inputs = self._terms.inputs(term)
        data = self._ids(self._given(inputs[0]))
        attribute = partial(self._terms.attribute, term)
        name, listed = self._terms.head(term).name, self._integers(term)
        axes, mode, rules, index = dialect_axes(name, data.ids.shape, attribute, listed)
        return self._padded(data, axes, mode, rules, inputs[index] if index < len(inputs) else ABSENT)

    def _padded(self, data: Ids, axes: list[plan.Axis], mode: str, rules: plan.Rules, fill: int) -> Ids:
        if fill != ABSENT:
            self._given(fill)  # modes that do not use the fill compute it too: it may fail

        def number() -> int:
            if fill == ABSENT and not data.dtype:
                raise Unsupported("the fill of a Pad whose element type is not known")
            found = self._ids(zero(data.dtype)) if fill == ABSENT else self._ids(self._given(fill))
            if found.ids.size != 1:
                raise Fails(f"a fill of shape {list(found.ids.shape)} [P7]")
            if data.dtype and found.dtype and found.dtype != data.dtype:
                raise Fails(
                    f"a fill of {schemas.type_name(found.dtype)} for data of {schemas.type_name(data.dtype)} [P7]"
                )
            return int(found.ids.reshape(-1)[0])

        return Ids(padded(data.ids, axes, mode, rules, number, self._most), data.dtype)
