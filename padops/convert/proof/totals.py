"""Operators that never fail: unused values that only they compute make no difference."""

from __future__ import annotations

from padops.convert.proof.terms import Kind, Terms

# Unary: elementwise, or of the dims alone.
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
    """Whether a term has a value wherever its inputs have values."""
    head = terms.head(term)
    return head.kind in (Kind.CONSTANT, Kind.INPUT, Kind.FORMAL) or terms.op(term) in TOTAL
