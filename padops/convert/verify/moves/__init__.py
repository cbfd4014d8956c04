"""Compares parts that only move data: both run once on the positions of elements instead of the elements.

An operator that only moves data decides only where each element comes from. If both parts yield the same element at
each position, they agree for all data of these dims. Open dims get a fixed list of sizes: all the same size, from 0 to
``LARGEST`` or a longer period, and around each constant of the parts, their products and their sums; then unlike sizes,
by their symbols and one by one. The proof covers no other sizes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, islice, permutations

import numpy as np
from onnx import TensorProto

from padops.convert.verify import following
from padops.convert.verify.moves.evaluation import DEEPEST, Evaluation, Size
from padops.convert.verify.result import Fails, Outcome, Unsupported, Verdict
from padops.convert.verify.terms import ABSENT, Dim, Kind, Terms

RULE = "moves"
LARGEST, UNLIKE = 24, 12  # the sizes that all open dims have together; sets of unlike sizes, of each kind
BEYOND = (25, 31, 32, 33, 47, 48, 64, 97)  # sizes above that all open dims have together, too
MOST = 1 << 24  # elements of a value of known dims
MOST_SIZED = 1 << 20  # elements of a value with open dims; sets of sizes with more are left out
FAR = 1 << 28  # constants from here on are ends without a limit, and no sizes
# The limits of narrow types: a size that goes through one of them changes there.
NARROW = {TensorProto.INT8: {127}, TensorProto.UINT8: {255}, TensorProto.INT16: {32767}, TensorProto.UINT16: {65535},
          TensorProto.FLOAT16: {2048}, TensorProto.BFLOAT16: {256}}  # fmt: skip
FEW = 64  # elements of a value whose numbers count
TRIED = (7, 12)  # sizes of all open dims: integers that are the same with either do not follow from them
STEPS = {"Div", "Mul", "Sub", "Add", "Mod", "Max", "Min", "Slice"}  # operators that compute a size by a constant
JOINT, MOST_STEPS, MOST_JOINT = 8192, 12, 24  # the largest product or sum of constants; of how many; how many are tried
MOST_PAIRS, PAIR = 12, 1 << 19  # pairs of constants whose product is tried, and its largest value
TOGETHER, RANK, EXACT = 128, 5, 1024  # largest size of all dims; axes that are large alone; largest size of two axes
TOO_LARGE, OPEN = "elements, which is more than", "are not all known"
FAILED = "the original fails, whatever the data are: "


def _decide(terms: Terms, a: int, b: int) -> Outcome:
    first = _compare(terms, a, b, MOST, None)
    if first.verdict is not Verdict.UNKNOWN or OPEN not in first.why:
        return first
    ran = refused = 0
    try:
        sizes = list(_sizes(terms, a, b))
    except Unsupported as why:
        return Outcome(Verdict.UNKNOWN, RULE, why=str(why))
    for size, is_needed in sizes:
        found = _compare(terms, a, b, MOST_SIZED, size)
        if found.verdict is Verdict.PROVED:
            ran += 1
        elif found.verdict is Verdict.UNKNOWN and (
            found.why.startswith(FAILED) or (TOO_LARGE in found.why and not is_needed)
        ):
            refused += 1
        else:
            return found
    if ran * 4 < len(sizes) and ran < LARGEST:
        return Outcome(Verdict.UNKNOWN, RULE, why=f"of {len(sizes)} sets of sizes, the original takes {ran}")
    left = f", but for {refused} that the original refuses or that are too large" if refused else ""
    said = f"all data, open dims of 0 to {LARGEST} elements and {len(sizes) - LARGEST - 1} further sets of sizes{left}"
    return Outcome(Verdict.PROVED, RULE, holds_for=said)


def _sizes(terms: Terms, a: int, b: int) -> Iterator[tuple[Size, bool]]:
    """The sizes of open dims, one set after another, each with whether no proof may leave it out as too large."""
    marks = _marks(terms, a, b)
    near = sorted({abs(mark) * times // 2 + more for mark in marks for times in (1, 2, 4) for more in (-1, 0, 1)})
    near = [size for size in near if size > LARGEST]
    if near and near[-1] > MOST_SIZED:
        raise Unsupported(f"sizes near the constant {max(marks)} are too large to be evaluated")
    needed, (factors, periods) = {*near}, _factors(terms, a, b)
    near += [size for mark in _joint_marks(factors) for size in (mark - 1, mark, mark + 1) if size not in near]
    for every in sorted({*range(max(periods | {LARGEST}) + 1), *BEYOND, *(size for size in near if size <= TOGETHER)}):
        yield (lambda term, axis, symbol, every=every: every), False  # type: ignore[misc]
    # Around products of two constants: 100 - n / 64 is negative from 6,464 on.
    pairs = (x * y + more for x, y in [*combinations(factors, 2)][-MOST_PAIRS:] for more in (0, 1, x, y, -x))
    for large in (0, 1, *near, *(size for size in dict.fromkeys(pairs) if LARGEST < size <= PAIR and size not in near)):
        for alone in range(RANK):  # one axis empty, of one element, or near the constants; the others small
            yield (lambda term, axis, symbol, large=large, alone=alone: large if axis == alone else 2), large in needed  # type: ignore[misc]
    for pair in permutations(sorted({abs(mark) for mark in marks if LARGEST < abs(mark) <= EXACT})[-4:], 2):
        yield (lambda term, axis, symbol, pair=pair: pair[axis % 2]), False  # type: ignore[misc]
    pool = [*range(1, LARGEST), *(size for size in near if size <= TOGETHER)]
    for seed in range(UNLIKE):
        yield (lambda term, axis, symbol, seed=seed: _drawn(pool, seed, symbol or (term, axis))), False  # type: ignore[misc]
        yield (lambda term, axis, symbol, seed=seed: _drawn(pool, seed, (term, axis))), False  # type: ignore[misc]


def _drawn(pool: list[int], *key: object) -> int:
    return random.Random(repr(key)).choice(pool)


def _marks(terms: Terms, a: int, b: int) -> set[int]:
    """The integers of two parts that follow from no open dim, at which they may begin to differ.

    These stand in constants and attributes, or are computed from them and from known dims: two sizes give the same.
    """
    found: set[int] = set()
    pair = [Evaluation(terms, (a, b), MOST_SIZED, lambda *_, every=every: every) for every in TRIED]
    for term in {*islice(following.cone(terms, a), DEEPEST), *islice(following.cone(terms, b), DEEPEST)}:
        one, other = (_integers(evaluation, term) for evaluation in pair)
        found |= {int(number) for number in one[one == other]} if one.shape == other.shape else set()
        head = terms.head(term)
        if terms.op(term) == "Cast":
            found |= NARROW.get(terms.attribute(term, "to"), set())
        if head.kind is Kind.CONSTANT:
            found |= set(head.dims)
        if head.kind is Kind.OPERATOR and following.is_followed(terms, term):
            for _, _, value in head.attributes:
                found |= {one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, int)}
    return {one for one in found if abs(one) < FAR}


def _factors(terms: Terms, a: int, b: int) -> tuple[list[int], set[int]]:
    """The constants by which operators compute sizes, the least first; and small periods, after which sizes repeat."""
    factors, periods = list[int](), set[int]()
    for term in {*islice(following.cone(terms, a), DEEPEST), *islice(following.cone(terms, b), DEEPEST)}:
        if terms.head(term).kind is Kind.OPERATOR and terms.op(term) in STEPS:
            inputs = terms.inputs(term)[terms.op(term) == "Slice" :]
            given = [abs(number) for one in inputs for number in _listed(terms, one)]
            factors += [number for number in given if 1 < number <= JOINT]
            periods |= {one for one in given if one <= TOGETHER} if terms.op(term) == "Mod" else set()
    return sorted(factors)[:MOST_STEPS], periods


def _joint_marks(factors: list[int]) -> list[int]:
    """Products and sums of constants: n / 7 / 7 / 7 is 0 for n below 343."""
    products, sums = {1}, {0}
    for factor in factors:
        products |= {one * factor for one in products if one * factor <= JOINT}
        sums |= {one + factor for one in sums if one + factor <= JOINT}
    found = sorted(one for one in products | sums if one > LARGEST)
    return found if len(found) <= MOST_JOINT else [*found[: MOST_JOINT // 2], *found[-MOST_JOINT // 2 :]]


def _listed(terms: Terms, term: int) -> list[int]:
    """The integers of a constant that is one number or a short list; none of another term."""
    shape = None if term == ABSENT else terms.shape(term)
    if shape is None or len(shape) > 1 or not all(isinstance(size, int) and size <= FEW for size in shape):
        return []
    array = terms.constant(term)
    return array.reshape(-1).tolist() if array is not None and array.dtype.kind in "iu" else []


def _integers(evaluation: Evaluation, term: int) -> np.ndarray:
    """The elements of a term if they are few integers, in a row."""
    try:
        value = evaluation.value(term)
    except (Unsupported, Fails):
        value = np.zeros(0, np.int64)
    is_taken = isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size <= FEW
    return value.reshape(-1) if is_taken else np.zeros(0, np.int64)  # type: ignore[union-attr]


def _compare(terms: Terms, a: int, b: int, most: int, size: Size | None) -> Outcome:
    evaluation = Evaluation(terms, (a, b), most, size)
    try:
        try:
            one = evaluation.value(a)
        except Fails as why:
            return Outcome(Verdict.UNKNOWN, RULE, why=f"{FAILED}{why}")
        fails = 0
        try:
            difference = evaluation.difference(one, evaluation.value(b))
        except Fails as why:
            difference, fails = f"the converted model fails where the original runs: {why}", 1
    except Unsupported as why:
        return Outcome(Verdict.UNKNOWN, RULE, why=str(why))
    if difference:
        return Outcome(Verdict.DIFFERENT, RULE, why=difference, counterexample=evaluation.dims, new_errors=fails)
    conditions = tuple(sorted(evaluation.elements.conditions))
    return Outcome(Verdict.PROVED, RULE, holds_for="all data, these dims", conditions=conditions)


class Moves:
    """Decides pairs of parts that only move data; pairs that differ only in their leaves' places are decided once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[object, Outcome] = {}

    def decide(self, a: int, b: int) -> Outcome:
        """Compares two terms by the positions that their elements come from."""
        key = self._key(a, b)
        if key not in self._known:
            self._known[key] = _decide(self._terms, a, b)
        return self._known[key]

    def _key(self, a: int, b: int) -> object:
        terms, numbers, rows, symbols = self._terms, dict[int, int](), [], dict[Dim, int]()
        for root in (a, b):
            for term in islice(following.cone(terms, root), DEEPEST):
                numbers.setdefault(term, len(numbers))
        for term in numbers:
            dims, is_followed, head = terms.shape(term), following.is_followed(terms, term), terms.head(term)
            if dims is not None:  # symbols by their order: names do not count
                dims = (*(symbols.setdefault(d, -1 - len(symbols)) if isinstance(d, str) else d for d in dims),)
            facts = (dims, terms.dtype(term), terms.shared(term), terms.computed(term))
            inputs = [one if one == ABSENT else numbers.get(terms.find(one), numbers.get(one))
                      for one in terms.inputs(term) if is_followed]  # fmt: skip
            known = head if is_followed or head.kind is Kind.CONSTANT else None
            rows.append((known, facts, (*inputs,), numbers.get(terms.find(term))))
        return tuple(rows)
