"""The errors of a conversion; the command line maps each class to an exit code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from padops.exits import DIFFERENT, ERROR, LEFT, UNDECIDED, USAGE

if TYPE_CHECKING:
    from padops.convert.records import Conversion


class PadopsError(Exception):
    """padops cannot do the conversion; the message names the problem, its place and the reason.

    padops leaves no file behind, with one exception: if only the report cannot be written, the model stays, and the
    message says so.
    """

    exit_code = ERROR


class UsageError(PadopsError):
    """Arguments that are invalid or contradict each other.

    Attributes:
        typed: The message with command-line options in place of Python arguments.
    """

    exit_code = USAGE

    def __init__(self, message: str, typed: str | None = None) -> None:
        super().__init__(message)
        self.typed = message if typed is None else typed


class _UnacceptedError(PadopsError):
    """padops made the conversion but refuses to write it."""

    def __init__(self, message: str, conversion: Conversion) -> None:
        super().__init__(message)
        self.conversion = conversion


class PadsLeftError(_UnacceptedError):
    """ONNX Runtime cannot run the Pads that stay, or a Pad breaks a rule in every run; ``convert`` lists all cases.

    Attributes:
        conversion: The conversion; nothing has been written.
    """

    exit_code = LEFT


class VerificationError(_UnacceptedError):
    """With ``verify``: the converted model behaves differently from the original.

    Attributes:
        conversion: The conversion with its verification; nothing has been written.
    """

    exit_code = DIFFERENT


class UndecidedError(VerificationError):
    """With ``verify``: padops could not decide whether both models behave the same.

    Not everything is proved, and no run decided: neither model runs, or no run was possible. With ``strict``, padops
    raises this error unless the verdict is ``"proved"``.
    """

    exit_code = UNDECIDED


def kind_of(value: object) -> str:
    """Returns the type of an argument with its article, for a message: ``"an int"``."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


# The exceptions of onnx, onnx_ir, NumPy, json and protobuf for invalid data. Exception is not in the list: a bug of
# padops, such as a NameError or an AssertionError, must not become an error of the model.
# ValueError includes UnicodeError and json.JSONDecodeError; onnx_ir's SerdeError is a RuntimeError and is not here.
LIBRARY_ERRORS: tuple[type[Exception], ...] = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, NotImplementedError, RecursionError,
    MemoryError,
)  # fmt: skip


@contextlib.contextmanager
def library_errors(part: str, *more: type[Exception], doing: str = "read") -> Iterator[None]:
    """Turns ``LIBRARY_ERRORS`` and ``more`` into a PadopsError, such as "initializer 'pads' cannot be read: …"."""
    try:
        yield
    except PadopsError:
        raise
    except (*LIBRARY_ERRORS, *more) as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        raise PadopsError(f"{part} cannot be {doing}: {str(cause).strip() or type(cause).__name__}") from error


@contextlib.contextmanager
def os_errors_as(failure: str, path: object) -> Iterator[None]:
    """Turns an OSError into a PadopsError "<failure> <file>: <reason>"; ``path`` replaces a missing file name."""
    try:
        yield
    except OSError as error:
        name = path if error.filename is None else error.filename
        written = "; nothing has been left behind" if failure == "cannot write" else ""
        raise PadopsError(f"{failure} {name}: {error.strerror or error}{written}") from error
