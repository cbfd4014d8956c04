"""The rules that may say of a pair of terms that they are equal, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from padops.convert.proof import amounts, following, positions, symbolic, windows
from padops.convert.proof.result import Limits, Outcome, Verdict
from padops.convert.proof.terms import Kind, Terms

Prove = Callable[[int, int], bool]


def decide(terms: Terms, a: int, b: int, limits: Limits, prove: Prove) -> Outcome:
    """What the rules say of a pair.

    A pair that one rule proves is proved. Else the one that looks at the most dims has the word: what known dims alone
    leave open, or an input for which the two seem to differ.
    """
    for rule in (windows.same, amounts.same):
        found = rule(terms, a, b, prove)
        if found is not None:
            return found
    if not any(following.is_followed(terms, term) for term in (a, b)):
        one, other = named(terms, a), named(terms, b)
        why = f"no rule relates {one} and {other}"
        if terms.head(a) == terms.head(b):
            why = f"two {one} are applied to values that are not proved equal"
        return Outcome(Verdict.UNKNOWN, "", why=why)
    found = _by_maps(terms, a, b, limits)
    if found.verdict is Verdict.PROVED or not any(
        terms.is_declared(term) for term in following.cone(terms, a) if term != a
    ):
        return found
    known = dict(terms.assumed)
    with terms.trusting():
        trusting = _by_maps(terms, a, b, limits)
    new = tuple(sentence for sentence in terms.assumed if sentence not in known)
    if trusting.verdict is Verdict.PROVED:
        return replace(trusting, conditions=(*trusting.conditions, *new))
    terms.assumed.clear()
    terms.assumed.update(known)
    return found


def _by_maps(terms: Terms, a: int, b: int, limits: Limits) -> Outcome:
    """What the maps from places to elements say: of known dims, then of all."""
    found = positions.decide(terms, a, b, limits)
    return found if found.verdict is not Verdict.UNKNOWN else symbolic.decide(terms, a, b, limits)


def named(terms: Terms, term: int) -> str:
    """What a term is, in words: its operator, or what else it is."""
    head = terms.head(term)
    if head.kind is Kind.CONSTANT:
        return f"a constant of dims {list(head.dims)}"
    return "Pad" if head.kind is Kind.PAD else f"{head.name or head.kind.value}"
