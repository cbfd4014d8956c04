"""The supported operators, by name; operators of other domains with a ``domain::`` prefix."""

from __future__ import annotations

from padops.convert.proof.following import BESIDES
from padops.convert.proof.symbolic import control, counting, indexing, moving, pads, shaping, vectors
from padops.convert.proof.symbolic.evaluation import Evaluation, Operator
from padops.convert.proof.symbolic.tensors import Tensor


def _besides(evaluation: Evaluation, term: int) -> Tensor:
    """The first input of a term; all inputs must be computed."""
    return [evaluation.tensor(one) for one in evaluation.terms.inputs(term)][0]


OPERATORS: dict[str, Operator] = {
    **control.OPERATORS,
    **counting.OPERATORS,
    **indexing.OPERATORS,
    **moving.OPERATORS,
    **pads.OPERATORS,
    **shaping.OPERATORS,
    **vectors.OPERATORS,
    f"{BESIDES.domain}::{BESIDES.name}": _besides,
}
