"""``-`` in place of a file: the model from standard input, the model or the report to standard output."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

from padops.convert.errors import PadopsError, PadsLeftError, UsageError, VerificationError, os_errors_as
from padops.convert.files import serialize, write_report
from padops.convert.model.document import LARGEST_PROTO
from padops.convert.model.external import entry
from padops.convert.model.reading import parse_model
from padops.convert.model.scan import external_tensors
from padops.convert.pipeline import check_left, convert
from padops.convert.records import Conversion, FileRecord
from padops.files.streams import STREAM, read_input, refuse_terminal, write_output
from padops.terminal import json_text

INPUT, OUTPUT = "standard input", "standard output"


def convert_streams(source: str, output: str | None, report: str | None = None, **options: Any) -> Conversion:
    """``padops.convert``; ``source``, ``output`` and ``report`` may be ``-`` for standard input and standard output.

    Raises:
        UsageError: Model and report are both for standard output, or it is a terminal; or as ``padops.convert``.
        PadopsError: A stream cannot be read or written, or the model has external data, which a stream cannot carry; or
            as ``padops.convert``.
    """
    if STREAM not in (source, output, report):
        return convert(source, output, report=report, **options)
    if output == report == STREAM:
        raise UsageError("standard output can take the model or the report; name a file for one of them")
    with os_errors_as("cannot use", OUTPUT):
        if output == STREAM and (why := refuse_terminal()):
            raise UsageError(why)
    content, model = read_model() if source == STREAM else (b"", source)
    to_file = None if report == STREAM else report
    try:
        conversion = convert(model, None if output == STREAM else output, report=to_file, **options)
        if source == STREAM:
            conversion = replace(conversion, sources=(_record(INPUT, content),))
        if output == STREAM and not options.get("dry_run"):
            check_left(conversion, strict=False)
            conversion = _write_model(conversion)
    except (PadsLeftError, VerificationError) as error:
        if source == STREAM:
            error.conversion = replace(error.conversion, sources=(_record(INPUT, content),))
        _report(error.conversion, report, source == STREAM)
        raise
    _report(conversion, report, STREAM in (source, output))
    return conversion


def _report(conversion: Conversion, report: str | None, again: bool) -> None:
    """Writes the report to standard output; ``again`` to its file, because ``convert`` did not know of the streams."""
    if report == STREAM:
        _write_report(conversion)
    elif report is not None and again:
        write_report(conversion, Path(report))


def models_of(one: str, other: str) -> tuple[str | onnx.ModelProto, str | onnx.ModelProto]:
    """The two models: each a file's name, or for ``-`` the model from standard input.

    Raises:
        UsageError: Both are ``-``.
        PadopsError: Standard input has no model, or one with external data.
    """
    if one == other == STREAM:
        raise UsageError("standard input can bring one of the models; name a file for the other")
    return read_model()[1] if one == STREAM else one, read_model()[1] if other == STREAM else other


def read_model() -> tuple[bytes, onnx.ModelProto]:
    """The model from standard input, and its bytes.

    Raises:
        PadopsError: Standard input has no model, or one with external data.
    """
    with os_errors_as("cannot read", INPUT):
        content = read_input()
    if not content:
        raise PadopsError("standard input is empty: no model came through it")
    if len(content) > LARGEST_PROTO:
        raise PadopsError(f"standard input has {len(content)} bytes; a protobuf message has at most {LARGEST_PROTO}")
    message = parse_model(content, INPUT)
    if locations := _locations(message):
        raise PadopsError(
            f"the model from standard input has external data ({', '.join(locations)}), and a stream has no folder for "
            "them; give the model's file"
        )
    return content, message


def _locations(message: onnx.ModelProto) -> list[str]:
    """The files of a model's external data, as its tensors name them."""
    return sorted({entry(tensor, "location") or "of no name" for tensor, _ in external_tensors(message)})


def _record(name: str, content: bytes, written: bool = False) -> FileRecord:
    return FileRecord(name, len(content), hashlib.sha256(content).hexdigest(), written)


def _write_model(conversion: Conversion) -> Conversion:
    """Writes the model to standard output."""
    message = conversion.proto()
    if locations := _locations(message):
        raise PadopsError(
            f"the model has external data ({', '.join(locations)}), which standard output cannot hold; use -o FILE"
        )
    content = serialize(message)
    if content is None:
        raise PadopsError(f"the model has more than {LARGEST_PROTO} bytes, more than one message holds; use -o FILE")
    with os_errors_as("cannot write to", OUTPUT):
        write_output(content)
    return replace(conversion, output=Path(STREAM), outputs=(_record(OUTPUT, content, written=True),))


def _write_report(conversion: Conversion) -> None:
    text = json_text(conversion.to_json()) + "\n"
    written = f"{conversion.output} has been written, but the report has not: " if conversion.output else ""
    with os_errors_as(f"{written}cannot write to", OUTPUT):
        write_output(text.encode("utf-8", "backslashreplace"))
