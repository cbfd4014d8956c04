"""Two Pads of ONNX that say the same amounts in other words: with axes or without, in another order, zeros left out."""

from __future__ import annotations

from collections.abc import Callable

from padops.convert.proof.result import Outcome, Verdict
from padops.convert.proof.terms import ABSENT, Kind, Terms

RULE = "amounts"


def same(terms: Terms, a: int, b: int, prove: Callable[[int, int], bool]) -> Outcome | None:
    """Decides whether two Pads do the same to equal data; None where their amounts do not tell.

    Args:
        terms: The store.
        a: A term of the original.
        b: A term of the converted model.
        prove: Proves that two terms are equal.
    """
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


def full_amounts(terms: Terms, data: int, pads: int, axes: int) -> tuple[int, ...] | None:
    """The amounts for all axes, begins and then ends, of constant ``pads`` and ``axes``; None where they are not known.

    Args:
        terms: The store.
        data: What is padded; its rank has to be known.
        pads: The term of the amounts.
        axes: The term of the axes, or ABSENT.
    """
    shape, amounts = terms.shape(data), terms.constant(pads)
    listed = None if axes == ABSENT else terms.constant(axes)
    if shape is None or amounts is None or (axes != ABSENT and listed is None):
        return None
    rank = len(shape)
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

    Args:
        terms: The store.
        computed: What a graph of the original computes, its inputs included.
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
