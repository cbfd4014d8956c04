"""Values of options, errors and consoles of the commands; light to import."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDTH = 80  # of a table in a file or a pipe, which have no width of their own
WIDEST = 100  # the most letters of a wrapped line; longer lines are hard to read


def count(text: str, most: int | None = None) -> int:
    """Parses the value of an option that is a count.

    Args:
        most: The largest allowed number; None for any.

    Raises:
        argparse.ArgumentTypeError: The text is not an allowed number.
    """
    if not text.isdecimal() or int(text) < 1 or (most is not None and int(text) > most):
        allowed = "of at least 1" if most is None else f"from 1 to {most}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {allowed}")
    return int(text)


def names(text: str) -> list[str]:
    """Parses the value of an option that is a list of names, such as ``--providers A,B``.

    Raises:
        argparse.ArgumentTypeError: The text has no name.
    """
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} has no name, expected names with commas between them")
    return found


def shown(text: object) -> str:
    r"""Returns a text in one line for a console, with non-printable characters escaped as in Python: ``r"a\nb"``.

    Names come from models, folders and other programs. A control character in a name would move the cursor or clear the
    screen, a line break would forge a line of output, and U+202E would reverse the text after it.
    """
    words = str(text)
    if words.isprintable():
        return words
    escaped = (letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in words)
    return "".join(escaped)


def json_text(value: object) -> str:
    """Returns JSON for printing, with non-printable characters escaped; the encoded strings stay the same."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)


def say(text: object, stderr: bool = False) -> None:
    """Prints one line."""
    print(shown(text), file=sys.stderr if stderr else sys.stdout)


def fail(error: object, code: int = 1) -> int:
    """Prints the error of a failed command on standard error; returns the exit code."""
    if isinstance(error, OSError) and error.filename is not None:  # its own text begins with an error number
        error = f"{os.fsdecode(error.filename)}: {error.strerror}"
    say(f"error: {error}", stderr=True)
    return code


def make_console(quiet: bool = False, stderr: bool = False, width: int = WIDTH) -> Console:
    """Returns a console that prints each text in one line, escaped by ``shown`` and without markup.

    It does not wrap lines for a file or a pipe, so that grep finds them. NO_COLOR also removes bold.

    Args:
        stderr: Whether to print to standard error, because standard output carries a model or a report.
        width: The width of a table in a file or a pipe.
    """
    from rich.console import Console
    from rich.text import Text

    class OneLineConsole(Console):
        def print(self, *objects: Any, **how: Any) -> None:
            super().print(*(Text(shown(thing)) if isinstance(thing, str) else thing for thing in objects), **how)

    how: dict[str, Any] = {"highlight": False, "quiet": quiet, "stderr": stderr}
    how["color_system"] = None if os.environ.get("NO_COLOR") else "auto"
    console = OneLineConsole(**how)
    return console if console.is_terminal else OneLineConsole(**how, width=width, soft_wrap=True)


def styled(*parts: str | tuple[str, str]) -> Text:
    """Joins parts into one line: texts, or texts with their styles. The texts are escaped and not read as markup."""
    from rich.text import Text

    pairs = ((part, "") if isinstance(part, str) else part for part in parts)
    return Text.assemble(*((shown(text), style) for text, style in pairs))


def line(console: Console, *parts: str | tuple[str, str]) -> None:
    """Prints one line of the parts of ``styled``."""
    console.print(styled(*parts), soft_wrap=True)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a paragraph, broken between words."""
    return textwrap.wrap(text, min(width, WIDEST), break_long_words=False)


def show_wrapped(console: Console, texts: Sequence[str], indent: int = 2) -> None:
    """Prints paragraphs, wrapped between words on a terminal; skips empty paragraphs."""
    for text in texts:
        lines = wrapped(shown(text), console.width - indent)
        for row in lines if console.is_terminal or not lines else [text]:
            line(console, (" " * indent + row, "dim"))
