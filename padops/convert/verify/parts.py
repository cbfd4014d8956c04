"""Runs a part of two models that no rule proves in isolation, with thousands of random inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from padops.convert.proof.result import DRAWN, Outcome, Verdict
from padops.convert.proof.terms import Terms
from padops.convert.verify.cut import GIVEN, CannotCut, Side, cut
from padops.convert.verify.feeds import Input
from padops.convert.verify.isolated import Ran, run_isolated
from padops.convert.verify.part_inputs import marks_of, region_inputs, sizing_inputs
from padops.convert.verify.replay import named, whole_inputs
from padops.convert.verify.rounding import tolerance_of
from padops.convert.verify.sessions import DoesNotRun, Feeds

DRAWS = 3000  # for each part
SHOWN = 64  # a report lists an input's elements up to so many


@dataclass(frozen=True)
class Tried:
    """The result of running a part.

    Attributes:
        outcome: The outcome.
        replayed: Whether the part also ran with a rule's counterexample.
    """

    outcome: Outcome
    replayed: bool = False


def tell(said: Outcome, tried: Tried) -> Outcome:
    """Merges the rules' outcome for a part with the result of running it.

    A suspected difference is dropped if the part ran with the rule's counterexample and gave the same.
    """
    found = tried.outcome
    if found.verdict is Verdict.DIFFERENT:
        return found
    suspected = said.verdict is Verdict.DIFFERENT and not tried.replayed
    refuted = said.verdict is Verdict.DIFFERENT and tried.replayed
    before = f"{said.why}, but not for the values that a rule has found" if refuted else said.why
    why = "; ".join(filter(None, (before, found.why)))
    return replace(said if suspected else found, why=why)


def run_part(
    terms: Terms,
    original: Side,
    converted: Side,
    ends: tuple[int, int],
    seed: int,
    example: Mapping[str, Any] | None = None,
) -> Tried:
    """Runs a part of both models in isolation, first with a rule's counterexample, if given.

    Returns:
        TESTED, with the number of inputs and what they did not reach; DIFFERENT with inputs that show it, which may
        never occur in the whole models; or UNKNOWN.
    """
    try:
        one, other, inputs = cut(terms, original, converted, ends)
        marks = marks_of(one.model, other.model)
        sizing = {name.removeprefix(GIVEN) for name in sizing_inputs(one.model, other.model)}
        draws = region_inputs(inputs, marks, sizing, seed, DRAWS)
        replayed = _replayed(inputs, example)
        feeds = ({GIVEN + name: array for name, array in given.items()} for given in chain(replayed, draws))
        ran = run_isolated(one, other, feeds, tolerance_of(one.model, None, None))
    except CannotCut as why:
        return Tried(Outcome(Verdict.UNKNOWN, DRAWN, why=f"it cannot be run alone: {why}"))
    except DoesNotRun as error:
        return Tried(Outcome(Verdict.UNKNOWN, DRAWN, why=f"ONNX Runtime does not run it alone: {error}"))
    except MemoryError as error:
        return Tried(Outcome(Verdict.UNKNOWN, DRAWN, why=f"there is no memory to run it alone: {error}"))
    return Tried(_outcome(ran, inputs), bool(replayed))


def _replayed(inputs: Sequence[Input], example: Mapping[str, Any] | None) -> list[Feeds]:
    """The part's inputs from a counterexample; empty if it does not name all of them."""
    if example is None or not {row.name for row in inputs} <= set(named(example)):
        return []
    feeds = whole_inputs(inputs, example)
    return [] if feeds is None else [feeds]


def _outcome(ran: Ran, inputs: Sequence[Input]) -> Outcome:
    if ran.feeds is not None:
        found: dict[str, Any] = {name.removeprefix(GIVEN): array for name, array in ran.feeds.items()}
        sizes = {dim: size for row in inputs for dim, size in zip(row.dims or (), found[row.name].shape)}
        found |= {name: size for name, size in sizes.items() if isinstance(name, str) and name not in found}
        return Outcome(Verdict.DIFFERENT, DRAWN, why=ran.detail, counterexample=found)
    if ran.unstable:
        return Outcome(Verdict.UNKNOWN, DRAWN, why="run alone, the original changes from run to run")
    if ran.rounding:
        return Outcome(Verdict.UNKNOWN, DRAWN, why=f"run alone, floats differ by what may be rounding: {ran.detail}")
    if not ran.draws:
        return Outcome(Verdict.UNKNOWN, DRAWN, why=f"run alone: {'; '.join(ran.unreached)}")
    took = f"{ran.draws} random inputs gave the same bits"
    refused = f", the original refused {ran.refused} more" if ran.refused else ""
    return Outcome(Verdict.TESTED, DRAWN, f"{ran.draws} random inputs", why="; ".join([took + refused, *ran.unreached]))


def as_json(example: Mapping[str, Any]) -> dict[str, Any]:
    """A counterexample as JSON: the type, dims and, if few, the elements of each input."""
    return {str(name): _plain(value) for name, value in example.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        told = {"type": str(value.dtype), "dims": list(value.shape)}
        return told | ({"elements": _plain(value.tolist())} if value.size <= SHOWN else {})
    if isinstance(value, Mapping):
        return as_json(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value if isinstance(value, bool | int | float | str | None) else str(value)
