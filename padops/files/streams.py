"""Reads models from standard input, writes them to standard output, and lets a command go on if printing fails.

Printing may fail because the disk is full, the reader of a pipe has exited, or the stream's encoding lacks a character.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

STREAM = "-"  # the name of standard input or output in place of a file


def read_input() -> bytes:
    """Returns all bytes of standard input; raises OSError if it is a terminal, closed, or cannot be read."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    if sys.stdin.isatty():
        raise OSError(errno.ENOTTY, "it is a terminal; pipe a file into it")
    return sys.stdin.buffer.read()


def refuse_terminal() -> str | None:
    """Returns the text of an error if standard output is a terminal, which cannot show a model; else None."""
    if os.isatty(_output()):
        return "standard output is a terminal, which cannot show a model; redirect it, or name a file"
    return None


def write_output(content: bytes) -> None:
    sys.stdout.flush()
    with open(_output(), "wb", closefd=False) as file:
        file.write(content)


def _output() -> int:
    """Returns the descriptor of standard output; raises OSError if it is closed."""
    try:
        return sys.stdout.fileno()
    except io.UnsupportedOperation:  # see dropping_output
        raise OSError(errno.EBADF, "it is closed") from None


class DroppingStream:
    """A stream whose writes never fail: after the first ``failure``, it drops the text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if self.failure is None:
            try:
                self._stream.write(text)
            except UnicodeEncodeError:  # for example, bytes of a file name that are not UTF-8
                encoding = self._stream.encoding or "utf-8"
                self.write(text.encode(encoding, "backslashreplace").decode(encoding))
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        if self.failure is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Redirects buffered text to the null device, so that the interpreter does not fail at its exit."""
        self.failure = error
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@contextlib.contextmanager
def dropping_output() -> Iterator[DroppingStream]:
    """Replaces standard output and standard error by DroppingStreams; yields the stream for standard output.

    At the end, a failed write to standard output is reported on standard error, unless the cause was a broken pipe.
    """
    before = sys.stdout, sys.stderr
    out, err = (DroppingStream(io.StringIO() if stream is None else stream) for stream in before)
    sys.stdout, sys.stderr = out, err
    try:
        yield out
    finally:
        out.flush()
        if out.failure is not None and not isinstance(out.failure, BrokenPipeError):
            print(f"cannot write to standard output: {out.failure.strerror}", file=err)
        err.flush()
        sys.stdout, sys.stderr = before
