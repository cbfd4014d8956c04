"""The machine-readable report of a conversion."""

from __future__ import annotations

import contextlib
import json
import platform
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from padops.convert.errors import PadopsError, os_errors_as
from padops.convert.records import Conversion
from padops.files.staging import staged_file

SCHEMA = 1  # raised when a reader of an older report would misread a newer one
PACKAGES = ("padops", "onnx", "onnx-ir", "onnxruntime", "onnxruntime-extensions", "numpy")


def describe(conversion: Conversion) -> dict[str, Any]:
    """Everything about a conversion but the model itself, as JSON values."""
    counts = Counter(record.status for record in conversion.records)
    verification = conversion.verification
    return {
        "schema": SCHEMA,
        "versions": versions(),
        "source": {"files": [asdict(file) for file in conversion.sources], "opsets": conversion.opsets},
        "output": {
            "path": None if conversion.output is None else str(conversion.output),
            "files": [asdict(file) for file in conversion.outputs],
        },
        "counts": {name: counts[name] for name in ("converted", "already converted", "folded", "not needed", "left")},
        "pads": [
            {**asdict(record), "notes": list(record.notes), "into": list(record.into)} for record in conversion.records
        ],
        "verification": None
        if verification is None
        else {
            "outcome": verification.outcome,
            "passed": verification.passed,
            "outputs": [asdict(output) for output in verification.outputs],
            "inputs": list(verification.inputs),
            "notes": list(verification.notes),
        },
        "notes": list(conversion.notes),
    }


def versions() -> dict[str, str | None]:
    """Of Python and of the packages that have a say in a conversion; None for one that is not installed."""
    return {"python": platform.python_version(), **{package: _version(package) for package in PACKAGES}}


@cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@contextlib.contextmanager
def staged_report(conversion: Conversion, path: Path | None) -> Iterator[Callable[[], None]]:
    """The report, ready beside its place, so that nothing but a rename is left to fail once the model is written.

    Args:
        conversion: What to tell.
        path: The file, or None for none.

    Yields:
        What puts it into place.

    Raises:
        PadopsError: It cannot be written.
    """
    if path is None:
        yield lambda: None
        return
    text = json.dumps(describe(conversion), indent=2, ensure_ascii=False) + "\n"
    with contextlib.ExitStack() as stack:
        with os_errors_as("cannot write", path):
            # Names of files need not be UTF-8. Python has their other bytes as lone surrogates, JSON escapes for those.
            stage = stack.enter_context(staged_file(path, [text.encode("utf-8", "backslashreplace")]))
        yield lambda: _put(stage.commit, conversion, path)


def _put(commit: Callable[[], None], conversion: Conversion, path: Path) -> None:
    try:
        commit()
    except OSError as error:
        model = f"{conversion.output} has been written, but " if conversion.output else ""
        raise PadopsError(f"{model}the report {path} has not: {error.strerror or error}") from error


def write_report(conversion: Conversion, path: Path | None) -> None:
    """Writes the report, whole or not at all.

    Raises:
        PadopsError: It cannot be written.
    """
    with staged_report(conversion, path) as emit:
        emit()
