"""The rules that may say of a pair of terms that they are equal, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable

from padops.convert.proof import amounts, following, positions
from padops.convert.proof.result import Limits, Outcome, Verdict
from padops.convert.proof.terms import Kind, Terms

Prove = Callable[[int, int], bool]


def decide(terms: Terms, a: int, b: int, limits: Limits, prove: Prove) -> Outcome:
    """What the rules say of a pair.

    Args:
        terms: The store.
        a: A term of the original.
        b: A term of the converted model.
        limits: What a rule may cost.
        prove: Proves another pair, and unites it.
    """
    found = amounts.same(terms, a, b, prove)
    if found is not None:
        return found
    if not any(following.is_followed(terms, term) for term in (a, b)):
        return Outcome(Verdict.UNKNOWN, "", why=f"no rule relates {_named(terms, a)} and {_named(terms, b)}")
    return positions.decide(terms, a, b, limits)


def _named(terms: Terms, term: int) -> str:
    head = terms.head(term)
    if head.kind is Kind.CONSTANT:
        return f"a constant of dims {list(head.dims)}"
    return "Pad" if head.kind is Kind.PAD else f"{head.name or head.kind.value}"
