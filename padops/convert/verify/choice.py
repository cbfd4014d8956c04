"""Compares two models by a proof and by runs (``padops.verify``), and describes a failed verification in words."""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import onnx

from padops.convert.analysis import Analysis
from padops.convert.arguments import check_kinds, check_tolerance
from padops.convert.errors import PadopsError, UndecidedError, UsageError, VerificationError, os_errors_as
from padops.convert.inputs.given import Input, Inputs, inputs_of, load_inputs
from padops.convert.inputs.pads import Hints, hints_of
from padops.convert.inputs.random_inputs import CannotDrawError
from padops.convert.model.document import LARGEST_PROTO, Document, Source, given_model, read_document
from padops.convert.model.external import check_entries
from padops.convert.model.nesting import external_tensors
from padops.convert.records import Conversion, Outcome, ProofRecord, Verification
from padops.convert.verify.compare import compare, noted
from padops.convert.verify.interface import Asked, RunInputs, other_interface
from padops.convert.verify.openvino import compare_with_openvino
from padops.convert.verify.proof import prove
from padops.convert.verify.providers import Providers, check_providers, compare_beside
from padops.convert.verify.sessions import DoesNotRun, Model
from padops.extras import DependencyError
from padops.processes import how_ended

MOST_COPIES = 100  # the most copies of this process for one comparison; each crash ends a copy
CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")  # signals of a crash; other signals may have another cause
MOST_REPLAYS = 4  # the most suspected differences whose sizes are replayed on the whole models
CHEAP = 1 << 28  # proved models of at most this many bytes also run
LARGEST = 1 << 20  # the most elements of an input that is created for a counterexample
ROOM, LOADED = 1 << 33, 16  # memory of runs on random inputs: ROOM bytes, plus LOADED times the larger model
UNDECIDED = "padops could not decide whether the models agree"
CHANGED = "the outputs differ because the converted model corrects the original ({})"
OTHERWISE = "without verification it is converted all the same"
MAY_CHANGE = "{} may change, since ONNX Runtime may get the original wrong: {}"
NOT_LOADED, NOT_FED = "neither model was loaded: {}", "neither model was run: {}"
REFUSED = "ONNX Runtime does not load the {} model: {}"


def verify(
    original: Source,
    converted: Source,
    inputs: Inputs | None = None,
    seed: int = 0,
    *,
    run: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    providers: Providers | None = None,
) -> Verification:
    """Checks whether two models return the same results; the verdict is proved, tested, different or unknown.

    First, padops tries to prove each differing part equal; docs/verification.md describes the proofs and their limits.
    Then both models run on the same inputs: the caller's, or random inputs chosen so that the Pads pad something.
    Outputs may differ by ``rtol`` and ``atol``. If neither is given, outputs may differ by a tolerance measured on the
    original; if the models only move data, every bit counts.

    Args:
        original: A file, bytes, a binary file object, an ``onnx.ModelProto``, an ``onnx_ir.Model``, or an OpenVINO IR.
        converted: The other model. It may have operators of padops.
        inputs: Arrays by input name, or the path of an ``.npz``; runs use them even after a proof. None: random inputs.
        seed: The seed of random inputs.
        run: Whether to make as many runs after a proof as without a proof.
        rtol: The relative tolerance of floats, a factor of the original's element; 0 if only ``atol`` is given. Without
            ``rtol`` and ``atol``, the tolerance is measured on the original.
        atol: The absolute tolerance of floats, added to the relative tolerance; 0 if only ``rtol`` is given.
        providers: The execution providers of both sessions, first choice first: names, or pairs of a name and options.
            padops adds its provider as in ``padops.InferenceSession``, but converts neither model. Each session has its
            own process, because a provider may crash. With providers, there is no proof: every bit of the outputs is
            compared, unless ``rtol`` or ``atol`` is given. The notes name the provider of each Pad. Before the call,
            register the providers' libraries with onnxruntime.

    Returns:
        The proofs and comparisons; ``verdict``, ``passed`` and ``doubts`` sum them up. ``passed`` is True only after a
        proof or a comparison.

    Raises:
        UsageError: An argument is of the wrong type, the inputs do not match the model's, the seed or a tolerance is
            negative, or onnxruntime has no such provider.
        PadopsError: A model cannot be read, a library to run it is missing, or onnxruntime leaves out a provider.
    """
    check_kinds({"run": run}, {}, inputs, seed)
    original, converted = given_model(original), given_model(converted)
    if seed < 0:
        raise UsageError(f"seed is {seed}, expected 0 or more")
    check_tolerance(rtol, atol)
    if providers is not None:
        check_providers(providers)
    with tempfile.TemporaryDirectory(prefix="padops-") as folder:
        documents = []
        for source in (original, converted):
            with os_errors_as("cannot read", source):
                documents.append(read_document(source))
        one, other = documents
        if other.foreign:
            raise UsageError("the second model is an OpenVINO IR; only the first model may be one")
        paths = [_file(document, Path(folder) / name) for document, name in ((one, "original"), (other, "converted"))]
        if providers is not None:
            return compare_beside((one, other), (paths[0], paths[1]), Asked(inputs, seed, rtol, atol), providers)
        doubted = ({}, {}) if one.foreign else Analysis(one).doubted()
        return comparison(one, Asked(inputs, seed, rtol, atol, *doubted, run=run))(*paths)


def comparison(
    document: Document, asked: Asked, conversion: Conversion | None = None
) -> Callable[[Path, Path], Verification]:
    """Returns a function that compares two model files: by a proof, then by runs, if these are possible.

    After a proof, the models run only if runs are cheap or the caller asks for them.

    ``document`` is the original before the conversion; ``conversion`` lists the values that the conversion corrects.
    """
    given = None if asked.inputs is None else load_inputs(asked.inputs, inputs_of(document.proto))
    records = conversion.records if conversion else ()
    wrong = "; ".join(f"{record.path}: {record.corrects}" for record in records if record.corrects)
    corrected = conversion._corrected if conversion else frozenset()

    def compare_and_say(original: Path, converted: Path) -> Verification:
        message = document.proto if document.foreign else onnx.load(original, load_external_data=False)
        first, second = Model(original, message), Model(converted, onnx.load(converted, load_external_data=False))
        if noticed := other_interface(message, second.message):
            return Verification("interface", notes=noticed)
        folders = original.parent, converted.parent
        proof = None if document.foreign else prove(first.message, second.message, folders=folders)
        is_proved = proof is not None and proof.verdict == "proved"
        must_run = asked.run or given is not None
        size = 0 if document.foreign else max(map(_size, (first, second)))
        if is_proved and size > CHEAP and not must_run:
            names = [value.name for value in message.graph.output if value.name in asked.doubted]
            notes = [MAY_CHANGE.format(name, asked.doubted[name]) for name in names]
            notes += [CHANGED.format(wrong)] if wrong else []
            notes.append(NOT_LOADED.format(f"they have {size} bytes, more than {CHEAP}; --run does it"))
            verification = Verification("proved", notes=tuple(notes))
        else:
            try:
                inputs = inputs_of(message)
                shown = () if proof is None else tuple(_replays(inputs, proof))
                hints = Hints(hints_of(message).special)
                case = RunInputs(inputs, given, asked, hints, corrected, shown, is_proved)
                if document.foreign:
                    verification = compare_with_openvino(Path(document.foreign[0].name), case, second)
                else:
                    verification = _ran(first, second, case, None if given is not None else ROOM + LOADED * size)
            except (PadopsError, DependencyError) as error:
                if (must_run or proof is None) and not isinstance(error, CannotDrawError):
                    raise
                outcome: Outcome = "proved" if is_proved and not must_run else "not run"
                verification = Verification(outcome, notes=(NOT_FED.format(error),))
                if is_proved and isinstance(error, PadopsError):
                    verification = _loaded(first, second, verification)
        if verification.outcome == "corrected" and wrong:
            verification = noted(verification, CHANGED.format(wrong))
        return replace(verification, proof=proof)

    return compare_and_say


def _file(document: Document, folder: Path) -> Path:
    """Returns the path of a model's file. Writes a model that is in memory, and its data, into the folder first."""
    if document.path is not None:
        return document.path
    folder.mkdir()
    path = folder / "model.onnx"
    for file in document.data_files(follow_links=False):
        place = folder / file.location
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(os.path.realpath(file.source), place)
        except OSError:  # a link cannot cross file systems
            shutil.copyfile(file.source, place)
    message = document.proto
    if message.ByteSize() > LARGEST_PROTO:
        raise PadopsError(f"a model has more than {LARGEST_PROTO} bytes in memory and cannot be verified")
    path.write_bytes(message.SerializeToString())
    return path


def _ran(original: Model, converted: Model, case: RunInputs, room: int | None) -> Verification:
    """Runs both models within ``room`` bytes; returns the result, or a Verification that says why they cannot run."""
    note = ""
    try:
        for _ in range(MOST_COPIES):
            try:
                found: Verification = in_copy(lambda: compare(original, converted, case), room)
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


def _loaded(original: Model, converted: Model, verification: Verification) -> Verification:
    """Loads two models that are proved equal and did not run; sets the outcome if the converted model does not load."""
    refusals = dict[str, str]()
    for name, model in (("original", original), ("converted", converted)):
        try:
            in_copy(partial(_load, model))
        except DoesNotRun as error:
            refusals[name] = str(error)
        except (DependencyError, PadopsError):  # without a library, there is only the proof
            return verification
    outcome: Outcome = "same" if "original" in refusals else "fails"
    changes = {"outcome": outcome} if "converted" in refusals else {}
    return noted(verification, *(REFUSED.format(*row) for row in refusals.items()), **changes)


def _load(model: Model) -> None:
    model.session(optimised=True)


class DiedError(DoesNotRun):
    """The copy of this process died; the error text has the copy's exit code or signal."""


def can_copy() -> bool:
    """Returns whether to fork: on Linux, not in a daemon, without other non-daemon threads, which may hold locks."""
    # Daemon threads, as of progress bars or notebooks, do not count: without a copy, a crash would end this process.
    others = [one for one in threading.enumerate() if not one.daemon and one is not threading.current_thread()]
    return sys.platform == "linux" and not others and not current_process().daemon


def in_copy(run: Callable[[], Any], room: int | None = None) -> Any:
    """Runs a function, if possible in a copy of this process that may allocate ``room`` bytes (None: no new limit)."""
    if not can_copy():
        return run()
    forking = get_context("fork")
    pipe, theirs = forking.Pipe()
    process = forking.Process(target=_serve, args=(run, room, theirs, pipe), daemon=True)
    process.start()
    theirs.close()
    try:
        answer, error = pipe.recv()
    except (EOFError, ConnectionError):
        process.join()
        raise DiedError(f"onnxruntime has ended its process ({how_ended(process.exitcode)})") from None
    finally:  # also after an interrupt
        pipe.close()
        process.join(1)
        process.kill()
        process.join()
    if error is not None:
        raise error
    return answer


def _serve(run: Callable[[], Any], room: int | None, pipe: Connection, other: Connection) -> None:
    other.close()
    if room is not None:  # a limit that is already lower stays
        import resource  # Windows has no resource module, and no copies

        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min([now + room, *known]), hard))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles the interrupt and ends the copy
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with open(os.devnull, "w") as nowhere:  # neither a crash nor onnxruntime's retries print to the user's terminal
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    faulthandler.disable()
    try:
        answer: tuple[Any, Exception | None] = run(), None
    except Exception as error:  # of any type: the parent raises the exception again
        answer = None, error
    pipe.send(answer)


def _replays(inputs: Sequence[Input], proof: ProofRecord) -> Iterator[list[Input]]:
    """Yields, for up to ``MOST_REPLAYS`` counterexamples, the model's inputs with the counterexample's dims."""
    examples = [row.counterexample["dims"] for row in proof.regions if row.counterexample]
    for example in examples[:MOST_REPLAYS]:
        sizes: dict[str, int] = defaultdict(lambda: 2)
        for row in (row for row in inputs if row.name in example):
            sizes |= {dim: size for dim, size in zip(row.dims or (), example[row.name]) if isinstance(dim, str)}
        sized = [replace(row, dims=tuple(example.get(row.name) or row.shape(sizes))) for row in inputs]
        if any(row.name in example for row in inputs) and all(prod(row.shape({})) <= LARGEST for row in sized):
            yield sized


def _size(model: Model) -> int:
    """Returns the number of bytes of a model file and its external data."""
    tensors = external_tensors(model.message)
    return model.path.stat().st_size + sum(check_entries(tensor, place)[2] for tensor, place in tensors)


def shortcoming(verification: Verification, strict: bool) -> type[VerificationError] | None:
    """Returns an error class for a verification, None for an accepted verification; ``strict`` accepts only a proof."""
    if verification.refuted:
        return VerificationError
    accepted = verification.verdict == "proved" if strict else verification.passed
    return None if accepted else UndecidedError


def refusal(
    verification: Verification, strict: bool, corrected: Collection[str]
) -> tuple[type[VerificationError], str] | None:
    """Returns the error and its text if the converted model must not be written; else None.

    Without ``strict``, padops writes a converted model that can run, even if the verification could not compare its
    outputs.
    """
    error = shortcoming(verification, strict)
    if error is VerificationError:
        return error, _mismatch(verification, corrected)
    if error is None or not (strict or verification.outcome in ("undecided", "not run")):
        return None
    if verification.outcome in ("undecided", "not run"):
        return error, f"{UNDECIDED}: {'; '.join(verification.notes)}; {OTHERWISE}"
    first, *others = (*verification.doubts, *verification.unproved)
    return error, f"{UNDECIDED}: {first}" + (f", and {len(others)} more" if others else "")


def _mismatch(verification: Verification, corrected: Collection[str]) -> str:
    if verification.outcome == "fails":
        return "the converted model fails: " + "; ".join(verification.notes)
    if verification.outcome == "interface":
        return "callers see another model: " + "; ".join(verification.notes)
    wrong = [f"{pad.path}: {pad.detail}" for pad in verification.pads if pad.right is False]
    differing = [output for output in verification.outputs if not output.equal]
    differing = [output for output in differing if output.name not in corrected] or differing
    if not differing:
        return f"Pads return different results, though all outputs agree; {'; '.join(wrong)}"
    count = "1 output differs" if len(differing) == 1 else f"{len(differing)} outputs differ"
    text = f"{count}; {differing[0].name}: {differing[0].detail}"
    if wrong:
        return f"{text}; a Pad is the reason: {wrong[0]}"
    return f"{text}; {verification.notes[-1]}" if verification.notes else text
