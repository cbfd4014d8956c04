"""Compares a region of known dims: both parts run once, on the positions of elements instead of the elements.

An operator that only moves data decides nothing but where each element comes from. If both parts give the same element
at each position, they agree for all data.
"""

from __future__ import annotations

from padops.convert.proof.positions.evaluation import Evaluation
from padops.convert.proof.result import Fails, Limits, Outcome, Unsupported, Verdict
from padops.convert.proof.terms import Terms

RULE = "positions"


def decide(terms: Terms, a: int, b: int, limits: Limits | None = None) -> Outcome:
    """Compares two terms by the positions that their elements come from.

    Returns:
        PROVED for all data of these dims; DIFFERENT; or UNKNOWN with the reason, such as unknown dims.
    """
    limits = limits or Limits()
    first = _compare(terms, a, b, limits, deep=False)
    if first.verdict is Verdict.PROVED:
        return first
    deep = _compare(terms, a, b, limits, deep=True)
    return first if deep.verdict is Verdict.UNKNOWN and first.verdict is Verdict.UNKNOWN else deep


def _compare(terms: Terms, a: int, b: int, limits: Limits, deep: bool) -> Outcome:
    """One comparison; ``deep`` also follows terms that both models share, as far as they move data."""
    evaluation = Evaluation(terms, a, b, limits.elements, deep)
    try:
        one = evaluation.value(a)
    except Unsupported as why:
        return Outcome(Verdict.UNKNOWN, RULE, why=str(why))
    except Fails as why:
        return Outcome(Verdict.UNKNOWN, RULE, why=f"the original fails, whatever the data are: {why}")
    try:
        difference = evaluation.difference(one, evaluation.value(b))
    except Unsupported as why:
        return Outcome(Verdict.UNKNOWN, RULE, why=str(why))
    except Fails as why:
        found = f"the converted model fails where the original runs: {why}"
        return Outcome(Verdict.DIFFERENT, RULE, why=found, counterexample=evaluation.dims(), new_errors=1)
    if difference:
        return Outcome(Verdict.DIFFERENT, RULE, why=difference, counterexample=evaluation.dims())
    return Outcome(Verdict.PROVED, RULE, holds_for="all data, these dims", conditions=evaluation.conditions())
