"""What can go wrong in a conversion; each kind has an exit code of the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from padops.exits import DIFFERENT, ERROR, LEFT, UNDECIDED, USAGE
from padops.files.hidden import is_hidden

if TYPE_CHECKING:
    from padops.convert.conversion import Conversion


class PadopsError(Exception):
    """A conversion that cannot be done; the message says what, where and why.

    No file has been left behind. The one exception is a report that cannot be put beside a model that is written already;
    the message says so.
    """

    exit_code = ERROR


class UsageError(PadopsError):
    """Arguments that contradict each other.

    Attributes:
        typed: The message with options of the command line in the place of arguments.
    """

    exit_code = USAGE

    def __init__(self, message: str, typed: str | None = None) -> None:
        super().__init__(message)
        self.typed = message if typed is None else typed


class _UnacceptedError(PadopsError):
    """A conversion that is not accepted."""

    def __init__(self, message: str, conversion: Conversion) -> None:
        super().__init__(message)
        self.conversion = conversion


class PadsLeftError(_UnacceptedError):
    """At least one Pad could not be converted, and ONNX Runtime refuses it, or ``strict`` was asked for.

    Attributes:
        conversion: What was found; nothing has been written.
    """

    exit_code = LEFT


class VerificationError(_UnacceptedError):
    """``verify`` was asked for, and the converted model does not do what the original does.

    Attributes:
        conversion: What was found, with the verification; nothing has been written.
    """

    exit_code = DIFFERENT


class UndecidedError(VerificationError):
    """``verify`` was asked for, and it could not be told whether the converted model does the same.

    It does not run either; or it runs, and with ``strict``, something about it was not compared.
    """

    exit_code = UNDECIDED


def kind_of(value: object) -> str:
    """The type of an argument with its article, for a message: ``"an int"``."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


# What onnx, onnx_ir, NumPy, json and protobuf raise over data that are not as they should be. Not Exception: a mistake of
# ours, such as a NameError or an AssertionError, must stay one.
LIBRARY_ERRORS: tuple[type[Exception], ...] = (
    ValueError,  # UnicodeError and json.JSONDecodeError among them; onnx_ir's SerdeError is a RuntimeError and is not
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    RecursionError,
    MemoryError,
)


@contextlib.contextmanager
def library_errors(part: str, *more: type[Exception], doing: str = "read") -> Iterator[None]:
    """Turns what a library raises over a part of the model into a PadopsError that names the part.

    Args:
        part: The part of the model, such as ``"initializer 'pads'"``.
        more: Classes of the library's own that are no ``LIBRARY_ERRORS``.
        doing: What cannot be done with the part, as a participle.

    Raises:
        PadopsError: The library raised one of them. Its message ends with the cause.
    """
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
    """Turns an error of the operating system into a PadopsError, such as "cannot write y.onnx: No space left on device".

    Args:
        failure: What the message begins with: ``"cannot read"`` or ``"cannot write"``.
        path: The file to name where the error itself names none, or one in a hidden folder.

    Raises:
        PadopsError: The operating system raised an error, which is the cause.
    """
    try:
        yield
    except OSError as error:
        name = path if error.filename is None or is_hidden(error.filename) else error.filename
        written = "; nothing has been left behind" if failure == "cannot write" else ""
        raise PadopsError(f"{failure} {name}: {error.strerror or error}{written}") from error
