"""The rules that may prove a pair of terms equal, in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from padops.convert.proof import amounts, following, positions, symbolic, windows
from padops.convert.proof.result import Limits, Outcome, Verdict
from padops.convert.proof.terms import Kind, Terms

Prove = Callable[[int, int], bool]


def decide(terms: Terms, a: int, b: int, limits: Limits, prove: Prove) -> Outcome:
    """The rules' outcome for a pair.

    The rule of windows or of amounts decides if it applies. Else positions are compared: by facts alone and, if these
    prove nothing, with the dims that the original declares; then the conditions name these dims. ``prove`` proves
    another pair.
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
        return Outcome(Verdict.UNKNOWN, why=why)
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
    """The outcome of comparing positions: for known dims, then for all dims."""
    found = positions.decide(terms, a, b, limits)
    return found if found.verdict is not Verdict.UNKNOWN else symbolic.decide(terms, a, b, limits)


def named(terms: Terms, term: int) -> str:
    """A term in words: its operator or its kind."""
    head = terms.head(term)
    if head.kind is Kind.CONSTANT:
        return f"a constant of dims {list(head.dims)}"
    return "Pad" if head.kind is Kind.PAD else f"{head.name or head.kind.value}"
