"""Evaluates terms for all data and dims: the tensor of each, and the conditions under which it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import z3

from padops.convert.proof import plan
from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.symbolic.demands import Asking
from padops.convert.proof.symbolic.integers import Int, Truth, is_open, parts_of
from padops.convert.proof.symbolic.positions import Flat
from padops.convert.proof.symbolic.tensors import (
    BOOL,
    MOST_LISTED,
    RANGES,
    Element,
    Index,
    Leaves,
    NeedsNumber,
    Tensor,
    is_integer,
    objects,
    of_array,
)
from padops.convert.proof.terms import ABSENT, GIVEN, Kind, Terms

Operator = Callable[["Evaluation", int], Tensor]


class Evaluation(Asking):
    """The tensors of terms."""

    def __init__(
        self,
        terms: Terms,
        operators: Mapping[str, Operator],
        numbers: Mapping[str, int],
        most: int = plan.MOST,
        wraps: bool = False,
    ) -> None:
        super().__init__(most)
        self.terms = terms  # the store
        self.numbers = numbers  # ranks and dims that are set to a number, by key
        self.wraps = wraps  # whether integer overflow is followed, rather than proved absent
        self.leaves = Leaves(self.integers)  # the tensors of unknown data
        self.flat = Flat(self.integers)  # the facts of positions in flattened tensors
        self._operators = operators
        self.symbols: dict[str, set[int]] = {}  # for each symbol of the dims, the leaves with it
        self.shared: set[int] = set()  # terms that both models have
        self.deep = False  # whether to follow shared terms
        self.cut = False  # whether a shared term was not followed
        self.leaf_terms: dict[str, int] = {}  # the leaves' terms, by the leaf's key
        # While the converted model is evaluated: the terms that the original computes
        self.computed_before: set[int] = set()
        self._memo: dict[int, Tensor] = {}
        self._unknown: set[str] = set()
        self._turns = 0  # the depth of Loop iterations: in each, a term may be another tensor

    # --- terms --------------------------------------------------------------------------------------------------------

    def tensor(self, term: int) -> Tensor:
        """The tensor of a term.

        Raises:
            Unsupported: The proofs do not support it.
            Fails: It fails for all data and dims.
            NeedsNumber: A rank or dim must be a number.
        """
        known = self.terms.find(term)
        if known not in self._memo:
            made = self._computed(term)
            made = replace(made, shape=tuple(map(self.integers.sum, made.shape)))
            self._memo[known] = self._cut(known, made) if known in self.shared else made
        return self._memo[known]

    def _cut(self, term: int, made: Tensor) -> Tensor:
        """A shared term's tensor: a short list's elements become named unknowns; another tensor becomes a leaf."""
        if self._turns:
            return made
        if is_integer(made.dtype) and made.listed is not None and made.rank <= 2:
            elements = [self._named(f"x{term} {place}", one) for place, one in enumerate(made.listed.reshape(-1))]
            return of_array(self.integers, objects(elements, made.listed.shape), made.dtype)
        if self.deep:
            return made
        self.cut = self.cut or self.terms.head(term).kind is not Kind.INPUT
        return self._leaf(f"x{term}", term, made.shape, made.dtype)

    def _named(self, name: str, element: Element) -> Element:
        """A computed integer as a named unknown that equals it, so that further facts can be learned of it."""
        if not isinstance(element, z3.ArithRef) or element.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            return element
        unknown = z3.Int(name)
        self.integers.learn(unknown == element)
        low, high = self.integers.bounds(element)
        return unknown if math.isinf(low) or math.isinf(high) else self.integers.bound(unknown, int(low), int(high))

    def _computed(self, term: int) -> Tensor:
        array = self._constant(term)
        if array is not None:
            return self.leaves.array(array, self.terms.dtype(term) or 0)
        operator = self._operators.get(self._operator(term))
        if operator is None:
            return self.leaf(term, f"nothing is known of {self._operator(term) or self.terms.head(term).kind.value}")
        try:
            return operator(self, term)
        except Unsupported as why:
            return self.leaf(term, str(why))

    def _constant(self, term: int) -> np.ndarray | None:
        """The elements of a constant of at most ``MOST_LISTED`` elements; else None."""
        head = self.terms.head(self.terms.find(term))
        if head.kind is Kind.CONSTANT and np.prod(head.dims, dtype=object) > MOST_LISTED:
            return None
        array = self.terms.constant(term)
        return array if array is not None and array.size <= MOST_LISTED else None

    def _operator(self, term: int) -> str:
        head = self.terms.head(term)
        if head.kind is Kind.PAD:
            return "Pad"
        return (f"{head.domain}::" if head.domain else "") + head.name if head.kind is Kind.OPERATOR else ""

    def leaf(self, term: int, why: str) -> Tensor:
        """A term as a leaf: a tensor of unknown data. ``why`` says why it is not followed.

        Raises:
            Unsupported: The original does not compute the term.
        """
        found = self.terms.find(term)
        if self._turns and self.terms.head(term).kind not in (Kind.INPUT, Kind.CONSTANT):
            raise Unsupported(why)
        if self.terms.head(term).kind not in GIVEN and not self.is_original and found not in self.computed_before:
            raise Unsupported(why)
        return self._leaf(f"x{found}", term, self._dims(found), self.terms.dtype(term) or 0)

    def _leaf(self, key: str, term: int, dims: tuple[Int, ...], dtype: int) -> Tensor:
        self.leaf_terms[key] = term
        self.flat.dims.append(dims)
        return self.leaves.leaf(key, dims, dtype)

    def _dims(self, term: int) -> tuple[Int, ...]:
        """The dims of a leaf; unknown dims become the solver's unknowns."""
        declared = self.terms.shape(term)
        if declared is None:
            key = f"rank {term}"
            if key not in self.numbers:
                raise NeedsNumber(key)
            declared = (None,) * self.numbers[key]
        dims: list[Int] = []
        for axis, dim in enumerate(declared):
            if isinstance(dim, int):
                dims.append(dim)
                continue
            if dim:
                self.symbols.setdefault(dim, set()).add(term)
            key = f"dim {dim}" if dim else f"dim {term}.{axis}"
            if key in self.numbers:
                dims.append(self.numbers[key])
                continue
            self._unknown.add(key)
            dims.append(self.integers.bound(z3.Int(key), 0, self.most))
        return tuple(dims)

    # --- inputs of an operator ----------------------------------------------------------------------------------------

    def input(self, term: int, position: int) -> Tensor:
        """A required input of a term.

        Raises:
            Fails: The input is absent.
        """
        found = self.optional(term, position)
        if found is None:
            raise Fails(f"{self.terms.head(term).name} lacks input {position}")
        return found

    def optional(self, term: int, position: int) -> Tensor | None:
        """An input of a term; None if it is absent."""
        inputs = self.terms.inputs(term)
        if position >= len(inputs) or inputs[position] == ABSENT:
            return None
        return self.tensor(inputs[position])

    def elements(self, tensor: Tensor) -> np.ndarray:
        """The elements of a short tensor, as an array of objects.

        Raises:
            NeedsNumber: A dim must be a number.
            Unsupported: The tensor is too long, or its dims are computed.
        """
        if tensor.listed is not None:
            return tensor.listed
        dims = [self.fixed(dim) for dim in tensor.shape]
        if np.prod(dims, dtype=object) > MOST_LISTED:
            raise Unsupported(f"a tensor of dims {dims} is too large to list its elements")
        array = np.empty(dims, object)
        for index in np.ndindex(*dims):
            array[index] = tensor.at(list(index))
        return array

    def fixed(self, dim: Int) -> int:
        """A dim as a number.

        Raises:
            NeedsNumber: A dim that it follows from must be a number.
            Unsupported: The dim is computed.
        """
        low, high = self.integers.bounds(dim)
        if low == high:
            return int(low)
        for part in parts_of([dim]):
            if z3.is_const(part) and part.decl().name() in self._unknown:
                raise NeedsNumber(part.decl().name())
        raise Unsupported("a number of elements is computed")

    def ints(self, tensor: Tensor) -> list[Int]:
        """The elements of a short tensor of integers, flat.

        Raises:
            Unsupported: The elements are no integers.
        """
        if tensor.dtype not in RANGES:
            raise Unsupported("integers are expected")
        return list(self.elements(tensor).reshape(-1))

    def known(self, tensor: Tensor) -> list[int]:
        """The elements of a short tensor of known integers, flat.

        Raises:
            Unsupported: An element is no integer, or is not known.
        """
        values = self.ints(tensor)
        if any(map(is_open, values)):
            raise Unsupported("known integers are expected")
        return [int(value) for value in values]

    def truth(self, tensor: Tensor, index: Index) -> Truth:
        """An element of a tensor of bools.

        Raises:
            Unsupported: The elements are no bools.
        """
        if tensor.dtype != BOOL:
            raise Unsupported("bools are expected")
        return tensor.at(index)

    @contextmanager
    def bound(self, values: Mapping[int, Tensor]) -> Iterator[None]:
        """One iteration of a body, with its inputs bound; terms over them are forgotten afterwards."""
        before, self._turns = self._memo, self._turns + 1
        self._memo = {**before, **{self.terms.find(term): value for term, value in values.items()}}
        try:
            yield
        finally:
            self._memo, self._turns = before, self._turns - 1

    @contextmanager
    def under(self, condition: Truth) -> Iterator[None]:
        """A branch that is taken if a condition holds."""
        before = self._memo
        self._memo, self._path = dict(before), [*self._path, condition]
        try:
            yield
        finally:
            self._memo, self._path = before, self._path[:-1]
