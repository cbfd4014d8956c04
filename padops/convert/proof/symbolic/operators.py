"""The supported operators; If, with both branches followed; Loop, unrolled if its number of iterations is known."""

from __future__ import annotations

from padops.convert.proof.following import BESIDES
from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.symbolic import elementwise, indexing, moving, pads, shaping
from padops.convert.proof.symbolic.evaluation import Evaluation, Operator
from padops.convert.proof.symbolic.integers import Truth, is_open
from padops.convert.proof.symbolic.tensors import BOOL, INT64, Element, Index, Tensor, objects, of_array
from padops.convert.proof.terms import ABSENT, Kind

MOST_TURNS = 32


def _bodies(evaluation: Evaluation, term: int) -> dict[str, int]:
    terms = evaluation.terms
    found = [one for one in terms.inputs(term) if one != ABSENT and terms.head(one).kind is Kind.BODY]
    return {terms.head(one).name: one for one in found}


def _result(evaluation: Evaluation, body: int, position: int) -> Tensor:
    """A result of a body. In the converted model, the body's other values must be computed as well."""
    head, inputs = evaluation.terms.head(body), evaluation.terms.inputs(body)
    if not evaluation.is_original:
        for one in inputs[head.output :]:
            evaluation.tensor(one)
    return evaluation.tensor(inputs[head.output + position])


def _choose(evaluation: Evaluation, term: int) -> Tensor:
    """If: the result of one of two branches."""
    given, bodies = evaluation.input(term, 0), _bodies(evaluation, term)
    condition = evaluation.integers.known(evaluation.truth(given, [0] * given.rank))
    for dim in given.shape:
        evaluation.require(evaluation.integers.equal(dim, 1), "If with a condition of more or fewer than one element")
    position = evaluation.terms.head(term).output
    if not is_open(condition):
        return _result(evaluation, bodies["then_branch" if condition else "else_branch"], position)
    yes = _branch(evaluation, bodies["then_branch"], position, condition)
    no = _branch(evaluation, bodies["else_branch"], position, evaluation.integers.negated(condition))
    if yes is None or no is None:
        if yes is None and no is None:
            raise Fails("both branches of an If fail")
        evaluation.require(condition if no is None else evaluation.integers.negated(condition), "a branch that fails")
        return yes or no or given
    if yes.rank != no.rank or yes.dtype != no.dtype:
        raise Unsupported("an If whose branches give tensors of different ranks or types")
    where = evaluation.integers.where

    def at(index: Index) -> Element:
        return where(condition, yes.at(index), no.at(index))

    return Tensor(tuple(where(condition, *pair) for pair in zip(yes.shape, no.shape)), yes.dtype, at)


def _branch(evaluation: Evaluation, body: int, position: int, condition: Truth) -> Tensor | None:
    """The result of a branch that is taken; None if the branch fails."""
    with evaluation.under(condition):
        try:
            return _result(evaluation, body, position)
        except Fails:
            return None


def _loop(evaluation: Evaluation, term: int) -> Tensor:
    """Loop, iteration by iteration."""
    terms, position = evaluation.terms, evaluation.terms.head(term).output
    body = _bodies(evaluation, term)["body"]
    head = terms.head(body)
    count = evaluation.optional(term, 0)
    if count is None or position >= head.output - 2:
        raise Unsupported("a Loop without a number of iterations, or a scan output of a Loop")
    numbers = evaluation.known(count)
    if len(numbers) != 1:
        raise Fails(f"a Loop with {len(numbers)} numbers of iterations")
    turns = numbers[0]
    if turns > MOST_TURNS:
        raise Unsupported(f"a Loop of {turns} iterations")
    going = evaluation.optional(term, 1)
    values = [evaluation.input(term, 2 + place) for place in range(head.output - 2)]
    goes_on: Truth = True if going is None else evaluation.truth(going, [0] * going.rank)
    for turn in range(max(turns, 0)):
        goes_on = evaluation.integers.known(goes_on)
        if is_open(goes_on):
            raise Unsupported("a Loop whose condition is not known")
        if not goes_on:
            break
        given = (turn, INT64), (True, BOOL)
        scalars = [of_array(evaluation.integers, objects([one], []), dtype) for one, dtype in given]
        formals = terms.inputs(body)[: head.output]
        with evaluation.bound(dict(zip(formals, [*scalars, *values]))):
            condition = _result(evaluation, body, 0)
            if condition.rank or condition.dtype != BOOL:
                raise Fails("a Loop whose body gives no single bool first")
            goes_on = evaluation.truth(condition, [])
            values = [_result(evaluation, body, 1 + place) for place in range(head.output - 2)]
    return values[position]


def _besides(evaluation: Evaluation, term: int) -> Tensor:
    """The first input of a term; all inputs must be computed."""
    return [evaluation.tensor(one) for one in evaluation.terms.inputs(term)][0]


# The supported operators, by name; operators of other domains with a ``domain::`` prefix.
OPERATORS: dict[str, Operator] = {
    **elementwise.OPERATORS,
    **indexing.OPERATORS,
    **moving.OPERATORS,
    **pads.OPERATORS,
    **shaping.OPERATORS,
    "If": _choose,
    "Loop": _loop,
    f"{BESIDES.domain}::{BESIDES.name}": _besides,
}
