"""The cases of a comparison: one for all dims, or one for each rank (or list length) that is not known."""

from __future__ import annotations

import time
from typing import NamedTuple

import z3

from padops.convert.proof import plan
from padops.convert.proof.result import ALL_SIZES, NEVER_RUNS, Limits, Outcome, Unsupported, Verdict
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.goals import NeverRuns, ask, example, settle
from padops.convert.proof.symbolic.operators import OPERATORS
from padops.convert.proof.symbolic.tensors import NeedsNumber
from padops.convert.proof.terms import Terms

BY_RANK = "rank by rank"
SMALL = 2**30
SIZES = {  # limits of dims and amounts: a proof that fails for the first may succeed for the second
    plan.MOST: "dims and amounts are within P10: at most 2^59 - 1",
    SMALL: "dims and amounts are at most 2^30",
}


class Way(NamedTuple):
    """The options of one comparison."""

    most: int  # the limit of dims and amounts
    wraps: bool  # whether integers may overflow their types
    deep: bool  # whether to follow terms that both models share


class _Tried(NamedTuple):
    """The result of one comparison."""

    outcome: Outcome
    beyond: bool = False  # it failed for a possible overflow, which other options may avoid
    cut: bool = False  # a shared term was not followed


def decide_cases(terms: Terms, a: int, b: int, limits: Limits) -> Outcome:
    """Compares two terms: down to the terms that they share, then, if that fails, through them."""
    until = time.monotonic() + limits.region_seconds
    for deep in (False, True):
        for way in (Way(plan.MOST, False, deep), Way(SMALL, False, deep), Way(plan.MOST, True, deep)):
            tried = _decided(terms, a, b, limits, way, until)
            if tried.outcome.verdict is Verdict.PROVED:
                return tried.outcome
            if not tried.beyond:
                break
        if not tried.cut:
            break
    return tried.outcome


def _decided(terms: Terms, a: int, b: int, limits: Limits, way: Way, until: float) -> _Tried:
    """Compares two terms with some options, once for each rank and list length that must be a number."""
    waiting: list[dict[str, int]] = [{}]
    tried: dict[str, int] = {}
    conditions: set[str] = set()
    ran, why = 0, ""
    while waiting:
        numbers = waiting.pop(0)
        evaluation = Evaluation(terms, OPERATORS, numbers, way.most, way.wraps)
        if time.monotonic() > until:
            return _unknown(f"more than {limits.region_seconds:g} s", numbers)
        try:
            question = ask(evaluation, a, b, way.deep)
            answer = settle(question, limits.goal_seconds, until)
        except NeedsNumber as needed:
            largest = limits.rank if needed.key.startswith("rank") else 2 * limits.rank
            tried[needed.key] = largest
            waiting += [{**numbers, needed.key: number} for number in range(largest + 1)]
            continue
        except NeverRuns as never:
            why = str(never)
            continue
        except (Unsupported, z3.Z3Exception, RecursionError) as cannot:
            return _unknown(str(cannot) or type(cannot).__name__, numbers, cut=evaluation.cut)
        conditions |= _conditions(evaluation)
        if answer.refuted is not None:
            found = example(question, answer.refuted, until)
            if found is not None:
                why = _with(answer.why, numbers)
                outcome = Outcome(Verdict.DIFFERENT, ALL_SIZES, why=why, counterexample=found)
                return _Tried(outcome, cut=evaluation.cut)
            return _unknown(answer.why, numbers, cut=evaluation.cut)
        if answer.why:
            return _unknown(answer.why, numbers, answer.beyond, evaluation.cut)
        ran += 1
    if not ran:
        return _unknown(f"{NEVER_RUNS}: {why}", {})
    return _Tried(_proved(tried, limits, conditions))


def _unknown(why: str, numbers: dict[str, int], beyond: bool = False, cut: bool = False) -> _Tried:
    return _Tried(Outcome(Verdict.UNKNOWN, ALL_SIZES, why=_with(why, numbers)), beyond, cut)


def _with(why: str, numbers: dict[str, int]) -> str:
    return f"{why} ({', '.join(f'{key} = {number}' for key, number in numbers.items())})" if numbers else why


def _conditions(evaluation: Evaluation) -> set[str]:
    found = {f"dims of the name '{name}' are equal" for name, leaves in evaluation.symbols.items() if len(leaves) > 1}
    if evaluation.flat.totals:
        found.add("no tensor has more than 2^59 - 1 elements")
    return found | {SIZES[evaluation.most]}


def _proved(tried: dict[str, int], limits: Limits, conditions: set[str]) -> Outcome:
    ranks = [key for key in tried if key.startswith("rank")]
    holds_for = "all data, all dims"
    if ranks:
        holds_for += f", ranks 0 to {limits.rank}"
    if len(ranks) < len(tried):
        holds_for += f", lists of up to {2 * limits.rank} numbers"
    rule = BY_RANK if ranks else ALL_SIZES
    return Outcome(Verdict.PROVED, rule, holds_for=holds_for, conditions=tuple(sorted(conditions)))
