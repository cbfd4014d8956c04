"""Proofs for all sizes: an SMT solver compares two terms as functions of unknown dims, amounts and data.

A tensor is a shape of integers and a function from indices to elements. Two terms are equal if their dims and their
elements at every index are. Floats are opaque bits: operators move them and never compute with them.
"""

from __future__ import annotations

from importlib.util import find_spec

from padops.convert.proof.result import ALL_SIZES, Limits, Outcome, Verdict
from padops.convert.proof.terms import Terms

NOT_INSTALLED = "z3 is not installed: pip install padops[prove]"


def decide(terms: Terms, a: int, b: int, limits: Limits) -> Outcome:
    """Whether two terms are equal wherever the original runs.

    Returns:
        PROVED, with its scope; DIFFERENT with an input for which they seem to differ, to be confirmed by running both
        models; else UNKNOWN.
    """
    if find_spec("z3") is None:
        return Outcome(Verdict.UNKNOWN, ALL_SIZES, why=NOT_INSTALLED)
    from padops.convert.proof.symbolic.cases import decide_cases

    return decide_cases(terms, a, b, limits)
