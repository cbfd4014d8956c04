"""Breaks that change no result, each with the reason: a reviewed list, keyed by the text of the line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Equivalent:
    """A break, or all breaks of a line, that no test of results can see.

    Attributes:
        file: The path from the checkout's root.
        line: The line as it is, in one line and without indentation; it must be there.
        became: The line with the break; empty for all breaks of that line.
        reason: Why nothing that anybody could see is different.
    """

    file: str
    line: str
    became: str
    reason: str


EQUIVALENT: tuple[Equivalent, ...] = ()


def reason_of(file: str, line: str, became: str) -> str:
    """Why a break changes nothing, or an empty text."""
    rows = (row for row in EQUIVALENT if (row.file, row.line) == (file, line) and row.became in ("", became))
    return next((row.reason for row in rows), "")
