"""Compares two parts that only move data: each part runs on the positions of elements instead of the elements.

An operator that only moves data decides only where each element comes from. If both parts yield the same element at
each position, they agree for all data of these dims. Open dims get fixed sizes, in four kinds of sets:

- All open dims have the same size: from 0 to ``LARGEST`` or to a larger period of Mod, and some more sizes.
- One axis has 0 or 1 elements, or a size near a constant of the parts, or near a product or sum of constants.
- Two axes are large.
- The sizes are drawn at random: one size for each symbol, or one for each dim.

The proof lists its sizes, and counts the drawn sets. It covers no other sizes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import islice, product
from math import lcm

import numpy as np
from onnx import TensorProto

from padops.convert.records import RegionRecord
from padops.convert.verify.moves.definitions import cone, is_followed
from padops.convert.verify.moves.evaluation import DEEPEST, Evaluation, Size
from padops.convert.verify.terms import ABSENT, Dim, Fails, Kind, Terms, Unsupported, outcome

RULE = "moves"
LARGEST, UNLIKE = 24, 12  # the largest size of all open dims together; the number of sets of unlike sizes of each kind
BEYOND = (25, 31, 32, 33, 47, 48, 64, 97)  # larger sizes that all open dims also have together
MOST = 1 << 24  # the most elements of a value of known dims
MOST_SIZED = 1 << 20  # the most elements of a value with open dims; sets of sizes that need more are left out
FAR = 1 << 28  # constants from this number on mean "no limit" and are not sizes
# The limits of narrow types: a cast to the type changes a size beyond its limit.
NARROW = {TensorProto.INT8: {127}, TensorProto.UINT8: {255}, TensorProto.INT16: {32767}, TensorProto.UINT16: {65535},
          TensorProto.FLOAT16: {2048}, TensorProto.BFLOAT16: {256}}  # fmt: skip
FEW = 64  # the most elements of a value whose numbers count
TRIED = (7, 12)  # two sizes of all open dims: integers that are the same for both sizes do not follow from open dims
SCALES = {"Div", "Mul", "Mod", "Range"}  # operators that divide or multiply a size by a constant
# Operators that change a size by a constant, or compare it with one
STEPS = SCALES | {*"Sub Add Max Min Slice Clip Equal Greater GreaterOrEqual Less LessOrEqual".split()}
JOINT, MOST_STEPS, MOST_JOINT = 8192, 12, 24  # the largest product or sum; its most constants; the most that are tried
FARTHEST = 1 << 19  # the largest size near a product
TOGETHER, EXACT = 128, 1024  # the largest size that all dims have together; the largest size of two axes
DRAWN = "drawn"  # a kind of sizes that a proof does not list
TOO_LARGE, OPEN = "elements, which is more than", "are not all known"
FAILED = "the original fails, whatever the data are: "
NEW_ERROR = "the converted model fails where the original runs: "
Tried = tuple[str, str, Size, bool]  # the kind, text and function of sizes, and whether the proof needs them


def _decide(terms: Terms, a: int, b: int) -> RegionRecord:
    first = _compare(terms, a, b, MOST, None)
    if first.verdict != "unknown" or OPEN not in first.why:
        return first
    sizes, left = _sizes(terms, a, b)
    ran: dict[str, list[str]] = {}
    for kind, said, size, is_needed in sizes:
        found = _compare(terms, a, b, MOST_SIZED, size)
        is_unsuited = found.why.startswith(FAILED) or (TOO_LARGE in found.why and not is_needed)
        if found.verdict == "proved":
            ran.setdefault(kind, []).append(said)
        elif found.verdict == "different" or not is_unsuited:
            return found
    if (count := sum(map(len, ran.values()))) * 4 < len(sizes) and count < LARGEST:
        left = left or f"the original accepts only {count} of {len(sizes)} sets of sizes"
    if left:
        return outcome("unknown", RULE, why=left)
    drawn = len(ran.pop(DRAWN, ()))
    told = "; ".join(f"{kind}: {_in_ranges(every)}" for kind, every in ran.items())
    return outcome("proved", RULE, holds_for=f"all data, with open dims of {told}; and {drawn} drawn sets of sizes")


def _in_ranges(sizes: list[str]) -> str:
    """Lists sizes as text; three or more successive numbers become a range: "0 to 24, 31"."""
    rows: list[list[str]] = []
    for size in dict.fromkeys(sizes):
        follows = rows and size.isdigit() and rows[-1][-1].isdigit() and int(size) == int(rows[-1][-1]) + 1
        rows[-1].append(size) if follows else rows.append([size])
    return ", ".join(f"{row[0]} to {row[-1]}" if len(row) > 2 else ", ".join(row) for row in rows)


def _sizes(terms: Terms, a: int, b: int) -> tuple[list[Tried], str]:
    """Returns the sets of sizes of open dims, and why these do not suffice for a proof; "" if they suffice."""

    def at(sizes: Mapping[int, int], others: int) -> Size:
        return lambda term, axis, symbol: sizes.get(axis, others)

    axes = set[int]()
    noted = lambda every, term, axis, symbol: axes.add(axis) or every  # type: ignore[func-returns-value]
    pair = [Evaluation(terms, (a, b), MOST_SIZED, partial(noted, every)) for every in TRIED]
    cones = {*islice(cone(terms, a), DEEPEST), *islice(cone(terms, b), DEEPEST)}
    marks = _marks(terms, pair, cones)
    near = sorted({abs(mark) * times // 2 + more for mark in marks for times in (1, 2, 4) for more in (-1, 0, 1)})
    near = [size for size in near if size > LARGEST]
    is_far = near and near[-1] > MOST_SIZED
    left = f"sizes near the constant {max(marks)} are too large to be evaluated" if is_far else ""
    joint, periods = _joint(terms, pair, cones)
    if (period := lcm(*periods)) > TOGETHER and period * len(axes) > EXACT:
        left, period = f"the sizes repeat after {period} elements, which are too many to be tried", 1
    needed, near = {*near}, sorted({*near, *joint, *(range(LARGEST, period) if period > TOGETHER else ())})
    together = range(max(min(period, TOGETHER), LARGEST) + 1)
    alike = sorted({*together, *BEYOND, *(size for size in near if size <= TOGETHER)})
    found = [("all the same size", str(every), at({}, every), False) for every in alike]
    for large in (0, 1, *near):
        for alone in sorted(axes):  # one axis is empty, of one element or near the constants; the others are small
            found.append((f"axis {alone}, the others 2", str(large), at({alone: large}, 2), large in needed))
    last = sorted(axes)[-2:]
    ends = sorted({abs(mark) for mark in marks if LARGEST < abs(mark) <= EXACT})[-4:]
    pairs = [(x + i, y + j) for x, y in product(ends, repeat=2) for i, j in ((0, 0), (1, 1), (1, 2), (2, 1))]
    for x, y in (*pairs, *((end // 2, end - end // 2) for end in ends)) if len(last) == 2 else ():
        kind = f"axes {last[0]} and {last[1]}, the others 2"
        found.append((kind, f"{x} x {y}", at(dict(zip(last, (x, y))), 2), False))
    pool = [*range(1, LARGEST), *(size for size in near if size <= TOGETHER)]
    return [*found, *((DRAWN, str(seed), partial(_drawn, pool, seed, alike), False)
                      for seed, alike in product(range(UNLIKE), (True, False)))], left  # fmt: skip


def _drawn(pool: list[int], seed: int, alike: bool, term: int, axis: int, symbol: Dim) -> int:
    """Draws a size; with ``alike``, dims with the same symbol have the same size."""
    return random.Random(repr((seed, (alike and symbol) or (term, axis)))).choice(pool)


def _marks(terms: Terms, pair: list[Evaluation], cones: set[int]) -> set[int]:
    """Returns two parts' integers that no open dim changes. Near such a size, the parts may begin to differ."""
    found = set[int]()
    for term in cones:
        found |= set(_fixed(pair, term))
        head = terms.head(term)
        if terms.op(term) == "Cast":
            found |= NARROW.get(terms.attribute(term, "to"), set())
        if head.kind is Kind.CONSTANT:
            found |= set(head.dims)
            table = terms.constant(term) if len(head.dims) == 1 and FEW < head.dims[0] <= MOST_SIZED else None
            if table is not None and table.dtype.kind in "iu":  # the places at which the steps of a long table change
                found |= {int(place) + 1 for place in np.flatnonzero(np.diff(table, 2))[:FEW]}
        if head.kind is Kind.OPERATOR and is_followed(terms, term):
            for _, _, value in head.attributes:
                found |= {one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, int)}
    return {one for one in found if abs(one) < FAR}


def _joint(terms: Terms, pair: list[Evaluation], cones: set[int]) -> tuple[set[int], set[int]]:
    """Returns sizes near products and sums of the constants (404 for n / 2 / 2 > 100), and the periods of Mod."""
    given: dict[str, list[int]] = {"period": []}
    for term in cones:
        if (op := terms.op(term)) in STEPS:
            read = (abs(number) for one in terms.inputs(term)[op == "Slice" :] for number in _fixed(pair, one))
            given.setdefault(op, []).extend(number for number in read if 1 < number <= JOINT)
            one, other = _few(pair, terms.inputs(term)[0])
            if op == "Mod" and (one != other).any():
                given["period"] += map(abs, _fixed(pair, terms.inputs(term)[1]))
    steps, scales = (sorted(sum((given.get(op, []) for op in ops), [])) for ops in (STEPS, SCALES))
    sums, products = {0}, {1}
    for step in steps[:MOST_STEPS]:
        sums |= {one + step for one in sums if one + step <= JOINT}
    for scale in scales[:MOST_STEPS]:
        products |= {one * scale for one in products if one * scale <= JOINT}
    pairs = sorted({(one * scale, scale) for one in sums | products for scale in products})
    pairs = [(size, scale) for size, scale in pairs if LARGEST < size <= FARTHEST]
    pairs = pairs if len(pairs) <= MOST_JOINT else [*pairs[: MOST_JOINT // 2], *pairs[-MOST_JOINT // 2 :]]
    found = {size + more for size, scale in pairs for more in (-1, 0, 1, scale, -scale)}
    return {size for size in found if size > LARGEST}, {one for one in given["period"] if 0 < one <= TOGETHER}


def _fixed(pair: list[Evaluation], term: int) -> list[int]:
    """Returns the integers of a small term that are the same at two sizes, and so depend on no open dim."""
    one, other = _few(pair, term)
    return [int(number) for number in one[one == other]]


def _few(pair: list[Evaluation], term: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns a term's integers at each of two sizes; empty arrays for many or unknown integers, or unequal shapes."""
    with suppress(Unsupported, Fails):
        one, other = (None if term == ABSENT else evaluation.value(term) for evaluation in pair)
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.shape == other.shape:
            if one.dtype.kind in "iu" and one.size <= FEW:
                return one, other
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _compare(terms: Terms, a: int, b: int, most: int, size: Size | None) -> RegionRecord:
    evaluation, one = Evaluation(terms, (a, b), most, size), None
    try:
        one = evaluation.value(a)
        difference = evaluation.difference(one, evaluation.value(b))
    except Unsupported as why:
        return outcome("unknown", RULE, why=str(why))
    except Fails as why:
        if one is None:
            return outcome("unknown", RULE, why=f"{FAILED}{why}")
        difference = f"{NEW_ERROR}{why}"
    if difference:
        return outcome("different", RULE, why=difference, counterexample={"dims": evaluation.dims})
    conditions = tuple(sorted(evaluation.elements.conditions))
    return outcome("proved", RULE, holds_for="all data, these dims", conditions=conditions)


def decide(terms: Terms, known: dict[object, RegionRecord], a: int, b: int) -> RegionRecord:
    """Compares two terms by the positions that their elements come from.

    ``known`` has the outcomes so far. A pair gets the outcome of an earlier pair that applies the same operators to
    values of the same types and shapes. (Without ``known``, 40 lowered Pads of open dims take 45 s instead of 3 s.)
    """
    numbers, rows, symbols = dict[int, int](), [], dict[Dim, int]()
    for root in (a, b):
        for term in islice(cone(terms, root), DEEPEST):
            numbers.setdefault(term, len(numbers))
    for term in numbers:
        dims, follows, head = terms.shape(term), is_followed(terms, term), terms.head(term)
        if dims is not None:  # numbers replace symbols in order: names do not count
            dims = (*(symbols.setdefault(d, -1 - len(symbols)) if isinstance(d, str) else d for d in dims),)
        facts = (dims, terms.dtype(term), terms.shared(term), terms.computed(term))
        inputs = [one if one == ABSENT else numbers.get(terms.find(one), numbers.get(one))
                  for one in terms.inputs(term) if follows]  # fmt: skip
        read = head if follows or head.kind is Kind.CONSTANT else None
        rows.append((read, facts, (*inputs,), numbers.get(terms.find(term))))
    key = tuple(rows)
    if key not in known:
        known[key] = _decide(terms, a, b)
    return known[key]
