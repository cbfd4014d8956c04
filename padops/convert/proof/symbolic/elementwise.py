"""Functions of the elements that stand at the same place, once shapes have been made equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, is_open
from padops.convert.proof.symbolic.moving import finished
from padops.convert.proof.symbolic.tensors import RANGES, Element, Index, Tensor

Function = Callable[..., Element]


def broadcast_dims(evaluation: Evaluation, shapes: Sequence[Sequence[Int]]) -> tuple[Int, ...]:
    """The dims that some dims make together: of each axis those that are not 1, which have to be equal."""
    integers, rank = evaluation.integers, max(map(len, shapes))
    dims: list[Int] = []
    for axis in range(-rank, 0):
        dim: Int = 1
        for shape in shapes:
            if len(shape) < -axis:
                continue
            one = shape[axis]
            alike = integers.any(integers.equal(dim, one), integers.equal(dim, 1), integers.equal(one, 1))
            evaluation.require(alike, "dims that do not go together")
            dim = integers.where(integers.equal(dim, 1), one, dim)
        dims.append(dim)
    return tuple(dims)


def broadcast(evaluation: Evaluation, tensor: Tensor, shape: Sequence[Int]) -> Callable[[Index], Element]:
    """The element of a tensor that stands at an index of a shape that it is repeated to."""
    integers = evaluation.integers

    def at(index: Index) -> Element:
        own = index[len(index) - tensor.rank :]
        rows = zip(own, tensor.shape, shape[len(shape) - tensor.rank :])
        # Where the whole dim is the tensor's own, its position is as well: 0 where there is one element.
        return tensor.at(
            [place if integers.equal(dim, whole) is True else integers.where(integers.equal(dim, 1), 0, place)
             for place, dim, whole in rows]
        )  # fmt: skip

    return at


def elementwise(evaluation: Evaluation, function: Function, inputs: Sequence[Tensor], dtype: int) -> Tensor:
    """A function of the elements that stand at the same place, once the shapes have been made equal.

    Args:
        evaluation: Gets what has to hold.
        function: Of as many elements as there are inputs.
        inputs: The tensors.
        dtype: Of what it gives.
    """
    shape = broadcast_dims(evaluation, [one.shape for one in inputs])
    parts = [broadcast(evaluation, one, shape) for one in inputs]
    made = Tensor(shape, dtype, lambda index: function(*(part(index) for part in parts)))
    return finished(evaluation, made, *inputs)


def fitted(evaluation: Evaluation, value: Int, dtype: int) -> Int:
    """An integer as its type holds it; of one that it cannot hold, only that it is one that it can."""
    low, high = RANGES[dtype]
    value = evaluation.integers.sum(value)
    if not is_open(value):
        return (value - low) % (high - low + 1) + low
    least, most = evaluation.integers.bounds(value)
    if low <= least and most <= high:
        return value
    beyond = z3.Function(f"beyond {dtype}", z3.IntSort(), z3.IntSort())(value)
    evaluation.integers.bound(beyond, low, high)
    return evaluation.integers.where(z3.And(value >= low, value <= high), value, beyond)
