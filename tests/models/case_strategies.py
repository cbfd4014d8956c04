"""Hypothesis draws one padops node with its inputs: right ones, and wrong ones of every kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import native
import numpy as np
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

from padops.conformance.cases.drawn import find_case
from padops.spec.dialects import OPS
from padops.spec.dtypes import by_numpy

Drawn = TypeVar("Drawn")

TYPES = {dtype.name: dtype for dtype in native.TYPES}


def drawn(examples: int) -> settings:
    """So many examples, the same ones in every run, however long they take."""
    checks = list(HealthCheck)
    return settings(max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=checks)


def explore(
    cases: st.SearchStrategy[Drawn], check: Callable[[Drawn], None], examples: int, met: Callable[[], object]
) -> None:
    """Draw and check so many cases, and further ones until the condition is met."""
    drawn(examples)(given(cases)(check))()
    until(cases, check, met)


def until(cases: st.SearchStrategy[Drawn], check: Callable[[Drawn], None], met: Callable[[], object]) -> None:
    """Draw and check up to 5,000 further cases until the condition is met: a release of Hypothesis may not draw one."""

    def meets(case: Drawn) -> object:
        check(case)
        return met()

    if not met():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)  # the text of the case that was found may be long
            find(cases, meets, settings=settings(drawn(5000), phases=[Phase.generate]))


@dataclass
class Case:
    op: str
    attributes: dict
    inputs: list[np.ndarray | None]
    constants: frozenset[int] = frozenset()
    static: bool = False  # whether the model declares its shapes


def cases(prefix: str) -> st.SearchStrategy[Case]:
    """Draw nodes of the operators whose names begin so: those of the conformance suite, and some with a wrong list."""
    names = [name for name in OPS if name.startswith(prefix)]
    made = st.builds(_case, st.sampled_from(names), st.integers(0, 2**32 - 1))
    return made.filter(lambda case: by_numpy(case.inputs[0].dtype) in native.TYPES)


def _case(name: str, number: int) -> Case:
    """Return a node of the suite; of twenty, one has a list that is too long, too short or negative."""
    request, rng = find_case(f"random/{name}/0/{number}"), np.random.default_rng(number)
    attributes, inputs = dict(request.attributes), list(request.inputs)
    rows = [i for i, row in enumerate(OPS[name].inputs[: len(inputs)]) if row.kind != "T" and inputs[i] is not None]
    lists = [*rows, *(key for key, value in attributes.items() if isinstance(value, list))]
    if rng.random() < 0.05:
        at = lists[rng.integers(len(lists))]
        values = [int(value) for value in (inputs[at] if isinstance(at, int) else attributes[at])]
        values = ([*values, 1], values[:-1], [-1] * len(values))[rng.integers(3)]
        if not isinstance(at, int):
            attributes[at] = values
        elif inputs[at].dtype.kind == "i":
            inputs[at] = np.array(values, inputs[at].dtype)
    elif name.startswith("Pad_") and len(inputs) > 1 and rng.random() < 0.1:
        inputs[1] = inputs[1].reshape(1, -1)
    if "value" in attributes and rng.random() < 0.5:
        attributes["value"] = float(np.frombuffer(rng.bytes(4), np.float32)[0])
    return Case(name, attributes, inputs, frozenset(request.constant_inputs), request.static)
