"""Operators that compute with integers and bools; other elements are not supported."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from padops.convert.proof.symbolic.elementwise import elementwise, held
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, Integers, Truth
from padops.convert.proof.symbolic.tensors import BOOL, RANGES, Element, Tensor, Unsupported, is_integer


def _check_repetition(evaluation: Evaluation, term: int) -> None:
    """Rejects broadcasting by attributes, as before version 7."""
    if evaluation.terms.attribute(term, "broadcast") or evaluation.terms.attribute(term, "axis") is not None:
        raise Unsupported("broadcasting along given axes")


def _integers(evaluation: Evaluation, term: int) -> list[Tensor]:
    """All inputs of a term, which must be of integers."""
    inputs = [evaluation.input(term, position) for position in range(len(evaluation.terms.inputs(term)))]
    if any(one.dtype not in RANGES for one in inputs):
        raise Unsupported(f"{evaluation.terms.op(term)} of elements that are no integers")
    return inputs


def arithmetic(function: Callable[[Integers, Int, Int], Int]) -> Callable[[Evaluation, int], Tensor]:
    """An operator on integers, with any number of inputs."""

    def operator(evaluation: Evaluation, term: int) -> Tensor:
        first, *others = _integers(evaluation, term)
        _check_repetition(evaluation, term)
        dtype = first.dtype

        def compute(one: Int, other: Int) -> Int:
            return held(evaluation, function(evaluation.integers, one, other), dtype)

        return reduce(
            lambda one, other: elementwise(evaluation, compute, (one, other), dtype, fits=True), others, first
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


def division(evaluation: Evaluation, term: int) -> Tensor:
    """Div and Mod, which fail for a divisor of 0."""
    inputs = _integers(evaluation, term)
    function = _truncated
    if evaluation.terms.op(term) == "Mod":
        function = _fmod if evaluation.terms.attribute(term, "fmod", 0) else _remainder
    _check_repetition(evaluation, term)
    evaluation.require_each(inputs[1].shape, lambda index: _not_zero(inputs[1].at(index)), "division by 0")
    dtype = inputs[0].dtype

    def compute(one: Int, other: Int) -> Int:
        return held(evaluation, function(evaluation.integers, one, other), dtype)

    return elementwise(evaluation, compute, inputs, dtype, fits=True)


def _not_zero(value: Int) -> Truth:
    return value != 0


def comparison(function: Callable[[Integers, Element, Element], Truth]) -> Callable[[Evaluation, int], Tensor]:
    """An operator that compares integers."""

    def operator(evaluation: Evaluation, term: int) -> Tensor:
        return elementwise(
            evaluation, lambda a, b: function(evaluation.integers, a, b), _integers(evaluation, term), BOOL
        )

    return operator


def equal(evaluation: Evaluation, term: int) -> Tensor:
    """Equal of integers or bools. Floats are not supported: 0 equals -0, and NaN equals nothing.

    Raises:
        Unsupported: The proofs do not support it.
    """
    inputs = [evaluation.input(term, 0), evaluation.input(term, 1)]
    _check_repetition(evaluation, term)
    if not all(is_integer(one.dtype) for one in inputs):
        raise Unsupported("Equal of elements that are no integers")
    if inputs[0].dtype == BOOL:
        return elementwise(evaluation, lambda a, b: _alike(evaluation.integers, a, b), inputs, BOOL)
    return elementwise(evaluation, evaluation.integers.equal, inputs, BOOL)


def _alike(integers: Integers, one: Truth, other: Truth) -> Truth:
    return integers.any(integers.all(one, other), integers.all(integers.negated(one), integers.negated(other)))


def logic(function: Callable[..., Callable[..., Truth]]) -> Callable[[Evaluation, int], Tensor]:
    """An operator on bools."""

    def operator(evaluation: Evaluation, term: int) -> Tensor:
        inputs = [evaluation.input(term, position) for position in range(len(evaluation.terms.inputs(term)))]
        _check_repetition(evaluation, term)
        if any(one.dtype != BOOL for one in inputs):
            raise Unsupported("bools are expected")
        return elementwise(evaluation, function(evaluation.integers), inputs, BOOL)

    return operator


def unary(evaluation: Evaluation, term: int) -> Tensor:
    """Neg and Abs."""
    (data,) = _integers(evaluation, term)
    op, integers = evaluation.terms.op(term), evaluation.integers

    def compute(value: Int) -> Int:
        return held(evaluation, -value if op == "Neg" else _size(integers, value), data.dtype)

    return elementwise(evaluation, compute, [data], data.dtype, fits=True)


def cast(evaluation: Evaluation, term: int) -> Tensor:
    """Cast between integers and bools.

    Raises:
        Unsupported: The proofs do not support it.
    """
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
    "Abs": unary,
    "Add": arithmetic(lambda integers, a, b: a + b),
    "And": logic(lambda integers: integers.all),
    "Cast": cast,
    "Div": division,
    "Equal": equal,
    "Greater": comparison(lambda integers, a, b: integers.less(b, a)),
    "GreaterOrEqual": comparison(lambda integers, a, b: integers.negated(integers.less(a, b))),
    "Less": comparison(lambda integers, a, b: integers.less(a, b)),
    "LessOrEqual": comparison(lambda integers, a, b: integers.negated(integers.less(b, a))),
    "Max": arithmetic(Integers.greatest),
    "Min": arithmetic(Integers.least),
    "Mod": division,
    "Mul": arithmetic(Integers.mul),
    "Neg": unary,
    "Not": logic(lambda integers: integers.negated),
    "Or": logic(lambda integers: integers.any),
    "Sub": arithmetic(lambda integers, a, b: a - b),
}
