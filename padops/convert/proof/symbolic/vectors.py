"""Operators on shapes and vectors of integers: Shape, Size, Range, reductions."""

from __future__ import annotations

from collections.abc import Callable

from padops.convert.proof.symbolic.elementwise import fitted
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, Integers, is_open
from padops.convert.proof.symbolic.moving import axes_of
from padops.convert.proof.symbolic.tensors import INT64, RANGES, Fails, Tensor, Unsupported, objects, of_array, vector


def reduction(function: Callable[[Integers, Int, Int], Int], empty: int | None) -> Callable[[Evaluation, int], Tensor]:
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


def shape(evaluation: Evaluation, term: int) -> Tensor:
    """Shape."""
    dims = evaluation.input(term, 0).shape
    start, end = (evaluation.terms.attribute(term, name) for name in ("start", "end"))
    return vector(evaluation.integers, dims[slice(*slice(start, end).indices(len(dims)))])


def size(evaluation: Evaluation, term: int) -> Tensor:
    """Size."""
    count = evaluation.integers.product(evaluation.input(term, 0).shape)
    return of_array(evaluation.integers, objects([fitted(evaluation, count, INT64)], []), INT64)


def range_(evaluation: Evaluation, term: int) -> Tensor:
    """Range.

    Raises:
        Fails: A start, an end or a step is not one number.
        Unsupported: The proofs do not support it.
    """
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
    "Range": range_,
    "ReduceMax": reduction(Integers.greatest, None),
    "ReduceMin": reduction(Integers.least, None),
    "ReduceProd": reduction(Integers.mul, 1),
    "ReduceSum": reduction(lambda integers, a, b: a + b, 0),
    "Shape": shape,
    "Size": size,
}
