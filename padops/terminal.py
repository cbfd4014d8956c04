"""Parses option values, and prints errors, lines and progress for the commands; fast to import."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar


def count(text: str, most: int | None = None) -> int:
    """Parses an option's value as a whole number from 1 to ``most``."""
    if not text.isdecimal() or int(text) < 1 or (most is not None and int(text) > most):
        allowed = "of at least 1" if most is None else f"from 1 to {most}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {allowed}")
    return int(text)


def names(text: str) -> list[str]:
    """Parses an option's value as a list of names, such as ``A,B`` of ``--providers A,B``."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} contains no name, expected names with commas between them")
    return found


def shown(text: object) -> str:
    r"""Returns a text in one line for a console, with non-printable characters escaped as in Python: ``r"a\nb"``.

    Names come from models, folders and other programs. A control character in a name would move the cursor or clear the
    screen, a line break would forge a line of output, and U+202E would reverse the text after it.
    """
    words = str(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in words)


def json_text(value: object) -> str:
    """Returns JSON for printing: escapes replace non-printable characters, so a parser reads the same strings."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)


def say(*texts: object, stderr: bool = False) -> None:
    """Prints each text in one line."""
    for text in texts:
        print(shown(text), file=sys.stderr if stderr else sys.stdout)


def fail(error: object, code: int = 1) -> int:
    """Prints the error of a failed command on standard error; returns the exit code."""
    if isinstance(error, OSError) and error.filename is not None:  # its own text begins with an error number
        error = f"{os.fsdecode(error.filename)}: {error.strerror}"
    say(f"error: {error}", stderr=True)
    return code


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table: the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


# ---- The progress of a conversion: thousands of Pads take seconds, and copying external data may take minutes.

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]  # the step, the amount done, and the total

COPYING = "copying external data"  # this step counts bytes; other steps count Pads
FEWEST = 1000  # the fewest Pads for which progress is shown; fewer Pads take less than a second
STEP = 100


def counted(what: str, items: Sequence[Item], progress: Progress | None) -> Iterator[Item]:
    """Yields the items; for many items, calls ``progress`` every ``STEP`` items and at the end."""
    told = progress if len(items) >= FEWEST else None
    for done, item in enumerate(items):
        if told is not None and done % STEP == 0:
            told(what, done, len(items))
        yield item
    if told is not None:
        told(what, len(items), len(items))


@contextlib.contextmanager
def progress_line(quiet: bool = False) -> Iterator[Progress]:
    """Shows the latest step in a line on standard error, if that is a terminal; the line vanishes at the end."""
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    width = shutil.get_terminal_size().columns - 1

    def show(what: str, done: int, total: int) -> None:
        text = f"{shown(what)} {done:,}/{total:,}"
        print("\r" + text[:width].ljust(width), end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r" + " " * width, end="\r", file=sys.stderr, flush=True)
