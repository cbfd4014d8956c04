"""The command ``padops``: parses the arguments, runs a command, and returns the exit code.

A program that closes the pipe early, such as ``head``, changes no exit code. If the output cannot be printed for
another reason, ``convert``, ``verify`` and ``conformance`` keep their exit code; the other commands exit with 1.
"""

from __future__ import annotations

import argparse
import gc
import re
import signal
import sys
from collections.abc import Sequence

from padops.bench.command import add_bench
from padops.cli.convert import add_convert, add_verify, run_convert, run_verify
from padops.cli.info import add_describe, add_info
from padops.cli.inspect import add_inspect
from padops.cli.parsing import Parser, typed
from padops.cli.probe import add_probe
from padops.cli.run import add_run
from padops.conformance.command import add_conformance, run_suite
from padops.exits import ERROR, INTERRUPTED, USAGE
from padops.extras import DependencyError, needing
from padops.files.interrupts import end_process
from padops.files.streams import dropping_output
from padops.terminal import fail, say

# The thresholds of Python's search for cycles of objects. A large model stays in memory until the end, and repeated
# searches in it took a third of the time.
SELDOM = (100_000, 50, 100)
FILES = re.compile(r"(FILE|RULES)(\.\w+)?|MODEL|ORIGINAL|CONVERTED|IN|OUT|DIR")  # names of file arguments, in the usage
KEEP_THEIR_CODE = (run_convert, run_verify, run_suite)  # their exit code stays the same if their output is lost


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    with dropping_output() as out:
        parser = _parser()
        if words[:1] == ["help"]:
            words = [*words[1:], "--help"]
        options = parser.parse_args(words)
        if options.version:
            from padops import __version__  # reading it takes a third of the time of `padops --help`

            print(f"padops {__version__}")
            return 0
        if "run" not in options:
            parser.print_help(sys.stderr)
            return USAGE
        before, often = signal.signal(signal.SIGTERM, end_process), gc.get_threshold()
        gc.set_threshold(*SELDOM)
        try:
            with needing("this command"):
                code = options.run(options)
        except (KeyboardInterrupt, SystemExit) as ending:
            if target := options.written():
                say(f"interrupted, but {target} had been written", stderr=True)
                return 0
            if isinstance(ending, SystemExit):
                raise
            print(f"interrupted{options.left_behind}", file=sys.stderr)
            return INTERRUPTED
        except Exception as error:
            exit_code = ERROR if isinstance(error, DependencyError) else getattr(error, "exit_code", None)
            if exit_code is None:  # no PadopsError, and so a mistake of ours
                raise
            return fail(typed(error), exit_code)
        finally:
            signal.signal(signal.SIGTERM, before)
            gc.set_threshold(*often)
    lost = out.failure is not None and not isinstance(out.failure, BrokenPipeError)
    return ERROR if lost and options.run not in KEEP_THEIR_CODE else code


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="padops", description="Every Pad operator, native in ONNX Runtime.")
    # The note on files after the word "interrupted"; and the model that a command wrote before its interruption.
    parser.set_defaults(left_behind="", written=lambda: None)
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add in (add_inspect, add_convert, add_verify, add_run, add_probe, add_info, add_bench, add_describe,
                add_conformance):  # fmt: skip
        add(commands)
    completion = commands.add_parser("completion", help="print the script that completes padops in your shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(run=_print_completion)
    commands.add_parser("help", help="show the help of a command")
    return parser


def _print_completion(options: argparse.Namespace) -> int:
    """Prints the completion script of a shell; the script completes arguments for files and folders to paths."""
    import shtab

    parser = _parser()
    commands = next(action.choices for action in parser._actions if isinstance(action.choices, dict))
    for action in (action for command in commands.values() for action in command._actions):
        if FILES.fullmatch(str(action.metavar)):
            action.complete = shtab.FILE
    print(shtab.complete(parser, shell=options.shell))
    return 0
