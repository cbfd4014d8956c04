"""Compares two models by a proof and by runs, and words the failure of a verification."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from padops.convert.errors import PadopsError, UndecidedError, VerificationError
from padops.convert.inputs.given import Feeds, Input, inputs_of, load_inputs
from padops.convert.inputs.pads import Hints, hints_of
from padops.convert.inputs.random_inputs import CannotDrawError
from padops.convert.model.document import Document
from padops.convert.model.external import check_entries
from padops.convert.model.scan import external_tensors
from padops.convert.records import Conversion, Outcome, ProofRecord, RegionRecord, Verification
from padops.convert.verify.compare import compare
from padops.convert.verify.interface import Asked, RunInputs, other_interface
from padops.convert.verify.openvino import compare_with_openvino
from padops.convert.verify.process_copy import DiedError, in_copy
from padops.convert.verify.proof import prove
from padops.convert.verify.result import Proof, Region, Verdict
from padops.extras import DependencyError
from padops.spec.dtypes import by_name

MOST_COPIES = 100  # each ends where the original dies
CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")  # signals of a crash; others may come from elsewhere
MOST_REPLAYS = 4  # suspected differences whose sizes are replayed on the whole models
CHEAP = 1 << 28  # proved models of at most this many bytes also run
LARGEST = 1 << 20  # the most elements of an input made for a counterexample
ROOM, LOADED = 1 << 33, 16  # memory of runs on random inputs: bytes, plus so many times the larger model
UNDECIDED = "padops could not decide whether the models agree"
CHANGED = "the outputs differ because the converted model corrects the original ({})"
OTHERWISE = "without verification it is converted all the same"
NOT_LOADED = "neither model was loaded: {}"


def comparison(
    document: Document, asked: Asked, conversion: Conversion | None = None
) -> Callable[[Path, Path], Verification]:
    """Returns a function that compares two model files: by a proof, then by runs.

    Without onnxruntime, and for large models, a proof alone is enough. ``document`` is the original before the
    conversion; ``conversion`` lists the values that the conversion corrects.
    """
    given = None
    if asked.inputs is not None:
        given = load_inputs(asked.inputs, inputs_of(document.message()))
    records = conversion.records if conversion else ()
    wrong = "; ".join(f"{record.path}: {record.corrects}" for record in records if record.corrects)
    corrected = conversion._corrected if conversion else frozenset()

    def compare_and_say(original: Path, converted: Path) -> Verification:
        message = document.message() if document.foreign else onnx.load(original, load_external_data=False)
        if noticed := other_interface(message, onnx.load(converted, load_external_data=False)):
            return Verification("interface", notes=noticed)
        proof = None if document.foreign else proved(original, converted)
        is_proved = proof is not None and proof.verdict is Verdict.PROVED
        must_run = asked.run or given is not None
        size = 0 if document.foreign else max(map(_size, (original, converted)))
        if is_proved and size > CHEAP and not must_run:
            notes = (NOT_LOADED.format(f"they have {size} bytes, more than {CHEAP}; --run does it"),)
            verification = Verification("proved", notes=(*_changes(message, asked.doubted, wrong), *notes))
        else:
            try:
                inputs = inputs_of(document.message())
                first = () if proof is None else tuple(_replays(inputs, proof))
                hints = Hints(hints_of(document.message()).special)
                case = RunInputs(inputs, given, asked, hints, corrected, first, is_proved, must_run)
                room = None if given is not None else ROOM + LOADED * size
                verification = _ran(document, original, converted, case, room)
            except (PadopsError, DependencyError) as error:
                if (must_run or proof is None) and not isinstance(error, CannotDrawError):
                    raise
                outcome: Outcome = "proved" if is_proved and not must_run else "not run"
                verification = Verification(outcome, notes=(NOT_LOADED.format(error),))
        if verification.outcome == "corrected" and wrong:
            verification = replace(verification, notes=(*verification.notes, CHANGED.format(wrong)))
        return replace(verification, proof=None if proof is None else record_of(proof))

    return compare_and_say


def proved(original: Path, converted: Path) -> Proof:
    """The proof of two model files. Raises PadopsError if a constant cannot be read."""
    one, other = (onnx.load(path, load_external_data=False) for path in (original, converted))
    return prove(one, other, folders=(original.parent, converted.parent))


def _ran(document: Document, original: Path, converted: Path, case: RunInputs, room: int | None) -> Verification:
    """Returns the result of runs, or why they are impossible. ``room`` is the memory of runs; see ``in_copy``."""

    def run() -> Verification:
        if document.foreign:
            return compare_with_openvino(Path(document.foreign[0].name), case, original, converted)
        return compare(original, converted, case)

    if document.foreign:
        return run()
    note = ""
    try:
        for _ in range(MOST_COPIES):
            try:
                found: Verification = in_copy(run, room)
                return found
            except DiedError as error:
                note = str(error)
                if not case.risks.learn():
                    if case.risks.blamed and any(name in note for name in CRASHES):
                        return Verification("fails", notes=(f"with the converted model, {note}",))
                    break
    except MemoryError as error:
        note = f"there is no memory to run the models: {error}"
    return Verification("not run", notes=(note,))


def record_of(proof: Proof) -> ProofRecord:
    """A proof for the report."""
    regions = tuple(map(_region, proof.regions))
    return ProofRecord(**{**_fields(ProofRecord, proof), "verdict": proof.verdict.value, "regions": regions})


def _region(region: Region) -> RegionRecord:
    example = None if region.counterexample is None else {"dims": region.counterexample}
    changed = {"verdict": region.verdict.value, "counterexample": example}
    return RegionRecord(**{**_fields(RegionRecord, region), **changed})


def _fields(record: type[Any], found: object) -> dict[str, Any]:
    """Copies the record's fields from an object that has attributes of the same names."""
    return {row.name: getattr(found, row.name) for row in fields(record)}


def _replays(inputs: Sequence[Input], proof: Proof) -> Iterator[Feeds]:
    """Yields inputs with the dims for which a part of the models seems to differ."""
    examples = [row.counterexample for row in proof.regions if row.counterexample]
    for example in examples[:MOST_REPLAYS]:
        shapes = _shapes(inputs, example)
        if shapes is None or any(prod(shape) > LARGEST for shape in shapes.values()):
            continue
        rng = np.random.default_rng(0)
        feeds = {}
        for row in inputs:
            dtype, shape = by_name(row.type), shapes[row.name]
            if dtype.bits < 8 or row.type == "string":
                break
            numbers = rng.standard_normal(shape) if "float" in row.type or row.type == "double" else rng.integers(
                0, 2 if row.type == "bool" else 100, shape)  # fmt: skip
            feeds[row.name] = np.asarray(numbers).astype(dtype.numpy)
        else:
            yield feeds


def _shapes(inputs: Sequence[Input], example: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]] | None:
    """Derives each input's dims from example dims; None if the example names no input."""
    sizes: dict[str, int] = {}
    if not any(row.name in example for row in inputs):
        return None
    for row in (row for row in inputs if row.name in example and row.dims is not None):
        for dim, size in zip(row.dims or (), example[row.name]):
            if isinstance(dim, str):
                sizes.setdefault(dim, size)
    known = {row.name: [dim if isinstance(dim, int) else sizes.get(str(dim), 2) for dim in row.dims or ()]
             for row in inputs}  # fmt: skip
    return {row.name: tuple(example.get(row.name, known[row.name])) for row in inputs}


def _size(path: Path) -> int:
    """The bytes of a model file and its external data."""
    tensors = external_tensors(onnx.load(path, load_external_data=False))
    return path.stat().st_size + sum(check_entries(tensor, place)[2] for tensor, place in tensors)


def _changes(message: onnx.ModelProto, doubted: Mapping[str, str], wrong: str) -> tuple[str, ...]:
    """Notes beside a proof: outputs that may change because ONNX Runtime gets the original wrong."""
    names = [value.name for value in message.graph.output if value.name in doubted]
    told = [f"{name} may change, since ONNX Runtime may get the original wrong: {doubted[name]}" for name in names]
    return (*told, *([CHANGED.format(wrong)] if wrong else []))


def shortcoming(verification: Verification, strict: bool) -> type[VerificationError] | None:
    """Returns the error class of a verification, which has the exit code of the command; None if it passed.

    ``strict`` accepts only a proof.
    """
    if verification.refuted:
        return VerificationError
    accepted = verification.verdict == "proved" if strict else verification.passed
    return None if accepted else UndecidedError


def refusal(
    verification: Verification, strict: bool, corrected: Collection[str]
) -> tuple[type[VerificationError], str] | None:
    """Returns the error and its text if the converted model must not be written; else None.

    Without ``strict``, a model that runs is written even if no original exists to compare.
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
    """Describes a failed verification in one sentence."""
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
    """Describes a verification's open points in one sentence."""
    first, *others = (*verification.doubts, *verification.unproved)
    return f"{UNDECIDED}: {first}" + (f", and {len(others)} more" if others else "")
