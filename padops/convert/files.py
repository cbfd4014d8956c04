"""Writes the files of a conversion, all or none: stages them, verifies the model, then moves them into place."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import onnx
import onnx_ir as ir
from google.protobuf.message import EncodeError
from onnx.external_data_helper import set_external_data

from padops.convert.errors import PadopsError, UsageError, os_errors_as
from padops.convert.inputs.given import Inputs
from padops.convert.model.document import LARGEST_PROTO, Document, Source
from padops.convert.model.external import DataFile, Placement, entry, name_of, place_data_files
from padops.convert.model.nesting import external_tensors
from padops.convert.records import Conversion, FileRecord, Verification
from padops.convert.verify.choice import refusal as refusal_of
from padops.files.interrupts import uninterrupted
from padops.files.staging import Identity, Staging, behind_link, identity, refusal, staged_file, staging, write_whole
from padops.terminal import COPYING, Progress


def output_path(source: Source, output: str | os.PathLike[str] | None, in_place: bool) -> Path | None:
    """Returns the path of the model file to write (for a symbolic link, of its target); None without an output.

    A new file replaces a link only in a Hugging Face cache, where the target's name is the hash of its content.
    """
    if not in_place:
        return None if output is None else _behind_link(Path(output))
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError("in_place needs a file", "--in-place needs a file")
    if output is not None:
        raise UsageError("in_place excludes output", "--in-place excludes -o/--output")
    return _behind_link(Path(source))


def _behind_link(path: Path) -> Path:
    real = behind_link(path)
    folders = Path(os.path.realpath(path.parent)) / path.name
    blobs = [parent.with_name("blobs") for parent in folders.parents if parent.name == "snapshots"]
    return path if any(real.is_relative_to(folder) for folder in blobs) else real


def check_paths(source: Source, target: Path | None, report: Path | None) -> None:
    """Refuses files that cannot be written, and a report whose path is a model's."""
    models = [target, Path(source) if isinstance(source, (str, os.PathLike)) else None]
    if report is not None and any(model is not None and _same_file(model, report) for model in models):
        why = f"{report} is a model; name another"
        raise UsageError(f"{why} file for the report", f"{why} --report")
    if refused := refusal([target, report]):
        raise PadopsError(refused)


def check_targets(
    targets: Iterable[Path | None], inputs: Inputs | None, document: Document, files: list[DataFile], in_place: bool
) -> None:
    """Refuses to overwrite a file that padops reads: the source, its external data ``files``, or the inputs."""
    for path in (path for path in targets if path is not None):
        if any(_same_file(path, Path(record.name)) for record in document.foreign):
            raise UsageError(f"{path} is a file of a source that is not ONNX; name another output file")
        if document.path is not None and not in_place and _same_file(path, document.path):
            why = f"{path} is the source itself; to replace it, use"
            raise UsageError(f"{why} in_place=True", f"{why} --in-place")
        if any(_same_file(path, file.source) for file in files):
            raise UsageError(f"{path} holds data of the source; name another output")
        if isinstance(inputs, (str, os.PathLike)) and _same_file(path, Path(inputs)):
            raise UsageError(f"{path} holds the inputs; name another output")


def _same_file(one: Path, other: Path) -> bool:
    """Returns whether two paths name the same file, even if this file does not exist.

    For an inaccessible path, only a later read or write raises an error.
    """
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.abspath(one) == os.path.abspath(other)


def write_report(conversion: Conversion, path: Path | None) -> None:
    """Writes the whole report or no file."""
    if path is not None:
        written = f"{conversion.output} has been written, but the report has not: " if conversion.output else ""
        with os_errors_as(f"{written}cannot write", path):
            write_whole(path, [_report(conversion)])


def _report(conversion: Conversion) -> str:
    return json.dumps(conversion.to_json(), indent=2, ensure_ascii=False) + "\n"


# If a model is too large for one message, initializers with more bytes than this number go to a data file.
WORTH_MOVING = 1024


@dataclass(frozen=True)
class Job:
    """The files to write."""

    document: Document
    files: Sequence[DataFile]
    target: Path | None  # the model file; None writes no file
    # Compares the original and the converted model file; None skips the verification.
    verify: Callable[[Path, Path], Verification] | None = None
    given: Source | None = None  # the original
    progress: Progress | None = None
    report: Path | None = None  # the report to write with the model, or None
    # In place: the identity of the source file; padops does not replace another file at the same path.
    source: Identity | None = None
    strict: bool = False  # whether to refuse the model if the verification has doubts


def finish(job: Job, conversion: Conversion, ending: contextlib.ExitStack) -> Conversion:
    """Stages all files, verifies the model, and puts the files into place if the verification accepts the model.

    Before the first move, ``ending`` receives a context that delays SIGINT and SIGTERM until the caller closes it.
    """
    unchanged_in_place = not job.document.changed and job.source is not None
    target = None if unchanged_in_place else job.target
    if target is None and job.verify is None:
        return conversion
    # Stage in the output's folder, so that a rename suffices.
    made = contextlib.nullcontext(str(target.parent)) if target else tempfile.TemporaryDirectory(prefix="padops-")
    with made as place, staging(folder := Path(place)) as stage:
        name = target.name if target else "converted.onnx"
        placements = place_data_files(job.files, folder / name, job.report)
        _stage_data(stage, placements, job.progress)
        if job.source is not None:
            stage.expect(folder / name, job.source)
        content, moved = _stage_model(stage, job.document, placements, name, may_move=target is not None)
        if job.verify is not None:
            conversion = replace(conversion, verification=_verified(job, job.verify, stage, placements, name))
        done = conversion.verification
        if target is None or (done is not None and refusal_of(done, job.strict, ()) is not None):
            return conversion
        was_link = target.is_symlink()
        notes = (f"{target} was a symbolic link and is now a file of its own",) if was_link else ()
        outputs = (
            FileRecord(str(target), len(content), hashlib.sha256(content).hexdigest(), written=True),
            *(FileRecord(place.location, place.file.size, written=place.copied) for place in placements),
            *(FileRecord(location, size, written=True) for location, size in moved.items()),
        )
        conversion = replace(conversion, output=target, outputs=outputs, notes=(*conversion.notes, *notes))
        _put_into_place(stage, conversion, job.report, ending)
    for tensor in job.document.proto.graph.initializer if moved else ():
        if entry(tensor, "location") in moved:  # the graph now reads this tensor from a data file
            value = job.document.model.graph.initializers[tensor.name]
            value.const_value = ir.serde.deserialize_tensor(tensor, folder)
    return conversion


def _verified(
    job: Job, verify: Callable[[Path, Path], Verification], stage: Staging, placements: Sequence[Placement], name: str
) -> Verification:
    """Verifies the staged model; before that, stages an original from memory, and the data files that need no copy."""
    original = job.document.path
    if original is None:
        model = onnx.ModelProto() if job.document.foreign else job.given  # OpenVINO runs the files of another format
        message = ir.to_proto(model) if isinstance(model, ir.Model) else deepcopy(model)
        assert isinstance(message, onnx.ModelProto), "the original is an object"
        content = serialize(_relocated(message, placements))
        if content is None:
            raise PadopsError(f"the original has more than {LARGEST_PROTO} bytes in memory and cannot be verified")
        original = stage.hidden / ".original.onnx"
        original.write_bytes(content)
    for placement in placements:
        if not placement.copied:
            stage.borrow(placement.file.source, placement.location)
    return verify(original, stage.hidden / name)


def _put_into_place(stage: Staging, conversion: Conversion, report: Path | None, ending: contextlib.ExitStack) -> None:
    """Moves all files into place.

    padops writes the report to a temporary file first; once the model is in place, only the report's rename can fail.
    Other conversions into the same folder wait meanwhile.
    """
    with contextlib.ExitStack() as stack:
        staged = None
        if report is not None:
            with os_errors_as("cannot write", report):
                staged = stack.enter_context(staged_file(report, [_report(conversion)]))
        stack.enter_context(stage.alone())
        ending.enter_context(uninterrupted())
        stage.commit()
        try:
            if staged is not None:
                staged.commit()
        except OSError as error:
            why = f"{conversion.output} has been written, but the report {report} has not: {error.strerror or error}"
            raise PadopsError(why) from error


def _stage_data(stage: Staging, placements: Sequence[Placement], progress: Progress | None) -> None:
    """Copies the data files that are not in place yet; the others must not change before the commit."""
    for placement in placements:
        if not placement.copied:
            path = stage.folder / placement.location
            stage.expect(path, identity(path))
    copies = [placement for placement in placements if placement.copied]
    total, done = sum(placement.file.size for placement in copies), 0
    for placement in copies:
        for size in stage.copy(placement.file.source, placement.location):
            done += size
            if progress is not None:
                progress(COPYING, done, total)


def _stage_model(
    stage: Staging, document: Document, placements: Sequence[Placement], name: str, may_move: bool
) -> tuple[bytes, dict[str, int]]:
    """Stages the model file; if the model is too large for protobuf, large initializers go to a data file."""
    message = _relocated(document.proto, placements)
    moved: dict[str, int] = {}
    content: bytes | None
    if not document.changed and document.path and all(p.location == p.file.location for p in placements):
        content = document.path.read_bytes()  # the same bytes, not only the same model
    else:
        content = serialize(message)
        if content is None and may_move:
            taken = {placement.location for placement in placements}
            names = (name_of(name, f".{number}.data" if number > 1 else ".data") for number in count(1))
            location = next(n for n in names if n not in taken and not (stage.folder / n).exists())
            moved = {location: stage.write(location, _move_out(message, location))}
            content = serialize(message)
        if content is None:
            raise PadopsError(
                f"the model has more than {LARGEST_PROTO} bytes without its external data, too many for a protobuf "
                f"message" + ("" if may_move else "; name an output, so that initializers can go to a data file")
            )
    stage.write(name, [content])
    return content, moved


def serialize(message: onnx.ModelProto) -> bytes | None:
    """Returns the serialized model; None if the model is too large for protobuf."""
    if sum(len(tensor.raw_data) for tensor in message.graph.initializer) > LARGEST_PROTO:
        return None
    try:
        content: bytes = message.SerializeToString()
    except EncodeError:  # too large: protobuf's only other reason is a missing required field, and onnx has none
        return None
    return content


def _relocated(message: onnx.ModelProto, placements: Sequence[Placement]) -> onnx.ModelProto:
    """Points a model's external tensors to the new locations of their files; returns the model."""
    new = {placement.file.location: placement.location for placement in placements}
    if any(before != after for before, after in new.items()):
        for tensor, _ in external_tensors(message):
            for pair in tensor.external_data:
                if pair.key == "location":
                    pair.value = new[pair.value]
    return message


def _move_out(message: onnx.ModelProto, location: str) -> Iterator[bytes]:
    """Makes the large initializers external, and yields their bytes in file order."""
    offset = 0
    for tensor in message.graph.initializer:
        if len(content := tensor.raw_data) > WORTH_MOVING:
            set_external_data(tensor, location, offset, len(content))
            tensor.ClearField("raw_data")
            offset += len(content)
            yield content
