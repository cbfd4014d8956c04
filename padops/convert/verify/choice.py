"""How a conversion is verified, and what a verification that did not pass says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from padops.convert.conversion import Conversion
from padops.convert.errors import UndecidedError, VerificationError
from padops.convert.model.document import Document
from padops.convert.model.reach import values_behind
from padops.convert.model.types import Types
from padops.convert.records import Verification
from padops.convert.sources import SOURCES, Source, find_pads
from padops.convert.sources.pad_facts import facts_of
from padops.convert.verify.feeds import Inputs, inputs_of, load_inputs
from padops.convert.verify.hints import Hints, special_values
from padops.runtime.installed import installed_minor

DOUBTED = ("wrong", "may be wrong")  # of the verdicts on a Pad
UNDECIDED = "it could not be told whether the models agree"
OTHERWISE = "without verification it is converted all the same"


@dataclass(frozen=True)
class Asked:
    """What a comparison is to use.

    Attributes:
        inputs: What to run both models with; None for random numbers.
        seed: Of those.
        sources: What counts as a Pad of the original.
        rtol: By how much of itself an element of floats may differ; None for the default.
        atol: By how much it may differ beside that.
        doubted: See ``doubted_values``.
    """

    inputs: Inputs | None = None
    seed: int = 0
    sources: Sequence[Source] = SOURCES
    rtol: float | None = None
    atol: float | None = None
    doubted: Mapping[str, str] = field(default_factory=dict)


def doubted_values(document: Document, sources: Sequence[Source]) -> dict[str, str]:
    """The values that depend on a Pad which the installed ONNX Runtime gets wrong, or may, each with the Pad and the reason.

    Args:
        document: The model, before anything in it is changed.
        sources: What counts as a Pad.
    """
    types, minor = Types(document), installed_minor()
    found: dict[str, str] = {}
    for site, match in find_pads(document.model, types, tuple(sources)):
        facts = facts_of(site, match, types, minor)
        if facts.verdict in DOUBTED:
            behind = values_behind(document.model, [site.node])
            found |= {name: f"{site.path}: {facts.why}" for name in behind if name not in found}
    return found


def comparison(
    document: Document, asked: Asked, conversion: Conversion | None = None
) -> Callable[[Path, Path], Verification]:
    """What compares two model files. It alone needs onnxruntime, once it is called.

    Args:
        document: The model.
        asked: What to use.
        conversion: Which values may differ, and why; None where all have to agree.
    """
    from padops.convert.verify.compare import Case, compare

    corrected = conversion._corrected if conversion else frozenset()
    hints = Hints(special_values(document.model))
    inputs = inputs_of(document.message())
    given = load_inputs(asked.inputs, inputs) if asked.inputs is not None else None
    case = Case(
        inputs, given, asked.seed, hints, corrected, asked.sources, asked.doubted, rtol=asked.rtol, atol=asked.atol
    )
    run: Callable[[Path, Path], Verification] = partial(compare, case=case)
    if document.is_openvino:
        from padops.convert.verify.openvino import compare_with_openvino

        run = partial(compare_with_openvino, Path(document.foreign[0].name), case)
    records = conversion.records if conversion else ()
    wrong = "; ".join(f"{record.path}: {record.corrects}" for record in records if record.corrects)

    def compare_and_say(original: Path, converted: Path) -> Verification:
        verification = run(original, converted)
        if verification.outcome != "corrected" or not wrong:
            return verification
        note = f"the outputs differ because the converted model corrects the original ({wrong})"
        return replace(verification, notes=(*verification.notes, note))

    return compare_and_say


def refusal(
    verification: Verification, strict: bool, corrected: Collection[str]
) -> tuple[type[VerificationError], str] | None:
    """Why a converted model is not accepted: the error, and what it says; None where it is.

    One that runs, and that nothing can be compared with, is accepted, but for ``strict``: it may be what was asked for.

    Args:
        verification: Of it.
        strict: Whether doubts, and floats that round otherwise, count.
        corrected: The values that may differ.
    """
    if verification.refuted or (strict and verification.outcome == "close"):
        return VerificationError, mismatch(verification, corrected)
    if verification.outcome in ("undecided", "same"):
        neither = "neither model runs with these inputs" if verification.inputs else "neither model runs"
        told = UNDECIDED if verification.outcome == "undecided" else neither
        return UndecidedError, f"{told}: {'; '.join(verification.notes)}; {OTHERWISE}"
    return (UndecidedError, undecided(verification)) if strict and verification.doubts else None


def mismatch(verification: Verification, corrected: Collection[str]) -> str:
    """What a failed verification found, in one sentence."""
    if verification.outcome == "fails":
        return "the converted model fails: " + "; ".join(verification.notes)
    wrong = [pad for pad in verification.pads if pad.right is False]
    differing = [output for output in verification.outputs if not output.equal]
    if not differing:
        pads = wrong or [pad for pad in verification.pads if not pad.equal]
        count = "1 Pad gives" if len(pads) == 1 else f"{len(pads)} Pads give"
        though = ", though all outputs agree" if verification.outputs else ""
        return f"{count} something else{though}; {pads[0].path}: {pads[0].detail}"
    differing = [output for output in differing if output.name not in corrected] or differing
    count = "1 output differs" if len(differing) == 1 else f"{len(differing)} outputs differ"
    text = f"{count}; {differing[0].name}: {differing[0].detail}"
    if wrong:
        more = "" if wrong[0].detail.endswith(f": {differing[0].detail}") else f": {wrong[0].detail}"
        return f"{text}; a Pad is the reason: {wrong[0].path}{more}"
    return f"{text}; {verification.notes[-1]}" if verification.notes else text


def undecided(verification: Verification) -> str:
    """What a verification leaves open, in one sentence."""
    first, *others = verification.doubts
    return f"{UNDECIDED}: {first}" + (f", and {len(others)} more" if others else "")
