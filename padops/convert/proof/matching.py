"""Matches two models: pairs of terms are proved equal, from the inputs on.

Two terms are equal if they are one term, if they apply one operator to equal inputs, or if a rule proves the pair,
which is then a region. Values of one name in both models are tried as pairs; a name proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace

from padops.convert.proof import amounts, following, schemas
from padops.convert.proof.build import TOP, Built
from padops.convert.proof.deciding import decide, named
from padops.convert.proof.result import DRAWN, Limits, Outcome, Region, Verdict
from padops.convert.proof.scopes import Scopes
from padops.convert.proof.terms import ABSENT, GIVEN, Head, Kind, Terms

Pair = tuple[int, int]
Goal = Generator["Goal", bool, bool]
Run = Callable[[int, int, Outcome], Outcome]  # runs a pair of terms in isolation, given the rules' outcome
DEEPEST = 40  # nested goals: a rule may need another pair proved first
OTHERS = "they are two different inputs or constants"


class Matcher:
    """Proves pairs of terms."""

    def __init__(self, terms: Terms, original: Built, converted: Built, limits: Limits) -> None:
        self._terms, self._original, self._converted, self._limits = terms, original, converted, limits
        self._scopes, self._rows = Scopes(terms, original, converted), amounts.Rows(terms)
        self._failed: list[dict[Pair, tuple[Region, ...]]] = [{}]
        self._depth = 0
        self._end = time.monotonic() + limits.seconds
        self._run: Run | None = None
        self._undecided: dict[Pair, Outcome] = {}
        self.proved: list[Region] = []

    def start_running(self, run: Run) -> None:
        """From now on, ``run`` tries the main graph's pairs that no rule proves; failed pairs are tried again.

        A pair that runs as TESTED counts as equal, without a proof.
        """
        self._run, self._failed = run, [{}]
        self._end = time.monotonic() + self._limits.seconds

    def prove(self, a: int, b: int) -> bool:
        """Whether the original's term ``a`` equals the converted model's term ``b``; unites equal terms."""
        if self._depth >= DEEPEST:
            return False
        self._depth += 1
        stack: list[Goal] = [self._goal(a, b)]
        answer = False
        started = False
        while stack:
            try:
                stack.append(stack[-1].send(answer) if started else next(stack[-1]))
                started = False
            except StopIteration as end:
                stack.pop()
                answer, started = bool(end.value), True
        self._depth -= 1
        return answer

    def causes(self, a: int, b: int) -> tuple[Region, ...]:
        """Why a pair was not proved: the deepest unproved regions, at least one."""
        return self._known_causes(a, b) or (self._unknown(a, b, OTHERS),)

    def _known_causes(self, a: int, b: int) -> tuple[Region, ...]:
        return next((failed[a, b] for failed in reversed(self._failed) if (a, b) in failed), ())

    def hint(self, scope: int, other: int) -> None:
        """Tries pairs of values of one name, in the original's order.

        ``scope`` and ``other`` are a body of each model, or ``TOP``.
        """
        names = self._converted.scopes[other]
        for name, term in self._original.scopes[scope].items():
            if name in names and self._terms.find(term) != self._terms.find(names[name]):
                if self._scopes.computes(term) and time.monotonic() < self._end:
                    self.prove(term, names[name])

    def uncovered(self, terms: tuple[int, ...], original: dict[str, int]) -> list[int]:
        """Unused values of the converted model that might fail: neither total nor computed by the original.

        ``original`` has all values of the original's graph, unused ones included.
        """
        known = {self._key(term) for term in original.values()}
        rest = {term for term in terms if self._key(term) not in known and not following.is_total(self._terms, term)}
        inner = {one for term in rest for one in self._terms.inputs(term)}
        covered: set[int] = set()
        for term in rest - inner:
            if self._runs_beside(term):
                covered |= set(self._terms.walk(term))
        return [term for term in terms if term in rest - covered]

    def _runs_beside(self, term: int) -> bool:
        """Whether an unused value cannot fail wherever a proved region of the original runs."""
        own = self._followed(term)
        for a, b in [region.terms for region in self.proved]:
            if not self._scopes.computes(a) or own.isdisjoint(self._followed(b)):
                continue
            both = self._terms.add(following.BESIDES, (b, term))
            if self._decided(a, both).verdict is Verdict.PROVED:
                return True
        return False

    def _followed(self, term: int) -> set[int]:
        """The terms below a term, without constants."""
        found = following.cone(self._terms, term)
        return {self._terms.find(one) for one in found if self._terms.head(one).kind is not Kind.CONSTANT}

    def _key(self, term: int) -> tuple[Head, tuple[int, ...]]:
        """A key that two terms share if they are one computation, by the proofs so far."""
        inputs = tuple(self._terms.find(one) for one in self._terms.inputs(term))
        return self._terms.head(term), inputs

    def _goal(self, a: int, b: int) -> Goal:
        terms = self._terms
        if terms.find(a) == terms.find(b):
            return True
        if ABSENT in (a, b) or any((a, b) in failed for failed in self._failed):
            return False
        if terms.head(a).kind in GIVEN and terms.head(b).kind in GIVEN:
            self._failed[-1][a, b] = ()  # the region is the term above them
            return False
        if terms.head(a).kind is Kind.BODY:
            return (yield self._bodies(a, b))
        padded = self._rows.data(a, b)
        if padded is not None and (yield self._goal(*padded)):
            return self._unite(a, b, Outcome(Verdict.PROVED, amounts.RULE, "all data, all dims"))
        causes: list[Region] = []
        equal = self._are_like(a, b)
        if equal:
            for one, other in zip(terms.inputs(a), terms.inputs(b)):
                if not equal and terms.head(one).kind is Kind.BODY:
                    break  # facts of a body's inputs follow from the node's inputs
                if not (yield self._goal(one, other)):
                    equal = False
                    causes += self._known_causes(one, other)
                    if following.moves_data(terms, a):
                        break
        if equal:
            terms.unite(a, b)
            return True
        yield self._pair_leaves(a, b)
        outcome = self._decided(a, b)
        if outcome.verdict is not Verdict.PROVED and not any(region.rule == DRAWN for region in causes):
            outcome = self._tried(a, b, outcome)
        if outcome.verdict in (Verdict.PROVED, Verdict.TESTED):
            return self._unite(a, b, outcome)
        region = self._region(a, b, outcome)
        shown = outcome.verdict is Verdict.DIFFERENT and outcome.rule == DRAWN
        self._failed[-1][a, b] = (region,) if shown else tuple(dict.fromkeys(causes)) or (region,)
        return False

    def _unite(self, a: int, b: int, outcome: Outcome) -> bool:
        """Unites two terms and records the rule that proved them; returns True."""
        region = self._region(a, b, outcome)
        self._terms.unite(a, b)
        self.proved.append(region)
        return True

    def _are_like(self, a: int, b: int) -> bool:
        """Whether two terms apply the same operation to equally many inputs."""
        one, other = self._terms.head(a), self._terms.head(b)
        if len(self._terms.inputs(a)) != len(self._terms.inputs(b)):
            return False
        return one == other or self._are_versions(a, b, one, other)

    def _are_versions(self, a: int, b: int, one: Head, other: Head) -> bool:
        """Whether two heads are versions of one operator that agree for the types at hand."""
        if one.domain or replace(one, version=0) != replace(other, version=0):
            return False
        is_last = one.name == "Where"  # the first input of Where is the condition
        inputs = self._terms.inputs(a)
        dtype = self._terms.dtype(inputs[-1 if is_last else 0]) if inputs else None
        if dtype is None or not schemas.are_same_version(one.name, one.version, other.version):
            return False
        return schemas.takes(one.name, other.version, dtype, is_last)

    def _bodies(self, a: int, b: int) -> Goal:
        """Compares two bodies whose node inputs are equal already; their formals are united meanwhile."""
        terms, one, other = self._terms, self._terms.head(a), self._terms.head(b)
        if other.kind is not Kind.BODY or one != other:
            self._failed[-1][a, b] = (self._unknown(a, b, "two bodies of different form"),)
            return False
        inputs, others = terms.inputs(a), terms.inputs(b)
        mark = terms.mark()
        self._scopes.enter(a)
        self._failed.append({})
        causes: list[Region] = []
        equal = True
        for formal, bound in zip(inputs[: one.output], others[: one.output]):
            if terms.dtype(formal) != terms.dtype(bound):
                equal = False
                causes.append(self._unknown(a, b, "the inputs of two bodies are of different types"))
            terms.unite(formal, bound)
        self.hint(a, b)
        for result, given in zip(inputs[one.output : one.outputs], others[one.output : one.outputs]):
            if not (yield self._goal(result, given)):
                equal = False
                causes += self.causes(result, given)
        for term in self.uncovered(others[one.outputs :], self._original.scopes[a]):
            equal = False
            why = f"only the converted model computes {named(terms, term)}, which nothing uses and which might fail"
            causes.append(self._unknown(a, b, why))
        self._failed.pop()
        terms.undo(mark)
        self._scopes.leave()
        if equal:
            terms.unite(a, b)
        else:
            self._failed[-1][a, b] = tuple(dict.fromkeys(causes))
        return equal

    def _pair_leaves(self, a: int, b: int) -> Goal:
        """Tries to prove leaves of region ``b`` that only the converted model has equal to leaves of region ``a``."""
        terms = self._terms
        if not (following.is_followed(terms, a) or following.is_followed(terms, b)):
            return False
        alone = [term for term in following.leaves(terms, b, terms.computed) if term != b and not terms.computed(term)]
        mine = following.leaves(terms, a) if alone else []
        for other in alone:
            for one in mine:
                if one != a and terms.head(one) == terms.head(other) and (yield self._goal(one, other)):
                    break
        return True

    def _decided(self, a: int, b: int) -> Outcome:
        """The rules' outcome for a pair, if time is left."""
        if self._run is not None and (a, b) in self._undecided:
            return self._undecided[a, b]
        if time.monotonic() > self._end:
            return Outcome(Verdict.UNKNOWN, why=f"the limit of {self._limits.seconds:g} s is reached")
        try:
            found = decide(self._terms, a, b, self._limits, self.prove)
        except MemoryError as error:  # the other pairs may be small
            found = Outcome(Verdict.UNKNOWN, why=f"there is no memory to decide it: {error}")
        if found.verdict is not Verdict.PROVED:
            self._undecided[a, b] = found
        return found

    def _tried(self, a: int, b: int, outcome: Outcome) -> Outcome:
        """The outcome of running a pair that no rule proves, if runs are on. Values of bodies are not run."""
        if self._run is None or self._scopes.current != TOP or time.monotonic() > self._end:
            return outcome
        return self._run(a, b, outcome)

    def _region(self, a: int, b: int, outcome: Outcome) -> Region:
        terms = self._terms
        mine, theirs = (set(following.cone(terms, root, terms.shared)) for root in (a, b))

        def operators(own: set[int]) -> tuple[str, ...]:
            return tuple(sorted(named(terms, one) for one in own if terms.head(one).kind in (Kind.OPERATOR, Kind.PAD)))

        name = terms.names.get(a) or named(terms, a)
        sides = operators(mine - theirs), operators(theirs - mine)
        return Region(**vars(outcome), name=name, original=sides[0], converted=sides[1], terms=(a, b))

    def _unknown(self, a: int, b: int, why: str) -> Region:
        return self._region(a, b, Outcome(Verdict.UNKNOWN, why=why))
