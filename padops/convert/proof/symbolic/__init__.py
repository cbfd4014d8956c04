"""Proofs for all sizes: two terms compared as functions of unknown dims, amounts and data, by an SMT solver.

A tensor is a shape of integers and a function from indices to elements. Two terms are the same if their dims and the
elements at any index are. Floats are bits of which nothing is known: they are moved, and never computed with.
"""

from __future__ import annotations

from importlib.util import find_spec

from padops.convert.proof.result import ALL_SIZES, Limits, Outcome, Verdict
from padops.convert.proof.terms import Terms

NOT_INSTALLED = "z3 is not installed: pip install padops[prove]"


def decide(terms: Terms, a: int, b: int, limits: Limits) -> Outcome:
    """Whether two terms are the same wherever the original runs.

    Returns:
        PROVED, with what it holds for; DIFFERENT where an input is found for which they seem to differ, which only a
        run of both models confirms; else UNKNOWN.
    """
    if find_spec("z3") is None:
        return Outcome(Verdict.UNKNOWN, ALL_SIZES, why=NOT_INSTALLED)
    from padops.convert.proof.symbolic.cases import decide_cases

    return decide_cases(terms, a, b, limits)
