"""Elementwise operators with broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from padops.convert.proof.symbolic.demands import OVERFLOW
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, Truth, is_open
from padops.convert.proof.symbolic.moving import finished
from padops.convert.proof.symbolic.tensors import RANGES, Element, Index, Tensor

Function = Callable[..., Element]


def broadcast_dims(evaluation: Evaluation, shapes: Sequence[Sequence[Int]]) -> tuple[Int, ...]:
    """The broadcast shape of some shapes."""
    integers, rank = evaluation.integers, max(map(len, shapes))
    dims: list[Int] = []
    for axis in range(-rank, 0):
        dim: Int = 1
        for shape in shapes:
            if len(shape) < -axis:
                continue
            one = shape[axis]
            alike = integers.any(integers.equal(dim, one), integers.equal(dim, 1), integers.equal(one, 1))
            evaluation.require(alike, "dims that do not broadcast")
            dim = integers.where(integers.equal(dim, 1), one, dim)
        dims.append(dim)
    return tuple(dims)


def broadcast(evaluation: Evaluation, tensor: Tensor, shape: Sequence[Int]) -> Callable[[Index], Element]:
    """The elements of a tensor that is broadcast to a shape."""
    integers = evaluation.integers

    def at(index: Index) -> Element:
        own = index[len(index) - tensor.rank :]
        rows = zip(own, tensor.shape, shape[len(shape) - tensor.rank :])
        # If the broadcast dim is the tensor's own, so is the position; a dim of 1 has position 0.
        return tensor.at(
            [place if integers.equal(dim, whole) is True else integers.where(integers.equal(dim, 1), 0, place)
             for place, dim, whole in rows]
        )  # fmt: skip

    return at


def elementwise(
    evaluation: Evaluation, function: Function, inputs: Sequence[Tensor], dtype: int, fits: bool = False
) -> Tensor:
    """An elementwise function of broadcast inputs; ``fits`` demands that every result fits its type."""
    shape = broadcast_dims(evaluation, [one.shape for one in inputs])
    parts = [broadcast(evaluation, one, shape) for one in inputs]
    made = Tensor(shape, dtype, lambda index: function(*(part(index) for part in parts)))
    made = finished(evaluation, made, *inputs)
    if fits and not evaluation.wraps:
        _ask_for_fitting(evaluation, made)
    return made


def _ask_for_fitting(evaluation: Evaluation, made: Tensor) -> None:
    """Demands that every element of a tensor fits its type."""
    if made.listed is not None:
        for element in made.listed.reshape(-1):
            fitted(evaluation, element, made.dtype)
        return
    index = [evaluation.unknown("place", dim) for dim in made.shape]
    element = made.at(index)
    inside = [at < dim for at, dim in zip(index, made.shape)]
    if is_open(element):
        evaluation.flat.note(element)
        evaluation.must(_fits(evaluation, element, made.dtype), OVERFLOW, tuple(inside))


def _fits(evaluation: Evaluation, value: Int, dtype: int) -> Truth:
    low, high = RANGES[dtype]
    return evaluation.integers.all(value >= low, value <= high)


def fitted(evaluation: Evaluation, value: Int, dtype: int) -> Int:
    """An integer as its type holds it; demands that it fits, unless the evaluation follows overflow (``wraps``)."""
    if is_open(value) and not evaluation.wraps:
        evaluation.must(_fits(evaluation, value, dtype), OVERFLOW)
    return held(evaluation, value, dtype)


def held(evaluation: Evaluation, value: Int, dtype: int) -> Int:
    """An integer as its type holds it; on overflow, an unknown integer of the type."""
    low, high = RANGES[dtype]
    value = evaluation.integers.sum(value)
    if not is_open(value):
        return (value - low) % (high - low + 1) + low
    least, most = evaluation.integers.bounds(value)
    if not evaluation.wraps or (low <= least and most <= high):
        return value
    beyond = z3.Function(f"beyond {dtype}", z3.IntSort(), z3.IntSort())(value)
    evaluation.integers.bound(beyond, low, high)
    return evaluation.integers.where(z3.And(value >= low, value <= high), value, beyond)
