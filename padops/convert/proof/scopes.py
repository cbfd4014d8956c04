"""Which values the original surely computes at a place: a branch that is not taken computes none."""

from __future__ import annotations

from padops.convert.proof.amounts import learned_ranks
from padops.convert.proof.build import TOP, Built
from padops.convert.proof.facts import Facts
from padops.convert.proof.terms import GIVEN, Terms


class Scopes:
    """The stack of the original's bodies that are being compared, the main graph first."""

    def __init__(self, terms: Terms, original: Built, converted: Built) -> None:
        self._terms = terms
        self._converted = {term for names in converted.scopes.values() for term in names.values()}
        live = set(terms.walk(*(term for _, _, term in original.outputs)))
        self._computed = {scope: set(names.values()) & live for scope, names in original.scopes.items()}
        for body, computed in self._computed.items():
            if body != TOP:
                inputs, head = terms.inputs(body), terms.head(body)
                computed -= set(inputs[head.outputs :])
                computed |= set(inputs[: head.output])
            else:
                computed |= set(original.inputs.values())
        self._declares, self._kept = original.declares, list[dict[int, Facts]]()
        self._stack: list[int] = []
        self.enter(TOP)
        terms.computed, terms.shared = self.has, self.is_shared

    def enter(self, body: int) -> None:
        """Enters a body of the original: its Pads and declared dims add facts about its values."""
        self._stack.append(body)
        terms, declared = self._terms, self._declares.get(body, ())
        ranks = learned_ranks(terms, self._computed.get(body, set()))
        self._kept.append(terms.known((*ranks, *(term for term, _, _ in declared))))
        for term, rank in ranks.items():
            terms.set_shape(term, (None,) * rank)
        for term, dims, name in declared:
            terms.declare(term, dims, name)

    def leave(self) -> None:
        """Leaves the body. Its unions must have been undone."""
        self._stack.pop()
        self._terms.know(self._kept.pop())

    @property
    def current(self) -> int:
        """The innermost body, or ``TOP``."""
        return self._stack[-1]

    def computes(self, term: int) -> bool:
        """Whether a result of the innermost body needs the term, and that body computes it."""
        return term in self._computed[self._stack[-1]]

    def is_shared(self, term: int) -> bool:
        """Whether both models have a value equal to the term."""
        return self._terms.is_united(term) or (term in self._converted and self.has(term))

    def has(self, term: int) -> bool:
        """Whether the original computes a value equal to the term, wherever it reaches the compared pair.

        A united term passes: unions are made only with terms of the original, in the bodies where they are proved.
        """
        if self._terms.head(term).kind in GIVEN or self._terms.is_united(term):
            return True
        return any(term in self._computed.get(scope, ()) for scope in self._stack)
