"""Operators that change a shape or fill one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from padops.convert.proof.symbolic.elementwise import broadcast, broadcast_dims
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, Integers, Truth, is_open, same
from padops.convert.proof.symbolic.moving import axis_of, finished
from padops.convert.proof.symbolic.tensors import Element, Fails, Index, Tensor, Unsupported


def expand(evaluation: Evaluation, term: int) -> Tensor:
    """Expand."""
    data, dims = evaluation.input(term, 0), evaluation.ints(evaluation.input(term, 1))
    for dim in dims:
        evaluation.require(dim >= 0, "a negative dim")
    shape = broadcast_dims(evaluation, [data.shape, dims])
    return finished(evaluation, Tensor(shape, data.dtype, broadcast(evaluation, data, shape)), data)


def constant_of_shape(evaluation: Evaluation, term: int) -> Tensor:
    """ConstantOfShape.

    Raises:
        Unsupported: The proofs do not support it.
    """
    terms, dims = evaluation.terms, evaluation.ints(evaluation.input(term, 0))
    for dim in dims:
        evaluation.require(dim >= 0, "a negative dim")
    value = terms.attribute(term, "value")
    if value is None:
        raise Unsupported("ConstantOfShape without a value")
    one = evaluation.tensor(value)
    made = Tensor(tuple(dims), one.dtype, lambda index: one.at([0] * one.rank))
    return finished(evaluation, made)


def identity(evaluation: Evaluation, term: int) -> Tensor:
    """Identity."""
    return evaluation.input(term, 0)


def flatten(evaluation: Evaluation, term: int) -> Tensor:
    """Flatten."""
    data = evaluation.input(term, 0)
    axis = evaluation.terms.attribute(term, "axis", 1)
    axis = axis if axis == data.rank else axis_of(axis, data.rank) if data.rank else 0
    product = evaluation.integers.product
    return reshaped(evaluation, data, [product(data.shape[:axis]), product(data.shape[axis:])])


def reshape(evaluation: Evaluation, term: int) -> Tensor:
    """Reshape.

    Raises:
        Fails: The operator fails for all data and dims.
    """
    terms, data, integers = evaluation.terms, evaluation.input(term, 0), evaluation.integers
    if terms.head(term).version < 5:
        asked: list[Int] = list(terms.attribute(term, "shape", ()))
    else:
        asked = evaluation.ints(evaluation.input(term, 1))
    dims: list[Int] = []
    inferred = None
    for axis, dim in enumerate(asked):
        if not is_open(dim) and dim == -1:
            if inferred is not None:
                raise Fails("Reshape with two dims of -1")
            inferred = axis
        elif terms.attribute(term, "allowzero", 0):
            evaluation.must(dim >= 0, "Reshape to a dim that may be -1")
        elif not is_open(dim) and dim == 0:
            if axis >= data.rank:
                raise Fails("Reshape with a 0 for an axis that the data lack")
            dim = data.shape[axis]
        else:
            own = data.shape[axis] if axis < data.rank else 1
            # A computed 0 would keep the data's dim.
            keeps = integers.all(integers.equal(dim, 0), integers.equal(own, 0))
            evaluation.must(integers.any(dim >= 1, keeps), "Reshape to a computed 0")
        dims.append(dim)
    if inferred is not None:
        dims[inferred] = _inferred(evaluation, data.shape, [dim for axis, dim in enumerate(dims) if axis != inferred])
    return reshaped(evaluation, data, dims)


@dataclass(frozen=True)
class _Rest:
    """The dims that only one of two shapes has, and the dims that both have; dims of 1 are left out."""

    one: list[Int]
    other: list[Int]
    common: list[Int]


def _rest(one: Sequence[Int], other: Sequence[Int]) -> _Rest:
    left, common, right = [dim for dim in one if not same(dim, 1)], [], []
    for dim in other:
        found = next((k for k, own in enumerate(left) if same(own, dim)), None)
        if found is not None:
            common.append(left.pop(found))
        elif not same(dim, 1):
            right.append(dim)
    return _Rest(left, right, common)


def _inferred(evaluation: Evaluation, shape: Sequence[Int], others: Sequence[Int]) -> Int:
    """The dim that -1 stands for."""
    integers, rest = evaluation.integers, _rest(shape, others)
    for dim in others:
        evaluation.require(dim >= 1, "Reshape with -1 beside a dim of 0")
    whole, known = integers.product(rest.one), integers.product(rest.other)
    if is_open(known):
        raise Unsupported("Reshape with -1 beside dims that the data do not have")
    if known == 0:
        return 0
    evaluation.require(integers.equal(integers.mod(whole, known), 0), "Reshape to dims that do not divide")
    return integers.div(whole, known)


def _as_many(integers: Integers, one: Sequence[Int], other: Sequence[Int]) -> Truth:
    """Whether two shapes have equally many elements."""
    rest = _rest(one, other)
    alike = integers.equal(integers.product(rest.one), integers.product(rest.other))
    if len(rest.one) == len(rest.other):
        alike = integers.any(alike, integers.all(*map(integers.equal, rest.one, rest.other)))
    return integers.any(alike, *(integers.equal(dim, 0) for dim in rest.common))


def reshaped(evaluation: Evaluation, data: Tensor, dims: Sequence[Int]) -> Tensor:
    """A tensor in another shape of equally many elements."""
    integers = evaluation.integers
    evaluation.require(_as_many(integers, data.shape, dims), "Reshape to another number of elements")
    old = [axis for axis, dim in enumerate(data.shape) if not same(dim, 1)]
    new = [axis for axis, dim in enumerate(dims) if not same(dim, 1)]
    pairs: list[tuple[int, int]] = []
    while old and new and same(data.shape[old[0]], dims[new[0]]):
        pairs.append((old.pop(0), new.pop(0)))
    while old and new and same(data.shape[old[-1]], dims[new[-1]]):
        pairs.append((old.pop(), new.pop()))
    empty = integers.any(*(integers.equal(dim, 0) for dim in dims))  # no element can be misplaced
    straight = []
    if len(old) == len(new) > 1:
        straight = [integers.equal(data.shape[one], dims[other]) for one, other in zip(old, new)]
        pairs += zip(old, new)
        old, new = [], []

    def at(index: Index) -> Element:
        for alike in straight:
            evaluation.must(integers.any(alike, empty), "Reshape to dims that are not the same in order")
        place: list[Int] = [0] * data.rank
        for one, other in pairs:
            place[one] = index[other]
        flat = evaluation.flat.place_of([index[axis] for axis in new], [dims[axis] for axis in new])
        for axis, position in zip(old, evaluation.flat.place_in(flat, [data.shape[axis] for axis in old])):
            place[axis] = position
        return data.at(place)

    return finished(evaluation, Tensor(tuple(dims), data.dtype, at), data)


OPERATORS = {
    "ConstantOfShape": constant_of_shape,
    "Expand": expand,
    "Flatten": flatten,
    "Identity": identity,
    "Reshape": reshape,
}
