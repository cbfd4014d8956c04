"""The cases that two terms are compared in: one for all dims, or one for each rank where none is declared."""

from __future__ import annotations

import time

import z3

from padops.convert.proof import plan
from padops.convert.proof.result import NEVER_RUNS, Limits, Outcome, Verdict
from padops.convert.proof.symbolic import RULE
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.examples import example
from padops.convert.proof.symbolic.goals import NeverRuns, ask, settle
from padops.convert.proof.symbolic.operators import OPERATORS
from padops.convert.proof.symbolic.tensors import NeedsNumber, Unsupported
from padops.convert.proof.terms import Terms

BY_RANK = "rank by rank"
SIZES = {  # up to which dims and amounts are looked at: what cannot be shown of the first may hold for the second
    plan.MOST: "dims and amounts are within P10: at most 2^59 - 1",
    2**30: "dims and amounts are at most 2^30",
}


def decide_cases(terms: Terms, a: int, b: int, limits: Limits) -> Outcome:
    """Decides two terms: within P10 or, where that is not shown, for dims and amounts that computers have."""
    until = time.monotonic() + limits.region_seconds
    for deep in (False, True):
        for most in SIZES:
            outcome = _decided(terms, a, b, limits, most, deep, until)
            if outcome.verdict is Verdict.PROVED:
                return outcome
    return outcome


def _decided(terms: Terms, a: int, b: int, limits: Limits, most: int, deep: bool, until: float) -> Outcome:
    """Decides two terms, once for every number that has to be tried."""
    waiting: list[dict[str, int]] = [{}]
    tried: dict[str, int] = {}
    conditions: set[str] = set()
    ran, why = 0, ""
    while waiting:
        numbers = waiting.pop(0)
        evaluation = Evaluation(terms, OPERATORS, numbers, most)
        if time.monotonic() > until:
            return _unknown(f"more than {limits.region_seconds:g} s", numbers)
        try:
            question = ask(evaluation, a, b, deep)
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
            return _unknown(str(cannot) or type(cannot).__name__, numbers)
        conditions |= _conditions(evaluation)
        if answer.refuted is not None:
            found = example(question, answer.refuted, until) if deep else None
            verdict = Verdict.UNKNOWN if found is None else Verdict.DIFFERENT
            return Outcome(verdict, RULE, why=_with(answer.why, numbers), counterexample=found)
        if not answer.proved:
            return _unknown(answer.why, numbers)
        ran += 1
    if not ran:
        return _unknown(f"{NEVER_RUNS}: {why}", {})
    return _proved(tried, limits, conditions)


def _unknown(why: str, numbers: dict[str, int]) -> Outcome:
    return Outcome(Verdict.UNKNOWN, RULE, why=_with(why, numbers))


def _with(why: str, numbers: dict[str, int]) -> str:
    return f"{why} ({', '.join(f'{key} = {number}' for key, number in numbers.items())})" if numbers else why


def _conditions(evaluation: Evaluation) -> set[str]:
    found = {f"dims of the name '{name}' are equal" for name, leaves in evaluation.symbols.items() if len(leaves) > 1}
    return found | {SIZES[evaluation.most]}


def _proved(tried: dict[str, int], limits: Limits, conditions: set[str]) -> Outcome:
    ranks = [key for key in tried if key.startswith("rank")]
    holds_for = "all data, all dims"
    if ranks:
        holds_for += f", ranks 0 to {limits.rank}"
    if len(ranks) < len(tried):
        holds_for += f", lists of up to {2 * limits.rank} amounts"
    rule = BY_RANK if ranks else RULE
    return Outcome(Verdict.PROVED, rule, holds_for=holds_for, conditions=tuple(sorted(conditions)))
