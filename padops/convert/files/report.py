"""The report of a conversion as a file."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from padops.convert.conversion import Conversion
from padops.convert.errors import PadopsError, os_errors_as
from padops.files.staging import staged_file


@contextlib.contextmanager
def staged_report(conversion: Conversion, path: Path | None) -> Iterator[Callable[[], None]]:
    """Writes the report to a staged file, so that once the model is written, only a rename can fail.

    Yields:
        The function that puts the report into place.

    Raises:
        PadopsError: The report cannot be written.
    """
    if path is None:
        yield lambda: None
        return
    text = json.dumps(conversion.to_json(), indent=2, ensure_ascii=False) + "\n"
    with contextlib.ExitStack() as stack:
        with os_errors_as("cannot write", path):
            stage = stack.enter_context(staged_file(path, [text]))
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
