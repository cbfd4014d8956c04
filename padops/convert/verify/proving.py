"""Proves two model files equal, with data for a report; parts that no rule proves run in isolation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from padops.convert.proof.bodies import prove_bodies
from padops.convert.proof.build import Built
from padops.convert.proof.regions import prove
from padops.convert.proof.result import DRAWN, Limits, Outcome, Proof, Region, Verdict
from padops.convert.proof.terms import Terms
from padops.convert.records import ProofRecord, RegionRecord
from padops.convert.verify.cut import GIVEN, CannotCut, Side, cut
from padops.convert.verify.feeds import Input
from padops.convert.verify.isolated import Ran, run_isolated
from padops.convert.verify.part_inputs import marks_of, named, region_inputs, sizing_inputs, whole_inputs
from padops.convert.verify.rounding import can_round, tolerance_of
from padops.convert.verify.sessions import DoesNotRun, Feeds

LIMITS = Limits(region_seconds=10)
LIMITS_OF_BODIES = Limits(goal_seconds=2, region_seconds=3, seconds=20)  # all bodies together get a share
ABSENT = "{} does what its operator does; it runs where padops is absent, and is not proved: {}"
DRAWS = 3000  # random inputs for each part that runs in isolation
SHOWN = 64  # a report lists an input's elements up to so many
Example = dict[str, Any]  # values of a part's inputs, by the original's names; arrays if they were run


def proved(original: Path, converted: Path, seed: int = 0) -> tuple[ProofRecord, list[Example]]:
    """Proves two models equal, part by part; parts that no rule proves run in isolation. ``seed`` is of their inputs.

    Returns:
        The proof; and for each part that may differ, values for which it does.

    Raises:
        PadopsError: A constant cannot be read.
    """
    models = [(path, onnx.load(path, load_external_data=False)) for path in (original, converted)]

    def run(terms: Terms, first: Built, second: Built, ends: tuple[int, int], said: Outcome) -> Outcome:
        sides = [Side(*model, built) for model, built in zip(models, (first, second), strict=True)]
        return tell(said, *run_part(terms, sides[0], sides[1], ends, seed, said.counterexample))

    (_, one), (_, other) = models
    folders = original.parent, converted.parent
    proof = prove(one, other, limits=LIMITS, folders=folders, run=run, functions=False)
    bodies = _bodies(one, other, folders)
    own = {row.name for row in one.functions if row not in other.functions}  # the conversion drops these
    assumed = [row for row in bodies if row.verdict is Verdict.UNKNOWN and own.isdisjoint(row.original)]
    told = [row for row in bodies if row not in assumed]
    proof = replace(proof, regions=(*proof.regions, *told), verdict=_worst(proof, told))
    untold = tuple(ABSENT.format(row.name, row.why) for row in assumed)
    proof = replace(proof, assumptions=(*proof.assumptions, *untold))
    found = [row.counterexample for row in proof.regions if row.verdict is Verdict.DIFFERENT and row.counterexample]
    return record_of(proof), found


def _worst(proof: Proof, bodies: list[Region]) -> Verdict:
    """The worst verdict of a proof and of function bodies."""
    found = {proof.verdict, *(row.verdict for row in bodies)}
    return next((one for one in (Verdict.DIFFERENT, Verdict.UNKNOWN) if one in found), proof.verdict)


def _bodies(original: onnx.ModelProto, converted: onnx.ModelProto, folders: tuple[Path, Path]) -> tuple[Region, ...]:
    """Proves the fallback functions of both models."""
    return prove_bodies(
        converted,
        lambda one, other: prove(one, other, limits=LIMITS_OF_BODIES, functions=False),
        LIMITS_OF_BODIES,
        folders[1],
        (original, folders[0]),
    )


def record_of(proof: Proof) -> ProofRecord:
    """A proof for the report, without times, so that two reports of the same models are equal."""
    regions = tuple(map(_region, proof.regions))
    return ProofRecord(**{**_fields(ProofRecord, proof), "verdict": proof.verdict.value, "regions": regions})


def _region(region: Region) -> RegionRecord:
    example = None if region.counterexample is None else as_json(region.counterexample)
    changed = {"verdict": region.verdict.value, "counterexample": example}
    return RegionRecord(**{**_fields(RegionRecord, region), **changed})


def _fields(record: type[Any], found: object) -> dict[str, Any]:
    """The fields of a record that have the same names in what was found."""
    return {row.name: getattr(found, row.name) for row in fields(record)}


def tell(said: Outcome, found: Outcome, replayed: bool = False) -> Outcome:
    """Merges the rules' outcome for a part with what a run of the part found.

    A suspected difference is dropped if the part ran with the rule's counterexample (``replayed``) and gave the same.
    """
    if found.verdict is Verdict.DIFFERENT:
        return found
    suspected = said.verdict is Verdict.DIFFERENT and not replayed
    refuted = said.verdict is Verdict.DIFFERENT and replayed
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
) -> tuple[Outcome, bool]:
    """Runs a part of both models in isolation, first with a rule's counterexample, if given.

    Returns:
        TESTED, with the number of inputs and what they did not reach; DIFFERENT with inputs that show it, which may
        never occur in the whole models; or UNKNOWN. And whether the part also ran with the counterexample.
    """
    try:
        one, other, inputs = cut(terms, original, converted, ends)
        marks = marks_of(one.model, other.model)
        sizing = {name.removeprefix(GIVEN) for name in sizing_inputs(one.model, other.model)}
        draws = region_inputs(inputs, marks, sizing, seed, DRAWS)
        replayed = _replayed(inputs, example)
        feeds = ({GIVEN + name: array for name, array in given.items()} for given in chain(replayed, draws))
        rounding = can_round(one.model) or can_round(other.model)
        ran = run_isolated(one, other, feeds, tolerance_of(one.model, None, None) if rounding else None)
    except CannotCut as why:
        return Outcome(Verdict.UNKNOWN, DRAWN, why=f"it cannot be run alone: {why}"), False
    except DoesNotRun as error:
        return Outcome(Verdict.UNKNOWN, DRAWN, why=f"ONNX Runtime does not run it alone: {error}"), False
    except MemoryError as error:
        return Outcome(Verdict.UNKNOWN, DRAWN, why=f"there is no memory to run it alone: {error}"), False
    return _outcome(ran, inputs), bool(replayed)


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
