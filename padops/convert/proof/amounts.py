"""ONNX Pads that write equal amounts differently: with or without axes, in another order, without zeros, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from padops.convert.proof.result import Outcome, Verdict
from padops.convert.proof.terms import ABSENT, Kind, Terms

RULE = "amounts"


def same(terms: Terms, a: int, b: int, prove: Callable[[int, int], bool]) -> Outcome | None:
    """PROVED if two Pads have equal data, fill and amounts; else None."""
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
    """Successive Pads that together do what one Pad does."""

    data: int  # the term that the first Pad pads
    amounts: tuple[int, ...]  # the sums of all Pads, for all axes: begins, then ends
    length: int  # the number of Pads


class Rows:
    """Successive Pads of one mode (constant or edge) and one fill: they count as one Pad.

    No Pad of a row crops, so each position shows what one Pad with the summed amounts shows. Sizes never shrink along a
    row, so what P1, P5 and P10 reject for one Pad, they reject at the last Pad of the row at the latest.
    """

    MODES = ("constant", "edge")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._rows: dict[int, Row | None] = {}

    def data(self, a: int, b: int) -> tuple[int, int] | None:
        """The data of the two rows that end with Pads ``a`` and ``b``, if their summed amounts are equal.

        None if they differ, or if both rows are single Pads.
        """
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
        """The longest row that ends with a Pad; None if the Pad crops or its amounts are not known."""
        terms, pending = self._terms, [last]
        while pending[-1] not in self._rows and self._continues(pending[-1]):
            pending.append(terms.inputs(pending[-1])[0])
        for term in reversed(pending):
            if term not in self._rows:
                self._rows[term] = self._longer(term)
        return self._rows[last]

    def _continues(self, term: int) -> bool:
        """Whether a Pad's data come from a Pad of the same mode and fill."""
        data, _, fill, _ = self._terms.inputs(term)
        return self._terms.head(data) == self._terms.head(term) and self._terms.inputs(data)[2] == fill

    def _longer(self, term: int) -> Row | None:
        """The row that ends with a Pad whose data's row is known."""
        data, pads, _, axes = self._terms.inputs(term)
        before = self._rows[data] if self._continues(term) else None
        own = full_amounts(self._terms, data, pads, axes, None if before is None else len(before.amounts) // 2)
        if own is None or min(own) < 0 or self._terms.head(term).mode not in self.MODES:
            return None
        if before is None:
            return Row(data, own, 1)
        return Row(before.data, tuple(map(sum, zip(before.amounts, own))), before.length + 1)


def full_amounts(terms: Terms, data: int, pads: int, axes: int, rank: int | None = None) -> tuple[int, ...] | None:
    """The amounts of all axes, begins then ends, from constant ``pads`` and ``axes`` (or ABSENT); None if unknown."""
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
    """The ranks of data that Pads without axes tell by their amounts, two for each axis; by term.

    A rank holds only where the Pad is computed. So it is learned only for data of the same graph (``computed``), and
    only while that graph is compared: an equal value elsewhere may have no such Pad.
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
