"""Matches two models: proves pairs of terms equal, from the outputs back to the inputs.

Two terms are equal if they are the same term, apply the same operator to equal inputs, or if a rule proves the pair.
Such a pair is a region. Names prove nothing: values with the same name are only tried first.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from padops.convert.records import RegionRecord
from padops.convert.verify import following
from padops.convert.verify.build import TOP, Built
from padops.convert.verify.result import Outcome
from padops.convert.verify.terms import ABSENT, GIVEN, Head, Kind, Terms

Pair = tuple[int, int]
Goal = Generator["Goal", bool | None, bool]
Prove = Callable[[int, int], bool]
Decide = Callable[[int, int, Prove], Outcome]
DEEPEST = 40  # levels of nested goals: a rule may need another pair proved first
OTHERS = "they are two different inputs or constants"
UNUSED = "only the converted model computes {}, which nothing uses and which might fail"


class Matcher:
    """Proves pairs of terms; ``decide`` has the rules."""

    def __init__(self, terms: Terms, original: Built, converted: Built, decide: Decide) -> None:
        self._terms, self._original, self._converted, self._decide = terms, original, converted, decide
        self._failed: dict[Pair, dict[Pair, RegionRecord]] = {}
        self._depth = 0
        self.proved: list[RegionRecord] = []
        self._theirs = {term for names in converted.scopes.values() for term in names.values()}
        # The values that each body of the original always computes: its results need them.
        live = set(terms.walk(*(term for _, _, term in original.outputs)))
        self._live = {scope: set(names.values()) & live for scope, names in original.scopes.items()}
        self._live[TOP] |= set(original.inputs.values())
        for body in self._live.keys() - {TOP}:
            self._live[body] -= set(terms.inputs(body)[terms.head(body).outputs :])
        self._bodies = [TOP]
        terms.computed, terms.shared = self._is_computed, self._is_shared

    def prove(self, a: int, b: int) -> bool:
        """Whether the original's term ``a`` equals the converted model's term ``b``; unites equal terms."""
        if self._depth >= DEEPEST:
            return False
        self._depth += 1
        stack, answer = [self._goal(a, b)], None
        while stack:
            try:
                stack.append(stack[-1].send(answer))
                answer = None
            except StopIteration as end:
                stack.pop()
                answer = end.value
        self._depth -= 1
        return bool(answer)

    def causes(self, a: int, b: int) -> dict[Pair, RegionRecord]:
        """Returns the deepest unproved regions of a pair, at least one."""
        return self._failed.get((a, b)) or {(a, b): self._unknown(a, b, OTHERS)}

    def hint(self, scope: int, other: int) -> None:
        """Tries pairs of values with the same name; ``scope`` and ``other`` are a body of each model, or ``TOP``."""
        names = self._converted.scopes[other]
        for name, term in self._original.scopes[scope].items():
            if term in self._live[scope] and name in names and self._terms.find(term) != self._terms.find(names[name]):
                self.prove(term, names[name])

    def uncovered(self, unused: tuple[int, ...], scope: int) -> list[int]:
        """Lists unused values of the converted model that may fail and that the original does not compute."""
        known = {self._key(term) for term in self._original.scopes[scope].values()}
        return [term for term in unused if self._key(term) not in known and not following.is_total(self._terms, term)]

    def _is_computed(self, term: int) -> bool:
        """Whether the original computes an equal value in a body under comparison."""
        if self._terms.head(term).kind in GIVEN or self._terms.is_united(term):
            return True
        return any(term in self._live.get(body, ()) for body in self._bodies)

    def _is_shared(self, term: int) -> bool:
        return self._terms.is_united(term) or (term in self._theirs and self._is_computed(term))

    def _key(self, term: int) -> tuple[Head, tuple[int, ...]]:
        """A key that two terms share if the proofs so far make them the same computation."""
        return self._terms.head(term), tuple(self._terms.find(one) for one in self._terms.inputs(term))

    def _goal(self, a: int, b: int) -> Goal:
        terms = self._terms
        if terms.find(a) == terms.find(b):
            return True
        if ABSENT in (a, b) or (a, b) in self._failed:
            return False
        kinds = terms.head(a).kind, terms.head(b).kind
        if kinds[0] in GIVEN and kinds[1] in GIVEN:
            self._failed[a, b] = {}  # the term above is the region
            return False
        if Kind.BODY in kinds:
            return bool((yield self._graphs(a, b)))
        causes: dict[Pair, RegionRecord] = {}
        equal = terms.head(a) == terms.head(b) and len(terms.inputs(a)) == len(terms.inputs(b))
        for one, other in zip(terms.inputs(a), terms.inputs(b)) if equal else ():
            if not (yield self._goal(one, other)):
                equal = False
                causes |= self._failed.get((one, other), {})
                if following.moves_data(terms, a):
                    break
        if equal:
            terms.unite(a, b)
            return True
        outcome = self._decide(a, b, self.prove)
        region = self._region(a, b, outcome)
        if outcome.verdict == "proved":
            terms.unite(a, b)
            self.proved.append(region)
            return True
        if outcome.verdict == "different" or not causes:  # the models are run with its counterexample
            causes[a, b] = region
        self._failed[a, b] = causes
        return False

    def _graphs(self, a: int, b: int) -> Goal:
        """Compares two bodies, whose inputs are already the same terms."""
        terms, one, other = self._terms, self._terms.head(a), self._terms.head(b)
        inputs, others = terms.inputs(a), terms.inputs(b)
        if one != other or inputs[: one.output] != others[: one.output]:
            self._failed[a, b] = {(a, b): self._unknown(a, b, "two bodies of different form")}
            return False
        self._bodies.append(a)
        causes: dict[Pair, RegionRecord] = {}
        self.hint(a, b)
        for result, given in zip(inputs[one.output : one.outputs], others[one.output : one.outputs]):
            if not (yield self._goal(result, given)):
                causes |= self.causes(result, given)
        for term in self.uncovered(others[one.outputs :], a):
            causes[a, b] = self._unknown(a, b, UNUSED.format(named(terms, term)))
        self._bodies.pop()
        if causes:
            self._failed[a, b] = causes
            return False
        terms.unite(a, b)
        return True

    def _region(self, a: int, b: int, outcome: Outcome) -> RegionRecord:
        terms = self._terms
        mine, theirs = (set(following.cone(terms, root, terms.shared)) for root in (a, b))

        def operators(own: set[int]) -> tuple[str, ...]:
            return tuple(sorted(named(terms, one) for one in own if terms.head(one).kind in (Kind.OPERATOR, Kind.PAD)))

        name = terms.names.get(a) or named(terms, a)
        sides = operators(mine - theirs), operators(theirs - mine)
        return RegionRecord(name, *sides, **vars(outcome))

    def _unknown(self, a: int, b: int, why: str) -> RegionRecord:
        return self._region(a, b, Outcome("unknown", why=why))


def named(terms: Terms, term: int) -> str:
    """A term in words: its operator or its kind."""
    head = terms.head(term)
    if head.kind is Kind.CONSTANT:
        return f"a constant of dims {list(head.dims)}"
    return "Pad" if head.kind is Kind.PAD else f"{head.name or head.kind.value}"
