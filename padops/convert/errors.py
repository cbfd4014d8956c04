"""What can go wrong in a conversion; each kind has an exit code of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from padops.convert.records import Conversion


class PadopsError(Exception):
    """A conversion that cannot be done; the message says what, where and why. No file has been left behind."""

    exit_code = 1


class UsageError(PadopsError):
    """Arguments that contradict each other."""

    exit_code = 2


class PadsLeftError(PadopsError):
    """``strict`` was asked for, and at least one Pad could not be converted.

    Attributes:
        conversion: What was found; nothing has been written.
    """

    exit_code = 3

    def __init__(self, message: str, conversion: Conversion) -> None:
        super().__init__(message)
        self.conversion = conversion


class VerificationError(PadopsError):
    """``verify`` was asked for, and the converted model does not do what the original does.

    Attributes:
        conversion: What was found, with the verification; nothing has been written.
    """

    exit_code = 4

    def __init__(self, message: str, conversion: Conversion) -> None:
        super().__init__(message)
        self.conversion = conversion
