"""Pads of ONNX that say the same amounts in other words: with axes or without, in another order, zeros left out, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from padops.convert.proof.result import Outcome, Verdict
from padops.convert.proof.terms import ABSENT, Kind, Terms

RULE = "amounts"


def same(terms: Terms, a: int, b: int, prove: Callable[[int, int], bool]) -> Outcome | None:
    """Decides whether two Pads do the same to equal data; None where their amounts do not tell."""
    one, other = terms.head(a), terms.head(b)
    if one.kind is not Kind.PAD or one != other:
        return None
    (data, pads, fill, axes), (others, amounts, outside, places) = terms.inputs(a), terms.inputs(b)
    if fill != outside and (ABSENT in (fill, outside) or not prove(fill, outside)):
        return None
    if not prove(data, others):
        return None
    mine = full_amounts(terms, data, pads, axes)
    if mine is None or mine != full_amounts(terms, data, amounts, places):
        return None
    return Outcome(Verdict.PROVED, RULE, holds_for="all data, all dims")


class Row(NamedTuple):
    """Pads in a row that do together what one Pad does.

    Attributes:
        data: The term that the first of them pads.
        amounts: What all of them add, for all axes: begins, and then ends.
        length: How many Pads these are.
    """

    data: int
    amounts: tuple[int, ...]
    length: int


class Rows:
    """Pads of one mode and one fill that follow each other, and only add constants or repeat the edge: they count as one.

    Nothing is cropped between them, so each position shows what it shows if all is added at once. The sizes never become
    smaller, so that what P1, P5 and P10 refuse at once, they refuse at the last Pad of the row at the latest.
    """

    MODES = ("constant", "edge")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._rows: dict[int, Row | None] = {}

    def data(self, a: int, b: int) -> tuple[int, int] | None:
        """What two rows pad by the same in all; None where they do not, or where both are single Pads."""
        terms = self._terms
        if Kind.PAD is not terms.head(a).kind or terms.head(a) != terms.head(b):
            return None
        if terms.find(terms.inputs(a)[2]) != terms.find(terms.inputs(b)[2]):
            return None
        one, other = self._row(a), self._row(b)
        if one is None or other is None or one.amounts != other.amounts or one.length == other.length == 1:
            return None
        return one.data, other.data

    def _row(self, last: int) -> Row | None:
        """The longest row that ends with a Pad; None where it crops, or where its amounts are not known."""
        terms, pending = self._terms, [last]
        while pending[-1] not in self._rows and self._continues(pending[-1]):
            pending.append(terms.inputs(pending[-1])[0])
        for term in reversed(pending):
            if term not in self._rows:
                self._rows[term] = self._longer(term)
        return self._rows[last]

    def _continues(self, term: int) -> bool:
        """Whether the data of a Pad are a Pad of the same mode and fill."""
        data, _, fill, _ = self._terms.inputs(term)
        return self._terms.head(data) == self._terms.head(term) and self._terms.inputs(data)[2] == fill

    def _longer(self, term: int) -> Row | None:
        """The row that ends with a Pad, where that of its data is known."""
        data, pads, _, axes = self._terms.inputs(term)
        before = self._rows[data] if self._continues(term) else None
        own = full_amounts(self._terms, data, pads, axes, None if before is None else len(before.amounts) // 2)
        if own is None or min(own) < 0 or self._terms.head(term).mode not in self.MODES:
            return None
        if before is None:
            return Row(data, own, 1)
        return Row(before.data, tuple(map(sum, zip(before.amounts, own))), before.length + 1)


def full_amounts(terms: Terms, data: int, pads: int, axes: int, rank: int | None = None) -> tuple[int, ...] | None:
    """The amounts for all axes, begins and then ends, of constant ``pads`` and ``axes``; None where they are not known."""
    shape, amounts = terms.shape(data), terms.constant(pads)
    listed = None if axes == ABSENT else terms.constant(axes)
    rank = len(shape) if rank is None and shape is not None else rank
    if rank is None or amounts is None or (axes != ABSENT and listed is None):
        return None
    chosen = list(range(rank)) if listed is None else [int(axis) for axis in listed.reshape(-1)]
    if any(not -rank <= axis < rank for axis in chosen) or amounts.ndim > 2:
        return None
    places = [axis % rank for axis in chosen]
    values = [int(value) for value in amounts.reshape(-1)]
    if not rank or len(set(places)) != len(places) or len(values) != 2 * len(places):
        return None
    found = [0] * (2 * rank)
    for index, axis in enumerate(places):
        found[axis], found[rank + axis] = values[index], values[len(places) + index]
    return tuple(found)


def learned_ranks(terms: Terms, computed: set[int]) -> dict[int, int]:
    """Of what rank data of the original's Pads are, by term: without axes, there are two amounts for each.

    It holds where the Pad is computed, so only data of the same graph are spoken of, and only while it is compared: an
    equal value elsewhere has no Pad to say so.
    """
    found = {}
    for term in computed:
        if terms.head(term).kind is not Kind.PAD:
            continue
        data, pads, _, axes = terms.inputs(term)
        amounts = terms.constant(pads)
        if axes != ABSENT or amounts is None or not amounts.size or amounts.size % 2 or data not in computed:
            continue
        if terms.shape(data) is None:
            found[data] = amounts.size // 2
    return found
