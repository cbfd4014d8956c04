"""An argparse parser with short errors, and the options that several commands share."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any, NoReturn

from padops.exits import USAGE
from padops.terminal import shown


class Parser(argparse.ArgumentParser):
    """A parser that refuses empty values and unknown options; argparse's subparsers pass unknown options on."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, unknown = super().parse_known_args(args, namespace)
        # argparse does not find the optional positional argument OUT after an option.
        if len(unknown) == 1 and not unknown[0].startswith("-") and getattr(found, "place", "") is None:
            found.place = unknown.pop()
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        for action in self._actions:
            value = getattr(found, action.dest, None)
            if value == "" or (isinstance(value, list) and "" in value):
                self.error(f"argument {'/'.join(action.option_strings) or action.metavar} is empty")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Prints the error and a pointer to the usage, and exits with 2."""
        self.exit(USAGE, f"{self.prog} --help shows the usage\n{self.prog}: error: {shown(message)}\n")


SUFFIXES = (".onnx", ".xml")  # of the models in a folder
MODEL = (
    "an .onnx file, or an OpenVINO IR (.xml, with its .bin); - for an ONNX "
    f"model from standard input; or a folder, for every {' and '.join(SUFFIXES)} file in it"
)


def add_rules(parser: argparse.ArgumentParser, when: str) -> None:
    parser.add_argument("--rules", metavar="FILE.json", help=f"{when}use the rules that padops probe "
                        "wrote (default: padops' own rules)")  # fmt: skip


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Adds ``--custom-domain`` and ``--follow-links``, which set how padops reads a model."""
    parser.add_argument("--custom-domain", action="append", default=[], metavar="NAME", dest="custom_domains", help="a "
                        "domain in which the exporter keeps pads of its framework, such as tf2onnx's MirrorPad or "
                        "nGraph's Pad; repeatable")  # fmt: skip
    parser.add_argument("--follow-links", action="store_true", help="accept external data that are links out of the "
                        "model's folder (links of a Hugging Face cache are always accepted)")  # fmt: skip


def add_runs(parser: argparse.ArgumentParser, condition: str = "") -> None:
    """Adds ``--run``, ``--inputs``, ``--seed``, ``--rtol`` and ``--atol``; ``condition`` begins each help text."""
    parser.add_argument("--run", action="store_true", dest="run_both", help=f"{condition}make as many runs after a "
                        "proof as without one")  # fmt: skip
    parser.add_argument("--inputs", metavar="FILE.npz", help=f"{condition}run both models with these inputs "
                        "(default: random inputs)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=f"{condition}seed of the random "
                        "inputs (default: %(default)s)")  # fmt: skip
    parser.add_argument("--rtol", type=float, metavar="X", help=f"{condition}accept as rounding a difference of atol + "
                        "rtol * |x| for a float x (default, without --atol: a tolerance that is measured on the "
                        "original)")  # fmt: skip
    parser.add_argument("--atol", type=float, metavar="X", help="see --rtol")


def models_in(folder: Path) -> list[Path]:
    """Returns the models below a folder, including dangling links; raises OSError for an unreadable folder."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # a folder that disappears meanwhile ends no walk
            raise error

    found = sorted(Path(where, name) for where, _, names in os.walk(folder, onerror=refuse) for name in names)
    models = [path for path in found if path.suffix.lower() in SUFFIXES]
    return [path for path in models if path.suffix.lower() != ".xml" or _may_be_ir(path)]


def _may_be_ir(path: Path) -> bool:
    """Returns whether an XML file may be an OpenVINO IR: has a ``<net>``, is a Git LFS pointer, or is unreadable."""
    if not path.is_file():
        return True
    try:
        with open(path, "rb") as file:
            return re.search(rb"<net\s|\Aversion ", file.read(1024)) is not None
    except OSError:
        return True


def typed(error: Exception) -> str:
    """Returns an exception's message with command-line options in place of Python arguments."""
    return str(getattr(error, "typed", error))
