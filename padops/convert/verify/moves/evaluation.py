"""Evaluates the terms of one region, on known elements or on ids of elements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from math import prod

import numpy as np

from padops.convert.verify import following, schemas
from padops.convert.verify.moves import definitions
from padops.convert.verify.moves.elements import PLACES, Elements, Ids, Value, cast, converted, dtype_of, padded, plane
from padops.convert.verify.moves.operators import apply
from padops.convert.verify.pad_terms import zero
from padops.convert.verify.result import Fails, Unsupported
from padops.convert.verify.terms import ABSENT, Dim, Kind, Terms

Size = Callable[[int, int, Dim], int]  # the size of an open dim: of a term, by its axis and its symbol
DEEPEST = 4000  # the most terms that are followed


class Evaluation:
    """Evaluates two terms on the element ids of their input values.

    ``most`` limits the elements of any value; ``size`` gives sizes to open dims.
    """

    def __init__(self, terms: Terms, roots: tuple[int, int], most: int, size: Size | None) -> None:
        self._terms, self._roots, self._most, self._size = terms, roots, most, size
        self._values: dict[int, Value | Exception] = {}
        self.elements = Elements()
        self.dims: dict[str, list[int]] = {}  # the dims of the leaves, by name
        self._results: set[int] = set()  # the blocks of the leaves that operators compute

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
            follows = following.is_followed(self._terms, term) and self._terms.constant(term) is None
            if not ready and follows:
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

    def _given(self, term: int) -> Value:
        found = self._values[term]
        if isinstance(found, Exception):
            raise found
        return found

    def _ids(self, value: Value) -> Ids:
        return value if isinstance(value, Ids) else self.elements.constant(value)

    def _known(self, term: int, what: str) -> np.ndarray:
        """The elements of a value that decides where other elements go."""
        found = self._given(term)
        if isinstance(found, Ids):
            raise Unsupported(f"{what} that are computed from data")
        return found

    def difference(self, one: Value, other: Value) -> str:
        """The difference of two values; ``""`` if their elements are the same.

        Raises:
            Unsupported: The elements that differ come from operators that the evaluation does not follow.
        """
        first, second = self._ids(one), self._ids(other)
        if first.ids.shape != second.ids.shape:
            return f"the shapes differ: {list(first.ids.shape)} and {list(second.ids.shape)}"
        if first.dtype and second.dtype and first.dtype != second.dtype:
            return f"the element types differ: {schemas.type_name(first.dtype)} and {schemas.type_name(second.dtype)}"
        differs = first.ids != second.ids
        if not differs.any():
            return ""
        alone = self._results & (self.elements.blocks(first) ^ self.elements.blocks(second))
        if alone and np.isin([side.ids[differs] >> PLACES for side in (first, second)], list(alone)).any(0).all():
            raise Unsupported("an operator that is not followed may give what another gives")
        place = tuple(int(index) for index in np.argwhere(differs)[0])
        return f"{int(differs.sum())} of {differs.size} elements differ, the first at {list(place)}"

    def _evaluate(self, term: int, followed: bool) -> Value:
        known = self._terms.constant(term)
        if known is not None:
            return known
        if not followed:
            return self._leaf(term)
        try:
            found = self._applied(term)
        except Unsupported:
            if self._terms.op(term) == "Shape" or not self._terms.shared(term):
                raise
            return self._leaf(term)
        if plane(found).size > self._most:
            raise Unsupported(f"a value of {plane(found).size} elements, which is more than {self._most}")
        return found

    def _leaf(self, term: int) -> Ids:
        """New ids for the elements of a value whose node is not evaluated: both models have it."""
        head = self._terms.head(term)
        name = self._terms.names.get(term, str(head.name or term))
        what = f"the value '{name}' ({head.name if head.kind is Kind.OPERATOR else head.kind.value})"
        if not self._terms.computed(term):
            raise Unsupported(f"only the converted model computes {what}")
        shape = self._terms.shape(term)
        if shape is None:
            shape = self._open_shape(term)
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
        """Open dims of a Pad of known amounts or of its data, as many as it has amounts for; None of other values."""
        terms = self._terms
        for pad in islice(following.cone(terms, self._roots[0]), DEEPEST):
            if definitions.is_pad(terms.head(pad)) and terms.find(term) in map(terms.find, (pad, terms.inputs(pad)[0])):
                given = {at: terms.constant(one) for at, one in enumerate(terms.inputs(pad)) if one != ABSENT}
                rank = definitions.data_rank(terms.head(pad), given)
                if rank is not None:
                    return (None,) * rank
        return None

    def _padded(self, term: int) -> Ids:
        terms, inputs = self._terms, self._terms.inputs(term)
        given = dict(enumerate(inputs))

        def known(at: int) -> np.ndarray | None:
            one = given.get(at, ABSENT)
            return None if one == ABSENT else self._known(one, "amounts of a Pad")

        data = self._ids(self._given(inputs[0]))
        said = definitions.defined(terms.head(term), data.ids.shape, known)
        at = given.get(said.fill, ABSENT)
        fill = None if at == ABSENT else self._given(at)  # modes that do not use the fill compute it too: it may fail
        if said.mode == "constant" and (any(said.value) or (said.number and fill is not None)):
            number = np.frombuffer(said.value, "<f4") if said.value else self._known(at, "the fill of a Pad")
            fill = converted(number, data.dtype)
        elif fill is None and data.dtype:
            fill = zero(data.dtype)
        return padded(data, said, None if fill is None else self._ids(fill), self._most)

    def _applied(self, term: int) -> Value:
        """The result of a term's operation on its inputs' values."""
        head, inputs = self._terms.head(term), self._terms.inputs(term)
        if definitions.is_pad(head) or head.name == "CenterCropPad":
            return self._padded(term)
        op, first = head.name, self._given(inputs[0])
        dtype = first.dtype if isinstance(first, Ids) else dtype_of(first)
        if dtype and op != "Where" and not schemas.takes(op, head.version, dtype):
            raise Fails(f"{op} of version {head.version} does not take {schemas.type_name(dtype)}")
        if op in ("Shape", "Size"):
            return apply(head, [plane(first)], self._most)
        if op == "Cast":
            return self._cast(term, first)
        if op == "ConstantOfShape":
            return self._constant_of_shape(term, self._known(inputs[0], "dims of ConstantOfShape"))
        # The inputs whose elements become elements of the result
        moved = range(len(inputs)) if op == "Concat" else (1, 2) if op == "Where" else (0,)
        places = moved if op in following.FOLLOWED else ()
        planes = [None if one == ABSENT or at in places else self._known(one, f"{op} of data")
                  for at, one in enumerate(inputs)]  # fmt: skip
        data = [self._given(inputs[at]) for at in places]
        is_known = all(isinstance(value, np.ndarray) and value.dtype.kind in "iub" for value in data)
        data = data if is_known else [self._ids(value) for value in data]
        for at, value in zip(places, data):
            planes[at] = plane(value)
        types = {value.dtype for value in data} - {0}
        if len(types) > 1:
            raise Fails("inputs of several types")
        made = apply(head, planes, self._most)
        return made if is_known else Ids(made, next(iter(types), 0))  # type: ignore[arg-type]

    def _cast(self, term: int, value: Value) -> Value:
        to = self._terms.attribute(term, "to")
        if not isinstance(to, int):
            raise Unsupported("a Cast to a type that the caller of a function gives")
        made = self.elements.cast(value, to) if isinstance(value, Ids) else cast(value, to)
        if made is None:
            raise Unsupported(f"a cast to {schemas.type_name(to)} that may round")
        return made

    def _constant_of_shape(self, term: int, wanted: np.ndarray) -> Value:
        dims = [int(dim) for dim in wanted.reshape(-1)]
        value = self._terms.attribute(term, "value")
        filled = np.zeros(1, np.float32) if value is None else self._terms.constant(value)
        if min(dims, default=0) < 0 or filled is None or filled.size != 1:
            raise Fails(f"ConstantOfShape of {dims}")
        if prod(dims) > self._most:
            raise Unsupported(f"a value of {prod(dims)} elements, which is more than {self._most}")
        return np.full(dims, filled.reshape(-1)[0], filled.dtype)
