"""What commands take and print: numbers, errors, consoles; its imports are light."""

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

WIDTH = 80  # of a table that goes to a file or a pipe, which have no width of their own
WIDEST = 100  # of lines that are wrapped; longer ones are hard to read


def count(text: str, most: int | None = None) -> int:
    """What an option takes that says how many.

    Args:
        text: What was given.
        most: The largest number that it may be; None for any.

    Raises:
        argparse.ArgumentTypeError: It is no such number.
    """
    if not text.isdecimal() or int(text) < 1 or (most is not None and int(text) > most):
        allowed = "of at least 1" if most is None else f"from 1 to {most}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {allowed}")
    return int(text)


def names(text: str) -> list[str]:
    """What an option takes that names things, such as ``--providers A,B``.

    Args:
        text: What was given.

    Raises:
        argparse.ArgumentTypeError: It names nothing.
    """
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} has no name, expected names with commas between them")
    return found


def shown(text: object) -> str:
    r"""A text as a console can show it, in one line: what has no shape of its own is escaped, as in a string of Python.

    Names come from models, folders and other programs. A control character in one would move the cursor or clear the
    screen, a line break would begin a line that nobody has printed, and U+202E turns round what stands behind it.

    Args:
        text: What is to be shown; ``"a\nb"`` becomes ``r"a\nb"``.
    """
    words = str(text)
    if words.isprintable():
        return words
    escaped = (letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in words)
    return "".join(escaped)


def json_text(value: object) -> str:
    """JSON to be printed: what has no shape of its own is escaped in its strings, which stay the same strings.

    Args:
        value: What JSON can hold.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)


def say(text: object, stderr: bool = False) -> None:
    """Prints one line.

    Args:
        text: What is to be shown.
        stderr: Whether to standard error.
    """
    print(shown(text), file=sys.stderr if stderr else sys.stdout)


def fail(error: object, code: int = 1) -> int:
    """Says why a command has failed, and gives its exit code."""
    say(f"error: {error}", stderr=True)
    return code


def make_console(quiet: bool = False, stderr: bool = False, width: int = WIDTH) -> Console:
    """What a command prints to: each text is one line, as ``shown`` gives it; none is read as markup.

    A file or a pipe gets lines as they are, not wrapped, so that grep finds what is in them. NO_COLOR takes bold, too.

    Args:
        quiet: Whether it is to print nothing.
        stderr: Whether it prints to standard error, because standard output takes a model or a report.
        width: Of a table that goes to a file or a pipe.
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


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a paragraph, broken between words.

    Args:
        text: The paragraph.
        width: The letters that a line can have.
    """
    return textwrap.wrap(text, min(width, WIDEST), break_long_words=False)


def show_wrapped(console: Console, texts: Sequence[str], indent: int = 2) -> None:
    """Prints paragraphs, on a terminal wrapped between words; nothing for an empty one.

    Args:
        console: Where to print.
        texts: The paragraphs.
        indent: Blanks in front of each line.
    """
    from rich.text import Text

    for text in texts:
        lines = wrapped(shown(text), console.width - indent)
        for line in lines if console.is_terminal or not lines else [shown(text)]:
            console.print(Text(" " * indent + line, "dim"), soft_wrap=True)
