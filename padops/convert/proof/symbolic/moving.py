"""Operators that move whole axes: the element at an index is an input's element at another index."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from padops.convert.proof.believing import ENDLESS
from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, is_open, same
from padops.convert.proof.symbolic.tensors import Element, Index, Tensor, nothing_of, objects, of_array
from padops.plural import plural


def finished(evaluation: Evaluation, made: Tensor, *inputs: Tensor) -> Tensor:
    """An operator's result: listed if all inputs are and its dims are known."""
    listed = all(one.listed is not None for one in inputs) and not any(map(is_open, made.shape))
    if listed and np.prod(made.shape, dtype=object) <= 4096:
        dims = [int(dim) for dim in made.shape]
        elements = [made.at(list(index)) for index in np.ndindex(*dims)]
        return of_array(evaluation.integers, objects(elements, dims), made.dtype)
    return made


def axis_of(value: int, rank: int) -> int:
    """An axis, counted from 0.

    Raises:
        Fails: There is no such axis.
    """
    if not -rank <= value < rank:
        raise Fails(f"axis {value} of rank {rank}")
    return value % rank


def axes_of(evaluation: Evaluation, term: int, position: int, rank: int) -> list[int] | None:
    """The axes in an input or an attribute, counted from 0; None if both are absent.

    Raises:
        Fails: There is no such axis, or one is named twice.
    """
    given = evaluation.optional(term, position)
    listed = evaluation.terms.attribute(term, "axes") if given is None else evaluation.known(given)
    if listed is None:
        return None
    axes = [axis_of(axis, rank) for axis in listed]
    if len(set(axes)) != len(axes):
        raise Fails(f"axes {axes}, one of them twice")
    return axes


def _transpose(evaluation: Evaluation, term: int) -> Tensor:
    data = evaluation.input(term, 0)
    order = list(evaluation.terms.attribute(term, "perm") or reversed(range(data.rank)))
    if sorted(order) != list(range(data.rank)):
        raise Fails(f"perm {order} of rank {data.rank}")
    made = Tensor(
        tuple(data.shape[axis] for axis in order),
        data.dtype,
        lambda index: data.at([index[order.index(axis)] for axis in range(data.rank)]),
    )
    return finished(evaluation, made, data)


def _concat(evaluation: Evaluation, term: int) -> Tensor:
    integers = evaluation.integers
    parts = [evaluation.input(term, position) for position in range(len(evaluation.terms.inputs(term)))]
    rank = parts[0].rank
    if any(part.rank != rank for part in parts):
        raise Fails(f"Concat of ranks {[part.rank for part in parts]}")
    default = 1 if evaluation.terms.head(term).version < 4 else None
    axis = axis_of(evaluation.terms.attribute(term, "axis", default), rank)
    for part in parts[1:]:
        for other, (one, two) in enumerate(zip(parts[0].shape, part.shape)):
            if other != axis:
                evaluation.require(integers.equal(one, two), "Concat of dims that do not fit")
    ends = list(accumulate(part.shape[axis] for part in parts))

    def at(index: Index) -> Element:
        found: Element = None
        for part, begin in reversed(list(zip(parts, [0, *ends]))):
            place = list(index)
            place[axis] = index[axis] - begin
            if not is_open(part.shape[axis]) and part.shape[axis] == 0:
                continue
            here = integers.less(index[axis], begin + part.shape[axis])
            if here is not False or found is None:  # elsewhere the part has no element
                found = part.at(place) if found is None else integers.where(here, part.at(place), found)
        return nothing_of(parts[0].dtype) if found is None else found

    shape = (*parts[0].shape[:axis], ends[-1], *parts[0].shape[axis + 1 :])
    return finished(evaluation, Tensor(shape, parts[0].dtype, at), *parts)


def _slice(evaluation: Evaluation, term: int) -> Tensor:
    terms, data = evaluation.terms, evaluation.input(term, 0)
    if terms.head(term).version < 10:
        starts, ends = list(terms.attribute(term, "starts", ())), list(terms.attribute(term, "ends", ()))
        axes, steps = terms.attribute(term, "axes"), None
    else:
        starts, ends = (evaluation.ints(evaluation.input(term, position)) for position in (1, 2))
        optionals = (evaluation.optional(term, position) for position in (3, 4))
        axes, steps = (None if one is None else evaluation.known(one) for one in optionals)
    listed = list(range(len(starts))) if axes is None else list(axes)
    strides = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(listed) == len(strides):
        raise Fails("Slice with lists of different lengths")
    places = [axis_of(axis, data.rank) for axis in listed]
    if len(set(places)) != len(places) or 0 in strides:
        raise Fails("Slice by an axis twice, or in steps of 0")
    cuts: dict[int, tuple[Int, int]] = {}
    shape = list(data.shape)
    for axis, start, end, step in zip(places, starts, ends, strides):
        if step < 0 and isinstance(end, int) and end in ENDLESS:
            raise Unsupported("a Slice backward to the largest integer, which runtimes do not agree on")
        first, shape[axis] = _cut(evaluation, data.shape[axis], start, end, step)
        cuts[axis] = (first, step)

    def at(index: Index) -> Element:
        return data.at([cuts[k][0] + cuts[k][1] * at if k in cuts else at for k, at in enumerate(index)])

    return finished(evaluation, Tensor(tuple(shape), data.dtype, at), data)


def _cut(evaluation: Evaluation, size: Int, start: Int, end: Int, step: int) -> tuple[Int, Int]:
    """The first position and the number of positions that a Slice takes of an axis."""
    integers = evaluation.integers
    start, end = (integers.where(bound < 0, bound + size, bound) for bound in (start, end))
    if step > 0:
        start, end = (integers.least(integers.greatest(bound, 0), size) for bound in (start, end))
        length = integers.greatest(end - start, 0)
        return start, length if step == 1 else integers.div(length + step - 1, step)
    last = size - 1
    start, end = integers.least(integers.greatest(start, 0), last), integers.least(integers.greatest(end, -1), last)
    length = integers.greatest(start - end, 0)
    return start, length if step == -1 else integers.div(length - step - 1, -step)


def _split(evaluation: Evaluation, term: int) -> Tensor:
    """One output of Split."""
    terms, data, head = evaluation.terms, evaluation.input(term, 0), evaluation.terms.head(term)
    axis = axis_of(terms.attribute(term, "axis", 0), data.rank)
    given = evaluation.optional(term, 1)
    sizes = terms.attribute(term, "split") if given is None else evaluation.ints(given)
    integers, size = evaluation.integers, data.shape[axis]
    if sizes is None:
        if head.version < 18:
            evaluation.require(integers.equal(integers.mod(size, head.outputs), 0), "Split into unequal parts")
        part = integers.div(size + head.outputs - 1, head.outputs)
        sizes = [part] * (head.outputs - 1)
        sizes.append(size - part * (head.outputs - 1))
    if len(sizes) != head.outputs:
        raise Fails(f"Split into {plural(len(sizes), 'part')} with {plural(head.outputs, 'output')}")
    for one in sizes:
        evaluation.require(one >= 0, "Split into a part of negative size")
    ends = list(accumulate(sizes))
    evaluation.require(integers.equal(ends[-1], size), "Split into parts that do not add up to the axis")
    begin = ends[head.output - 1] if head.output else 0

    def at(index: Index) -> Element:
        return data.at([place + begin if k == axis else place for k, place in enumerate(index)])

    shape = (*data.shape[:axis], sizes[head.output], *data.shape[axis + 1 :])
    return finished(evaluation, Tensor(shape, data.dtype, at), data)


def _unsqueeze(evaluation: Evaluation, term: int) -> Tensor:
    data, given = evaluation.input(term, 0), evaluation.optional(term, 1)
    listed = evaluation.terms.attribute(term, "axes", ()) if given is None else evaluation.known(given)
    rank = data.rank + len(listed)
    new = {axis_of(axis, rank) for axis in listed}
    if len(new) != len(listed):
        raise Fails(f"Unsqueeze at axes {list(listed)}, one of them twice")
    dims = iter(data.shape)
    shape = tuple(1 if axis in new else next(dims) for axis in range(rank))
    made = Tensor(shape, data.dtype, lambda index: data.at([p for k, p in enumerate(index) if k not in new]))
    return finished(evaluation, made, data)


def _squeeze(evaluation: Evaluation, term: int) -> Tensor:
    data = evaluation.input(term, 0)
    gone = axes_of(evaluation, term, 1, data.rank)
    if gone == []:
        raise Unsupported("Squeeze with an empty list of axes")
    if gone is None:
        if any(is_open(dim) for dim in data.shape):
            raise Unsupported("Squeeze without axes, of unknown dims")
        gone = [axis for axis, dim in enumerate(data.shape) if dim == 1]
    for axis in gone:
        is_one = evaluation.integers.equal(data.shape[axis], 1)
        evaluation.require(is_one, "Squeeze of an axis of more than one element")
    left = [axis for axis in range(data.rank) if axis not in gone]

    def at(index: Index) -> Element:
        place: list[Int] = [0] * data.rank
        for axis, position in zip(left, index):
            place[axis] = position
        return data.at(place)

    return finished(evaluation, Tensor(tuple(data.shape[axis] for axis in left), data.dtype, at), data)


def _tile(evaluation: Evaluation, term: int) -> Tensor:
    if evaluation.terms.head(term).version < 6:
        raise Unsupported("Tile of version 1")
    data, integers = evaluation.input(term, 0), evaluation.integers
    repeats = evaluation.ints(evaluation.input(term, 1))
    if len(repeats) != data.rank:
        raise Fails(f"Tile of rank {data.rank} with {len(repeats)} repeats")
    for one in repeats:
        evaluation.require(one >= 0, "Tile with negative repeats")

    def at(index: Index) -> Element:
        rows = zip(index, data.shape, repeats)
        return data.at([place if same(times, 1) else integers.mod(place, dim) for place, dim, times in rows])

    shape = tuple(integers.mul(dim, times) for dim, times in zip(data.shape, repeats))
    return finished(evaluation, Tensor(shape, data.dtype, at), data)


OPERATORS = {
    "Concat": _concat,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
