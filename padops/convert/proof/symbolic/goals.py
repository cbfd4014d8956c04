"""The goals of a pair of terms, given to the solver one by one; and inputs for which a goal seems not to hold."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import z3

from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.symbolic.demands import OVERFLOW, Demands, Requirement
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Truth, is_open, opened, parts_of, positions_in
from padops.convert.proof.symbolic.tensors import BOOL, MOST_LISTED, RANGES, Tensor
from padops.convert.proof.terms import ABSENT, Kind, Terms

SIZES = (4, 12, 100)  # limits of an example's dims and integers, tried in this order
SECONDS = 1.0  # for each search


@dataclass
class Question:
    """The conditions to prove (``goals``) of a pair of terms. ``assumed``: the original runs, within P10."""

    evaluation: Evaluation
    assumed: list[z3.BoolRef] = field(default_factory=list)
    goals: list[Requirement] = field(default_factory=list)

    def facts(self) -> list[z3.BoolRef]:
        """All facts and assumptions."""
        made = self.evaluation
        return [*made.integers.facts, *made.leaves.distinct(), *made.flat.totals, *self.assumed]


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
    for one in original.assumable:
        condition = opened(one.condition)
        question.assumed.append(z3.Implies(z3.And(*map(opened, one.given)), condition) if one.given else condition)
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
    """The solver's answer."""

    why: str = ""  # why not all goals are proved; ``""`` if they are
    refuted: Requirement | None = None  # a goal that does not hold, by the facts that the solver has
    beyond: bool = False  # whether the failed goal is one against integer overflow


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
            return Answer(f"it is not shown: {goal.what}", None if goal.ours else goal, goal.what == OVERFLOW)
        if answer != z3.unsat:
            why = f"the solver did not decide within {seconds:g} s: {goal.what}"
            return Answer(why, beyond=goal.what == OVERFLOW)
    return Answer()


def _check(solver: z3.Solver, seconds: float, until: float) -> z3.CheckSatResult:
    left = min(seconds, until - time.monotonic())
    if left <= 0:
        return z3.unknown
    solver.set("timeout", max(int(left * 1000), 1))
    return solver.check()


def example(question: Question, refuted: Requirement, until: float) -> dict[str, Any] | None:
    """Dims and integer elements of the graph's inputs for which a goal seems not to hold: the solver has not all facts.

    Returns:
        For each input's name ``{"dims": [...]}``, with flat ``"values"`` for integers; None if no small example is
        found, or if the example would be of inner values. Both models must be run to confirm it.
    """
    evaluation = question.evaluation
    terms = evaluation.terms
    if any(terms.head(term).kind not in (Kind.INPUT, Kind.CONSTANT) for term in evaluation.leaf_terms.values()):
        return None
    asked = [*question.facts(), *map(opened, refuted.given), z3.Not(opened(refuted.condition))]
    asked += evaluation.integers.exact(asked)
    unknowns = [one for one in parts_of(asked) if z3.is_app(one) and _is_free(one)]
    for size in (*SIZES, None):
        if time.monotonic() >= until:
            return None
        solver = z3.Solver()
        solver.add(*asked)
        if size is not None:
            solver.add(*(z3.And(one <= size, one >= -size) for one in unknowns))
        if _check(solver, SECONDS, until) == z3.sat:
            return _read(question, solver.model())
    return None


def _is_free(term: z3.ExprRef) -> bool:
    """Whether a term is a free integer: a dim, or an element of an input."""
    free = term.decl().kind() == z3.Z3_OP_UNINTERPRETED and term.sort() == z3.IntSort()
    return bool(free and term.decl().name().startswith(("dim ", "x")))


def _read(question: Question, model: z3.ModelRef) -> dict[str, Any] | None:
    """The inputs in a model of the solver."""
    evaluation, found = question.evaluation, dict[str, Any]()
    for key, term in evaluation.leaf_terms.items():
        head = evaluation.terms.head(term)
        if head.kind is not Kind.INPUT:
            continue
        _, tensor = evaluation.leaves.functions[key]
        dims = [_number(model, dim) for dim in tensor.shape]
        found[head.name] = {"dims": dims}
        if tensor.dtype in RANGES or tensor.dtype == BOOL:
            if np.prod(dims, dtype=object) > MOST_LISTED:
                return None
            elements = [tensor.at([opened(at) for at in index]) for index in np.ndindex(*dims)]
            found[head.name]["values"] = [_number(model, element) for element in elements]
    return found


def _number(model: z3.ModelRef, value: Any) -> int | bool:
    if not is_open(value):
        return value  # type: ignore[no-any-return]
    said = model.eval(value, model_completion=True)
    return z3.is_true(said) if z3.is_bool(said) else int(said.as_long())
