"""The goals of a pair of terms, given to the solver one by one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import z3

from padops.convert.proof.symbolic.demands import OVERFLOW, Demands, Requirement
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Truth, opened, positions_in
from padops.convert.proof.symbolic.tensors import Fails, Tensor, Unsupported
from padops.convert.proof.terms import ABSENT, Kind, Terms


@dataclass
class Question:
    """The goals of a pair of terms.

    Attributes:
        evaluation: The evaluation of both terms.
        assumed: Assumptions: the original runs, within P10.
        goals: The conditions to prove.
    """

    evaluation: Evaluation
    assumed: list[z3.BoolRef] = field(default_factory=list)
    goals: list[Requirement] = field(default_factory=list)

    def facts(self) -> list[z3.BoolRef]:
        """All facts and assumptions."""
        return [
            *self.evaluation.integers.facts,
            *self.evaluation.leaves.distinct(),
            *self.evaluation.flat.totals,
            *self.assumed,
        ]


class NeverRuns(Exception):
    """The original fails for all data and dims of this case."""


def ask(evaluation: Evaluation, a: int, b: int, deep: bool) -> Question:
    """The goals that prove terms ``a`` and ``b`` equal.

    Raises:
        NeverRuns: The original fails for all data and dims.
        Unsupported: The proofs do not support a term.
        NeedsNumber: A rank or dim must be a number.
    """
    terms = evaluation.terms
    before, after = _computed(terms, a), _computed(terms, b)
    evaluation.shared, evaluation.deep = (before & after) - {terms.find(a), terms.find(b)}, deep
    try:
        first = evaluation.tensor(a)
        for dim in first.shape:
            evaluation.within(evaluation.integers.all(dim >= 0, dim <= evaluation.most))
    except Fails as why:
        raise NeverRuns(str(why)) from None
    original, evaluation.demands = evaluation.demands, Demands()
    evaluation.is_original, evaluation.computed_before = False, before
    question = Question(evaluation)
    try:
        second = evaluation.tensor(b)
        question.goals += _alike(evaluation, first, second)
    except Fails as why:
        question.goals.append(Requirement(False, (), f"the converted model fails: {why}"))
    question.goals += [*evaluation.demands.required, *original.musts, *evaluation.demands.musts]
    question.assumed = [_under(one) for one in original.assumable]
    return question


def _computed(terms: Terms, root: int) -> set[int]:
    """The terms that are computed wherever the root is: not those in bodies, which may not run."""
    found, waiting = set[int](), [root]
    while waiting:
        term = waiting.pop()
        if term == ABSENT or terms.find(term) in found or terms.head(term).kind is Kind.BODY:
            continue
        found.add(terms.find(term))
        waiting += terms.inputs(term)
    return found


def _under(one: Requirement) -> z3.BoolRef:
    return z3.Implies(z3.And(*map(opened, one.given)), opened(one.condition)) if one.given else opened(one.condition)


def _alike(evaluation: Evaluation, first: Tensor, second: Tensor) -> list[Requirement]:
    """Goals: equal shapes and types, and equal elements at any index."""
    integers = evaluation.integers
    if first.rank != second.rank:
        return [Requirement(False, (), f"rank {first.rank} against {second.rank}")]
    if first.dtype != second.dtype:
        if not first.dtype or not second.dtype:
            raise Unsupported("an element type is not known")
        return [Requirement(False, (), f"element type {first.dtype} against {second.dtype}")]
    goals = []
    for axis, (one, other) in enumerate(zip(first.shape, second.shape)):
        goals.append(Requirement(integers.equal(one, other), (), f"the dim of axis {axis}"))
    index = [evaluation.unknown("index", dim) for dim in first.shape]
    inside: list[Truth] = [at < dim for at, dim in zip(index, first.shape)]
    inside += [at >= 0 for at in index]
    one, other = opened(first.at(index)), opened(second.at(index))
    if not one.eq(other):
        goals.append(Requirement(one == other, tuple(inside), "an element"))
    return goals


@dataclass(frozen=True)
class Answer:
    """The solver's answer.

    Attributes:
        proved: Whether all goals are proved.
        why: Why not.
        refuted: A goal that does not hold, by the facts that the solver has.
        beyond: Whether the failed goal is one against integer overflow.
    """

    proved: bool
    why: str = ""
    refuted: Requirement | None = None
    beyond: bool = False


def settle(question: Question, seconds: float, until: float) -> Answer:
    """Asks the solver for each goal.

    Raises:
        NeverRuns: The assumptions never hold.
    """
    named = [(fact, positions_in(fact)) for fact in question.facts()]
    solver = z3.Solver()
    solver.add(*(fact for fact, positions in named if not positions))
    if _check(solver, seconds, until) == z3.unsat:
        raise NeverRuns("the conditions under which it runs never hold")
    for goal in question.goals:
        if not isinstance(goal.condition, z3.ExprRef) and goal.condition:
            continue
        asked = [*map(opened, goal.given), z3.Not(opened(goal.condition))]
        about = positions_in(*asked)
        solver.push()
        # Facts of positions that this goal does not contain would only slow the solver.
        solver.add(*(fact for fact, positions in named if positions and positions <= about), *asked)
        answer = _check(solver, seconds, until)
        solver.pop()
        if answer == z3.sat:
            return Answer(False, f"it is not shown: {goal.what}", None if goal.ours else goal, goal.what == OVERFLOW)
        if answer != z3.unsat:
            why = f"the solver did not decide within {seconds:g} s: {goal.what}"
            return Answer(False, why, beyond=goal.what == OVERFLOW)
    return Answer(True)


def _check(solver: z3.Solver, seconds: float, until: float) -> z3.CheckSatResult:
    left = min(seconds, until - time.monotonic())
    if left <= 0:
        return z3.unknown
    solver.set("timeout", max(int(left * 1000), 1))
    return solver.check()
