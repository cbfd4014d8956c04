"""What is proved of two model files, as data for a report."""

from __future__ import annotations

from pathlib import Path

import onnx

from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Proof, Region
from padops.convert.records import ProofRecord, RegionRecord
from padops.convert.verify.parts import as_json


def proved(original: Path, converted: Path) -> ProofRecord:
    """Proves of two models what can be proved, without running them.

    Args:
        original: A model file.
        converted: A model file.

    Raises:
        PadopsError: A constant of one of them cannot be read.
    """
    one, other = (onnx.load(path, load_external_data=False) for path in (original, converted))
    return record_of(prove(one, other, limits=Limits(), folders=(original.parent, converted.parent)))


def record_of(proof: Proof) -> ProofRecord:
    """A proof as the report has it: without times, so that two reports of the same models are the same."""
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
