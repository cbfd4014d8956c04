"""Operators that never fail: what a model computes for nothing with them makes no difference."""

from __future__ import annotations

from padops.convert.proof.terms import Kind, Terms

# Of one input, element by element, or of its dims alone.
TOTAL = {
    "Abs",
    "Ceil",
    "Exp",
    "Floor",
    "Identity",
    "Neg",
    "Not",
    "Relu",
    "Shape",
    "Sigmoid",
    "Sign",
    "Size",
    "Sqrt",
    "Tanh",
}


def is_total(terms: Terms, term: int) -> bool:
    """Whether a term has a value wherever its inputs have one."""
    head = terms.head(term)
    return head.kind in (Kind.CONSTANT, Kind.INPUT, Kind.FORMAL) or terms.op(term) in TOTAL
