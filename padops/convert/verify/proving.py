"""Proves two model files equal, with data for a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

from padops.convert.proof.bodies import prove_bodies
from padops.convert.proof.build import Built
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Outcome, Proof, Region, Verdict
from padops.convert.proof.terms import Terms
from padops.convert.records import ProofRecord, RegionRecord
from padops.convert.verify.cut import Side
from padops.convert.verify.parts import as_json, run_part, tell

LIMITS = Limits(region_seconds=10)
LIMITS_OF_BODIES = Limits(goal_seconds=2, region_seconds=3, seconds=20)  # all bodies together get a share
ABSENT = "{} does what its operator does; it runs where padops is absent, and is not proved: {}"
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
        return tell(said, run_part(terms, sides[0], sides[1], ends, seed, said.counterexample))

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
    return ProofRecord(
        proof.verdict.value,
        tuple(_region(region) for region in proof.regions),
        proof.same,
        proof.assumptions,
        proof.lost_errors,
        proof.new_errors,
        proof.why,
    )


def _region(region: Region) -> RegionRecord:
    example = None if region.counterexample is None else as_json(region.counterexample)
    return RegionRecord(
        region.name,
        region.original,
        region.converted,
        region.verdict.value,
        region.rule,
        region.holds_for,
        region.conditions,
        region.why,
        example,
    )
