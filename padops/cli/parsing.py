"""The parser of the command line: argparse's, which also says what was meant where something is mistyped."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from padops.exits import USAGE
from padops.terminal import shown

CHOICE = re.compile(r"invalid choice: '?([^' ]*)'? \(choose from (.*)\)")
UNKNOWN = "unrecognized arguments: "
IN_PYTHON = {"lower": "convert --target onnx"}  # functions of the package that are no commands by themselves
LATE = "place"  # a positional argument that may be absent, which argparse does not find behind an option


class Parser(argparse.ArgumentParser):
    """A parser that refuses unknown options itself, not by way of the parser above it, and suggests known ones."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, but that there are no unknown options.

        Args:
            args: The arguments; by default those of the process.
            namespace: Where the results go.
        """
        found, unknown = super().parse_known_args(args, namespace)
        if len(unknown) == 1 and not unknown[0].startswith("-") and getattr(found, LATE, "") is None:
            setattr(found, LATE, unknown.pop())
        if unknown:
            self.error(UNKNOWN + " ".join(unknown))
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Says what is wrong and where the usage can be read, and ends with 2.

        Args:
            message: What is wrong.
        """
        what = shown("; ".join([message, *self._suggestions(message)]))
        self.exit(USAGE, f"{self.prog} --help says how it is used\n{self.prog}: error: {what}\n")

    def _suggestions(self, message: str) -> list[str]:
        if message.startswith(UNKNOWN):
            options = [text for text in self._option_string_actions if text.startswith("--")]
            given = [word.partition("=")[0] for word in message.removeprefix(UNKNOWN).split() if word.startswith("-")]
            return [f"{word}: {meant}" for word in given if (meant := did_you_mean(word, options))]
        if (choice := CHOICE.search(message)) is not None:
            if choice[1] in IN_PYTHON:
                return [f"did you mean {IN_PYTHON[choice[1]]}?"]
            meant = did_you_mean(choice[1], [text.strip(" '") for text in choice[2].split(",")])
            return [meant] if meant else []
        return []


def add_tolerance(parser: argparse.ArgumentParser) -> None:
    """Adds what rounding may be: ``--rtol`` and ``--atol``."""
    parser.add_argument("--rtol", type=float, metavar="X", help="by how much of itself a float may differ by rounding "
                        "(default, with no --atol: 1e-4 of the largest element of the output, 5e-2 in models of float16, "
                        "2e-1 of bfloat16)")  # fmt: skip
    parser.add_argument("--atol", type=float, metavar="X", help="by how much it may differ beside that")


def typed(error: Exception) -> str:
    """What an exception says, with options of the command line in the place of arguments."""
    return str(getattr(error, "typed", error))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question with the known word that is most like one that is not known; "" where none is."""
    near: Sequence[str] = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""


class PrintVersion(argparse.Action):
    """``--version``, which is looked up only where it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *ignored: Any) -> None:
        """Prints the version, and ends."""
        from padops import __version__

        print(f"padops {__version__}")
        parser.exit()
