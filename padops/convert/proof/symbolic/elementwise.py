"""Elementwise operators with broadcasting, on integers and bools; other elements are not supported."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial, reduce

import z3

from padops.convert.proof.result import Unsupported
from padops.convert.proof.symbolic.demands import OVERFLOW
from padops.convert.proof.symbolic.evaluation import Evaluation, Operator
from padops.convert.proof.symbolic.integers import Int, Integers, Truth, is_open
from padops.convert.proof.symbolic.moving import finished
from padops.convert.proof.symbolic.tensors import BOOL, RANGES, Element, Index, Tensor, is_integer

Tensors = list[Tensor]


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
    evaluation: Evaluation, function: Callable[..., Element], inputs: Sequence[Tensor], dtype: int, fits: bool = False
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


def _inputs(evaluation: Evaluation, term: int, dtypes: Collection[int] = RANGES, what: str = "integers") -> Tensors:
    """All inputs of a term. Other element types, and broadcasting by attributes (before version 7), are unsupported."""
    inputs = [evaluation.input(term, position) for position in range(len(evaluation.terms.inputs(term)))]
    if any(one.dtype not in dtypes for one in inputs):
        raise Unsupported(f"{evaluation.terms.op(term)} of elements that are no {what}")
    if evaluation.terms.attribute(term, "broadcast") or evaluation.terms.attribute(term, "axis") is not None:
        raise Unsupported("broadcasting along given axes")
    return inputs


def _arithmetic(function: Callable[[Integers, Int, Int], Int]) -> Operator:
    """An operator on integers, with any number of inputs."""

    def operator(evaluation: Evaluation, term: int) -> Tensor:
        first, *others = _inputs(evaluation, term)

        def compute(one: Int, other: Int) -> Int:
            return held(evaluation, function(evaluation.integers, one, other), first.dtype)

        return reduce(
            lambda one, other: elementwise(evaluation, compute, (one, other), first.dtype, fits=True), others, first
        )

    return operator


def _truncated(integers: Integers, number: Int, divisor: Int) -> Int:
    """The quotient, rounded towards 0."""
    size = integers.div(_size(integers, number), _size(integers, divisor))
    alike = _alike(integers, integers.less(number, 0), integers.less(divisor, 0))
    return integers.where(alike, size, -size)


def _size(integers: Integers, number: Int) -> Int:
    return integers.where(integers.less(number, 0), -number, number)


def _remainder(integers: Integers, number: Int, divisor: Int) -> Int:
    """The remainder, with the divisor's sign."""
    size = _size(integers, divisor)
    turned = integers.where(integers.less(divisor, 0), -number, number)
    rest = integers.mod(turned, size)
    return integers.where(integers.less(divisor, 0), -rest, rest)


def _fmod(integers: Integers, number: Int, divisor: Int) -> Int:
    """The remainder, with the number's sign."""
    rest = integers.mod(_size(integers, number), _size(integers, divisor))
    return integers.where(integers.less(number, 0), -rest, rest)


def _division(evaluation: Evaluation, term: int) -> Tensor:
    """Div and Mod, which fail for a divisor of 0."""
    function = _truncated
    if evaluation.terms.op(term) == "Mod":
        function = _fmod if evaluation.terms.attribute(term, "fmod", 0) else _remainder
    divisor = _inputs(evaluation, term)[1]
    evaluation.require_each(divisor.shape, lambda index: divisor.at(index) != 0, "division by 0")
    return _arithmetic(function)(evaluation, term)


def _comparison(function: Callable[[Integers, Element, Element], Truth]) -> Operator:
    """An operator that compares integers."""
    return lambda evaluation, term: elementwise(
        evaluation, lambda a, b: function(evaluation.integers, a, b), _inputs(evaluation, term), BOOL
    )


def _equal(evaluation: Evaluation, term: int) -> Tensor:
    """Equal of integers or bools. Floats are not supported: 0 equals -0, and NaN equals nothing."""
    inputs = _inputs(evaluation, term, {*RANGES, BOOL})
    if inputs[0].dtype == BOOL:
        return elementwise(evaluation, lambda a, b: _alike(evaluation.integers, a, b), inputs, BOOL)
    return elementwise(evaluation, evaluation.integers.equal, inputs, BOOL)


def _alike(integers: Integers, one: Truth, other: Truth) -> Truth:
    return integers.any(integers.all(one, other), integers.all(integers.negated(one), integers.negated(other)))


def _logic(function: Callable[..., Truth]) -> Operator:
    """Returns the rule of And, Or or Xor; ``function`` computes it for two elements."""
    return lambda evaluation, term: elementwise(
        evaluation, partial(function, evaluation.integers), _inputs(evaluation, term, {BOOL}, "bools"), BOOL
    )


def _unary(evaluation: Evaluation, term: int) -> Tensor:
    """Neg and Abs."""
    (data,) = _inputs(evaluation, term)
    op, integers = evaluation.terms.op(term), evaluation.integers

    def compute(value: Int) -> Int:
        return held(evaluation, -value if op == "Neg" else _size(integers, value), data.dtype)

    return elementwise(evaluation, compute, [data], data.dtype, fits=True)


def _cast(evaluation: Evaluation, term: int) -> Tensor:
    """Cast between integers and bools."""
    data, to = evaluation.input(term, 0), evaluation.terms.attribute(term, "to")
    if data.dtype == to and to:
        return data
    if not is_integer(data.dtype) or not is_integer(to):
        raise Unsupported("a Cast from or to other types than integers")
    integers = evaluation.integers

    def compute(element: Element) -> Element:
        if to == BOOL:
            return integers.negated(integers.equal(element, 0))
        return held(evaluation, integers.where(element, 1, 0) if data.dtype == BOOL else element, to)

    return elementwise(evaluation, compute, [data], to, fits=to != BOOL)


OPERATORS = {
    "Abs": _unary,
    "Add": _arithmetic(lambda integers, a, b: a + b),
    "And": _logic(Integers.all),
    "Cast": _cast,
    "Div": _division,
    "Equal": _equal,
    "Greater": _comparison(lambda integers, a, b: integers.less(b, a)),
    "GreaterOrEqual": _comparison(lambda integers, a, b: integers.negated(integers.less(a, b))),
    "Less": _comparison(Integers.less),
    "LessOrEqual": _comparison(lambda integers, a, b: integers.negated(integers.less(b, a))),
    "Max": _arithmetic(Integers.greatest),
    "Min": _arithmetic(Integers.least),
    "Mod": _division,
    "Mul": _arithmetic(Integers.mul),
    "Neg": _unary,
    "Not": _logic(Integers.negated),
    "Or": _logic(Integers.any),
    "Sub": _arithmetic(lambda integers, a, b: a - b),
}
