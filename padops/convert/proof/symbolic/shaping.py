"""Operators that read, change or fill shapes, and that count: Range and the reductions of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.symbolic.elementwise import broadcast, broadcast_dims, fitted
from padops.convert.proof.symbolic.evaluation import Evaluation, Operator
from padops.convert.proof.symbolic.integers import Int, Integers, Truth, is_open, same
from padops.convert.proof.symbolic.moving import axes_of, axis_of, finished
from padops.convert.proof.symbolic.tensors import INT64, RANGES, Element, Index, Tensor, objects, of_array, vector


def _expand(evaluation: Evaluation, term: int) -> Tensor:
    data, dims = evaluation.input(term, 0), evaluation.ints(evaluation.input(term, 1))
    for dim in dims:
        evaluation.require(dim >= 0, "a negative dim")
    shape = broadcast_dims(evaluation, [data.shape, dims])
    return finished(evaluation, Tensor(shape, data.dtype, broadcast(evaluation, data, shape)), data)


def _constant_of_shape(evaluation: Evaluation, term: int) -> Tensor:
    terms, dims = evaluation.terms, evaluation.ints(evaluation.input(term, 0))
    for dim in dims:
        evaluation.require(dim >= 0, "a negative dim")
    value = terms.attribute(term, "value")
    if value is None:
        raise Unsupported("ConstantOfShape without a value")
    one = evaluation.tensor(value)
    for dim in one.shape:
        evaluation.require(evaluation.integers.equal(dim, 1), "ConstantOfShape of other than one element")
    made = Tensor(tuple(dims), one.dtype, lambda index: one.at([0] * one.rank))
    return finished(evaluation, made)


def _identity(evaluation: Evaluation, term: int) -> Tensor:
    return evaluation.input(term, 0)


def _flatten(evaluation: Evaluation, term: int) -> Tensor:
    data = evaluation.input(term, 0)
    axis = evaluation.terms.attribute(term, "axis", 1)
    axis = axis if axis == data.rank else axis_of(axis, data.rank)
    product = evaluation.integers.product
    return _reshaped(evaluation, data, [product(data.shape[:axis]), product(data.shape[axis:])])


def _reshape(evaluation: Evaluation, term: int) -> Tensor:
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
    return _reshaped(evaluation, data, dims)


def _rest(one: Sequence[Int], other: Sequence[Int]) -> tuple[list[Int], list[Int], list[Int]]:
    """The dims that only the first or only the second of two shapes has, and their common dims; without dims of 1."""
    left, common, right = [dim for dim in one if not same(dim, 1)], [], []
    for dim in other:
        found = next((k for k, own in enumerate(left) if same(own, dim)), None)
        if found is not None:
            common.append(left.pop(found))
        elif not same(dim, 1):
            right.append(dim)
    return left, right, common


def _inferred(evaluation: Evaluation, shape: Sequence[Int], others: Sequence[Int]) -> Int:
    """The dim that -1 stands for."""
    integers, (own, further, _) = evaluation.integers, _rest(shape, others)
    for dim in others:
        evaluation.require(dim >= 1, "Reshape with -1 beside a dim of 0")
    whole, known = integers.product(own), integers.product(further)
    if is_open(known):
        raise Unsupported("Reshape with -1 beside dims that the data do not have")
    if known == 0:
        return 0
    evaluation.require(integers.equal(integers.mod(whole, known), 0), "Reshape to dims that do not divide")
    return integers.div(whole, known)


def _as_many(integers: Integers, one: Sequence[Int], other: Sequence[Int]) -> Truth:
    """Whether two shapes have equally many elements."""
    left, right, common = _rest(one, other)
    alike = integers.equal(integers.product(left), integers.product(right))
    if len(left) == len(right):
        alike = integers.any(alike, integers.all(*map(integers.equal, left, right)))
    return integers.any(alike, *(integers.equal(dim, 0) for dim in common))


def _reshaped(evaluation: Evaluation, data: Tensor, dims: Sequence[Int]) -> Tensor:
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


def _reduction(function: Callable[[Integers, Int, Int], Int], empty: int | None) -> Operator:
    """A reduction of a vector to one number; ``empty`` is its result for no numbers, None if versions disagree."""

    def operator(evaluation: Evaluation, term: int) -> Tensor:
        data, terms = evaluation.input(term, 0), evaluation.terms
        axes = axes_of(evaluation, term, 1, data.rank)
        if data.rank != 1 or (not axes and terms.attribute(term, "noop_with_empty_axes", 0)):
            raise Unsupported("a reduction of other than a vector")
        values = evaluation.ints(data)
        if not values and empty is None:
            raise Unsupported("the minimum or maximum of no numbers")
        found: Int = values[0] if values else empty
        for value in values[1:]:
            found = fitted(evaluation, function(evaluation.integers, found, value), data.dtype)
        keeps = terms.attribute(term, "keepdims", 1)
        return of_array(evaluation.integers, objects([found], [1] if keeps else []), data.dtype)

    return operator


def _shape(evaluation: Evaluation, term: int) -> Tensor:
    dims = evaluation.input(term, 0).shape
    start, end = (evaluation.terms.attribute(term, name) for name in ("start", "end"))
    return vector(evaluation.integers, dims[slice(*slice(start, end).indices(len(dims)))])


def _size(evaluation: Evaluation, term: int) -> Tensor:
    count = evaluation.integers.product(evaluation.input(term, 0).shape)
    return of_array(evaluation.integers, objects([fitted(evaluation, count, INT64)], []), INT64)


def _range(evaluation: Evaluation, term: int) -> Tensor:
    limits = [evaluation.input(term, position) for position in range(3)]
    if any(one.dtype not in RANGES for one in limits):
        raise Unsupported("a Range of other than integers")
    given = [evaluation.elements(one).reshape(-1) for one in limits]
    if any(len(one) != 1 for one in given):
        raise Fails(f"Range of {[len(one) for one in given]} numbers")
    start, stop, step = (one[0] for one in given)
    integers, dtype = evaluation.integers, limits[0].dtype
    evaluation.require(integers.negated(integers.equal(step, 0)), "Range in steps of 0")
    if is_open(step):
        evaluation.must(integers.equal(step, 1), "Range in steps that are computed")
        step = 1
    distance = stop - start if step > 0 else start - stop
    count = integers.greatest(integers.div(distance + abs(step) - 1, abs(step)), 0)
    made = Tensor((count,), dtype, lambda index: start + step * index[0])
    if not is_open(count) and count <= 4096:
        return vector(integers, [made.at([place]) for place in range(count)], dtype)
    return made


OPERATORS = {
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Flatten": _flatten,
    "Identity": _identity,
    "Range": _range,
    "ReduceMax": _reduction(Integers.greatest, None),
    "ReduceMin": _reduction(Integers.least, None),
    "ReduceProd": _reduction(Integers.mul, 1),
    "ReduceSum": _reduction(lambda integers, a, b: a + b, 0),
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": _size,
}
