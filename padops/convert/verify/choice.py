"""How a conversion is verified: proofs and runs, and the texts of a verification that did not pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from padops.convert.conversion import Conversion
from padops.convert.errors import PadopsError, UndecidedError, VerificationError
from padops.convert.matchers import Matcher, find_pads
from padops.convert.model.document import Document
from padops.convert.model.external import check_entries
from padops.convert.model.reach import values_behind
from padops.convert.model.scan import external_tensors
from padops.convert.model.types import Types
from padops.convert.pad_facts import facts_of
from padops.convert.records import Verification
from padops.convert.verify.compare import RunInputs, compare
from padops.convert.verify.feeds import Asked, inputs_of, load_inputs, other_interface
from padops.convert.verify.openvino import compare_with_openvino
from padops.convert.verify.pads import Hints, special_values
from padops.convert.verify.part_inputs import whole_inputs
from padops.convert.verify.process_copy import WHOLE_SECONDS, DiedError, ProcessCopy, survive
from padops.convert.verify.proving import proved
from padops.convert.verify.random_inputs import CannotDrawError
from padops.runtime.installed import installed_minor

DOUBTED = ("wrong", "may be wrong")  # verdicts on a Pad
MOST_REPLAYS = 4  # parts that seem to differ whose inputs are replayed on the whole models
CHEAP = 1 << 24  # up to so many bytes, a model runs whole even if all its parts ran in isolation
UNDECIDED = "it could not be told whether the models agree"
CHANGED = "the outputs differ because the converted model corrects the original ({})"
OTHERWISE = "without verification it is converted all the same"


def doubted_values(document: Document, sources: Sequence[Matcher]) -> dict[str, str]:
    """The values behind Pads that the installed ONNX Runtime gets wrong, or may, each with the Pad and the reason."""
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
    """A function that compares two model files: by proofs and, if these are incomplete or a run is asked for, by runs.

    Only a run needs onnxruntime, and inputs that can be made at random. ``document`` is the original before the
    conversion; ``conversion`` tells which values it corrects.
    """
    given = None
    if asked.inputs is not None:
        given = load_inputs(asked.inputs, inputs_of(document.message()))
    records = conversion.records if conversion else ()
    wrong = "; ".join(f"{record.path}: {record.corrects}" for record in records if record.corrects)
    corrected = conversion._corrected if conversion else frozenset()

    def compare_and_say(original: Path, converted: Path) -> Verification:
        if noticed := other_interface(_message(document, original), onnx.load(converted, load_external_data=False)):
            return Verification("interface", notes=noticed)
        proof, examples = (None, []) if document.foreign else proved(original, converted, asked.seed)
        told = proof is not None and (
            proof.verdict == "proved" or (proof.verdict == "tested" and _size(original) > CHEAP)
        )
        if proof is not None and told and not asked.run and given is None:
            notes = _changes(document.message(), asked.doubted, wrong)
            return Verification("proved" if proof.verdict == "proved" else "alone", notes=notes, proof=proof)
        replays = _replays(document, examples) if examples else iter(())
        replays = (feeds for feeds in replays if survive((original, converted), dict(feeds)))

        def run() -> Verification:
            return _whole(lambda feeds: _run(document, asked, feeds, corrected)(original, converted), given, replays)

        verification = run() if proof is None else _run_in_copy(run, asked.run or given is not None)
        if verification.outcome == "corrected" and wrong:
            note = CHANGED.format(wrong)
            verification = replace(verification, notes=(*verification.notes, note))
        return replace(verification, proof=proof)

    return compare_and_say


def _message(document: Document, original: Path) -> onnx.ModelProto:
    """The original as an ONNX model; one of another format is read as ONNX."""
    return document.message() if document.foreign else onnx.load(original, load_external_data=False)


def _whole(
    run: Callable[[Mapping[str, np.ndarray] | None], Verification],
    given: Mapping[str, np.ndarray] | None,
    replays: Iterator[Mapping[str, np.ndarray]],
) -> Verification:
    """Runs both models: with the caller's inputs, with replays of suspected differences, else with random inputs."""
    usual = None if given is None else run(given)
    if usual is not None and usual.refuted:
        return usual
    shown = next((found for found in map(run, replays) if found.outcome == "different"), None)
    return shown or usual or run(None)


def _run_in_copy(run: Callable[[], Verification], is_asked: bool) -> Verification:
    """The result of runs; if they are not possible, the reason, since a proof counts without them.

    Raises:
        PadopsError: The caller asked for a run, and it is not possible: wrong inputs, or a missing library.
    """
    try:
        with closing(ProcessCopy(lambda: lambda question: run())) as copy:
            found: Verification = copy.ask(None, WHOLE_SECONDS)
            return found
    except MemoryError as error:
        why = f"there is no memory to run the models: {error}"
    except (CannotDrawError, DiedError) as error:
        why = str(error)
    except PadopsError as error:
        if is_asked:
            raise
        why = str(error)
    return Verification("not run", notes=(why,))


def _replays(document: Document, examples: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, np.ndarray]]:
    """Inputs of the whole model for which a part of it seems to differ."""
    inputs = inputs_of(document.message())
    shown = (whole_inputs(inputs, example, seed) for example in examples[:MOST_REPLAYS] for seed in range(2))
    yield from (feeds for feeds in shown if feeds is not None)


def _size(path: Path) -> int:
    """The bytes of a model file and its external data."""
    tensors = external_tensors(onnx.load(path, load_external_data=False))
    return path.stat().st_size + sum(check_entries(tensor, place)[2] for tensor, place in tensors)


def _run(
    document: Document, asked: Asked, given: Mapping[str, np.ndarray] | None, corrected: frozenset[str]
) -> Callable[[Path, Path], Verification]:
    """A function that runs two model files on the same inputs and compares them."""
    inputs, hints = inputs_of(document.message()), Hints(special_values(document.model))
    case = RunInputs(inputs, given, asked, hints, corrected)
    if document.is_openvino:
        return partial(compare_with_openvino, Path(document.foreign[0].name), case)
    return partial(compare, case=case)


def _changes(message: onnx.ModelProto, doubted: Mapping[str, str], wrong: str) -> tuple[str, ...]:
    """Notes beside a proof: outputs that may change because ONNX Runtime gets the original wrong."""
    names = [value.name for value in message.graph.output if value.name in doubted]
    told = [f"{name} may change, since ONNX Runtime may get the original wrong: {doubted[name]}" for name in names]
    return (*told, *([CHANGED.format(wrong)] if wrong else []))


def shortcoming(verification: Verification, strict: bool) -> type[VerificationError] | None:
    """The error of a verification, with the exit code of ``padops verify`` and ``padops convert``; None if it passed.

    ``strict`` accepts only a proof, and takes rounding for a difference.
    """
    if verification.refuted or (strict and verification.outcome == "close"):
        return VerificationError
    accepted = verification.verdict == "proved" if strict else verification.passed
    return None if accepted else UndecidedError


def refusal(
    verification: Verification, strict: bool, corrected: Collection[str]
) -> tuple[type[VerificationError], str] | None:
    """Why a converted model is not written: the error and its text; None if it is written.

    Without ``strict``, a model that runs is written even if there is nothing to compare it with.
    """
    error = shortcoming(verification, strict)
    if error is VerificationError:
        return error, mismatch(verification, corrected)
    if error is None or not (strict or verification.outcome in ("undecided", "not run")):
        return None
    if verification.outcome in ("undecided", "not run"):
        return error, f"{UNDECIDED}: {'; '.join(verification.notes)}; {OTHERWISE}"
    return error, undecided(verification)


def mismatch(verification: Verification, corrected: Collection[str]) -> str:
    """The finding of a failed verification, in one sentence."""
    if verification.outcome == "fails":
        return "the converted model fails: " + "; ".join(verification.notes)
    if verification.outcome == "interface":
        return "callers see another model: " + "; ".join(verification.notes)
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
    """The open points of a verification, in one sentence."""
    first, *others = (*verification.doubts, *verification.unproved)
    return f"{UNDECIDED}: {first}" + (f", and {len(others)} more" if others else "")
