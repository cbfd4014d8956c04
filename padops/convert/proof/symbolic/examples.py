"""Inputs for which two terms seem to differ. They must be replayed on both models: the solver has not all facts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import z3

from padops.convert.proof.symbolic.demands import Requirement
from padops.convert.proof.symbolic.goals import Question
from padops.convert.proof.symbolic.integers import is_open, opened, parts_of
from padops.convert.proof.symbolic.tensors import BOOL, MOST_LISTED, RANGES
from padops.convert.proof.terms import Kind

SIZES = (4, 12, 100)  # limits of an example's dims and integers, tried in this order
SECONDS = 1.0  # for each search


def example(question: Question, refuted: Requirement, until: float) -> dict[str, Any] | None:
    """Dims and integer elements of the graph's inputs for which a goal does not hold.

    Returns:
        For each input's name ``{"dims": [...]}``, with flat ``"values"`` for integers; None if no small example is
        found, or if the example would be of inner values.
    """
    evaluation = question.evaluation
    terms = evaluation.terms
    if any(terms.head(term).kind not in (Kind.INPUT, Kind.CONSTANT) for term in evaluation.leaf_terms.values()):
        return None
    asked = [*question.facts(), *map(opened, refuted.given), z3.Not(opened(refuted.condition))]
    asked += evaluation.integers.exact(asked)
    unknowns = [one for one in parts_of(asked) if z3.is_app(one) and _is_free(one)]
    for size in (*SIZES, None):
        left = min(SECONDS, until - time.monotonic())
        if left <= 0:
            return None
        solver = z3.Solver()
        solver.set("timeout", int(left * 1000) + 1)
        solver.add(*asked)
        if size is not None:
            solver.add(*(z3.And(one <= size, one >= -size) for one in unknowns))
        if solver.check() == z3.sat:
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
