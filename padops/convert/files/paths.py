"""The paths of a conversion: nothing overwrites a file that is read, or anything but a regular file."""

from __future__ import annotations

import os
from pathlib import Path

from padops.convert.errors import PadopsError, UsageError, os_errors_as
from padops.convert.inputs.given import Inputs
from padops.convert.model.document import Document
from padops.convert.model.external import DataFile
from padops.convert.model.reading import Source
from padops.files.targets import behind_link, refusal


def output_path(source: Source, output: str | os.PathLike[str] | None, in_place: bool) -> Path | None:
    """The model file to write, or None.

    For a symbolic link, it is the link's target, as the owner of a link expects. A link of a Hugging Face cache becomes
    a file of its own: the name of its target is the hash of the target's content.

    Raises:
        UsageError: ``in_place`` with an output, or for a source that is no file.
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


def check_paths(source: Source, target: Path | None, report: str | os.PathLike[str] | None) -> None:
    """Refuses files that cannot be written, and a report with the path of a model.

    Raises:
        UsageError: The report is the source or the output.
        PadopsError: The target or the report cannot be written.
    """
    reported = Path(report) if report is not None else None
    models = [target, Path(source) if isinstance(source, (str, os.PathLike)) else None]
    if reported is not None and any(model is not None and _same_file(model, reported) for model in models):
        raise UsageError(
            f"{reported} is a model; name another file for the report", f"{reported} is a model; name another --report"
        )
    for path in (target, reported):
        with os_errors_as("cannot write", path):
            if why := refusal([path]):
                raise PadopsError(why)


def check_targets(
    target: Path | None,
    report: str | os.PathLike[str] | None,
    inputs: Inputs | None,
    document: Document,
    files: list[DataFile],
    in_place: bool,
) -> None:
    """Refuses to overwrite a file that is being read: the source, its external data ``files``, or the inputs.

    Raises:
        UsageError: Names the file.
    """
    given = [Path(inputs)] if isinstance(inputs, (str, os.PathLike)) else []
    for path in (target, None if report is None else Path(report)):
        if path is None:
            continue
        for record in document.foreign:
            if _same_file(path, Path(record.name)):
                raise UsageError(f"{path} belongs to the source, which is not an ONNX model; name another output")
        if document.path is not None and not in_place and _same_file(path, document.path):
            why = f"{path} is the source itself; to replace it, use"
            raise UsageError(f"{why} in_place=True", f"{why} --in-place")
        for file in files:
            if _same_file(path, file.source):
                raise UsageError(f"{path} holds data of the source; name another output")
        if any(_same_file(path, one) for one in given):
            raise UsageError(f"{path} holds the inputs; name another output")


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths are the same file, or would be. Errors for inaccessible paths come from reading or writing."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.abspath(one) == os.path.abspath(other)
