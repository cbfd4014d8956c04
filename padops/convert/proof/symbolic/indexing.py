"""Operators that move elements to and from positions that an input gives."""

from __future__ import annotations

import z3

from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.symbolic.elementwise import elementwise
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, is_open
from padops.convert.proof.symbolic.moving import axis_of, finished
from padops.convert.proof.symbolic.tensors import RANGES, Element, Index, Tensor

FEW = 4  # up to so many alternatives of an if-then-else index are looked up one by one


def _from_end(evaluation: Evaluation, given: Int, size: Int) -> Int:
    """The position that an index stands for; negative indices count from the end."""
    integers = evaluation.integers
    return integers.where(integers.less(given, 0), given + size, given)


def _choices(value: z3.ExprRef) -> int:
    """The number of alternatives of an if-then-else."""
    if value.decl().kind() != z3.Z3_OP_ITE:
        return 1
    return _choices(value.arg(1)) + _choices(value.arg(2))


def _within(evaluation: Evaluation, indices: Tensor, size: Int, what: str) -> None:
    """Requires every index to be within an axis."""
    if indices.dtype not in RANGES:
        raise Unsupported(f"{what} by indices of unknown type")
    integers = evaluation.integers

    def fits(index: Index) -> object:
        given = indices.at(index)
        evaluation.flat.note(given)
        return integers.all(given >= -size, given < size)

    evaluation.require_each(indices.shape, fits, f"{what} beyond an axis")


def _gather(evaluation: Evaluation, term: int) -> Tensor:
    data, indices = evaluation.input(term, 0), evaluation.input(term, 1)
    axis = axis_of(evaluation.terms.attribute(term, "axis", 0), data.rank)
    size, behind = data.shape[axis], axis + indices.rank
    _within(evaluation, indices, size, "Gather")

    def shown(index: Index, given: Int) -> Element:
        if data.rank == 1 and is_open(given) and given.decl().kind() == z3.Z3_OP_ITE and _choices(given) <= FEW:
            condition, yes, no = given.children()
            return evaluation.integers.where(condition, shown(index, yes), shown(index, no))
        place = _from_end(evaluation, given, size)
        return data.at([*index[:axis], place, *index[behind:]])

    def at(index: Index) -> Element:
        return shown(index, indices.at(index[axis:behind]))

    shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
    return finished(evaluation, Tensor(shape, data.dtype, at), data, indices)


def _gather_elements(evaluation: Evaluation, term: int) -> Tensor:
    data, indices = evaluation.input(term, 0), evaluation.input(term, 1)
    axis = axis_of(evaluation.terms.attribute(term, "axis", 0), data.rank)
    _same_rank(evaluation, data, indices, axis, "GatherElements")
    size = data.shape[axis]

    def at(index: Index) -> Element:
        place = list(index)
        place[axis] = _from_end(evaluation, indices.at(index), size)
        return data.at(place)

    return finished(evaluation, Tensor(indices.shape, data.dtype, at), data, indices)


def _same_rank(evaluation: Evaluation, data: Tensor, indices: Tensor, axis: int, what: str) -> None:
    if indices.rank != data.rank:
        raise Fails(f"{what} of rank {data.rank} by indices of rank {indices.rank}")
    for other, (one, most) in enumerate(zip(indices.shape, data.shape)):
        if other != axis:
            evaluation.require(one <= most, f"{what} beyond an axis")
    _within(evaluation, indices, data.shape[axis], what)


def _scatter_elements(evaluation: Evaluation, term: int) -> Tensor:
    """ScatterElements into a vector. Two updates of one place are undefined, so the proofs must rule them out."""
    terms, integers = evaluation.terms, evaluation.integers
    data, indices, updates = (evaluation.input(term, position) for position in range(3))
    if data.rank != 1 or (terms.attribute(term, "reduction") or b"none") != b"none":
        raise Unsupported("ScatterElements of more than a vector, or with a reduction")
    axis_of(terms.attribute(term, "axis", 0), data.rank)
    _same_rank(evaluation, data, indices, 0, "ScatterElements")
    places = [integers.where(given < 0, given + data.shape[0], given) for given in evaluation.ints(indices)]
    given = evaluation.elements(updates).reshape(-1)
    if len(given) != len(places) or updates.rank != 1:
        raise Fails("ScatterElements with more or fewer updates than indices")
    for later, place in enumerate(places):
        for before in places[:later]:
            evaluation.must(integers.negated(integers.equal(place, before)), "ScatterElements to one place twice")

    def at(index: Index) -> Element:
        found = data.at(index)
        for place, element in zip(places, given):
            found = integers.where(integers.equal(index[0], place), element, found)
        return found

    return finished(evaluation, Tensor(data.shape, data.dtype, at), data)


def _where(evaluation: Evaluation, term: int) -> Tensor:
    condition, yes, no = (evaluation.input(term, position) for position in range(3))
    evaluation.truth(condition, [0] * condition.rank)
    return elementwise(evaluation, evaluation.integers.where, (condition, yes, no), yes.dtype or no.dtype)


OPERATORS = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "ScatterElements": _scatter_elements,
    "Where": _where,
}
