"""The command ``padops``: convert a model, say what is installed, list the operators.

Exit codes: 0 done, 1 error, 2 usage, 3 some Pads unconverted (with ``--strict``), 4 verification mismatch, 5 verification
that could not tell. Where the output cannot be printed, a command that writes files or compares keeps its exit code; one that only prints ends with 1.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.bench.command import add_bench
from padops.conformance.command import add_conformance
from padops.conformance.command import run_suite as run_conformance
from padops.extras import DependencyError, Needing
from padops.files.interrupts import INTERRUPTED
from padops.files.streams import STREAM, dropping_output
from padops.files.targets import identity

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 160  # of tables that go to a file or a pipe, which have no width of their own


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: As on the command line, without the name of the command; by default those of the process.

    Returns:
        The exit code.
    """
    with dropping_output() as out:
        options = _parser().parse_args(arguments)
        before = signal.signal(signal.SIGTERM, _end)
        try:
            with Needing("this command"):
                code = options.run(options)
        except DependencyError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print(f"interrupted{options.left_behind}", file=sys.stderr)
            return INTERRUPTED
        finally:
            signal.signal(signal.SIGTERM, before)
    return 1 if out.failure is not None and options.run not in (_convert, _verify, run_conformance) else code


def _end(number: int, frame: Any) -> None:
    """Ends the process as an exception does, so that nothing half-written stays."""
    raise SystemExit(128 + number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="padops", description="Every Pad operator, native in ONNX Runtime.")
    parser.set_defaults(left_behind="")  # what is to say of files where a signal has ended the command
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_convert(commands.add_parser("convert", help="convert the Pads of a model", description=CONVERT))
    about = "run two models on the same inputs and compare every bit"
    _add_verify(commands.add_parser("verify", help=about, description=VERIFY))
    info = commands.add_parser("info", help="print versions, the library and its operators; check that one runs")
    info.set_defaults(run=_info)
    add_bench(commands.add_parser("bench", help="measure padops against the other Pads of this machine"))
    describe = commands.add_parser("describe", help="print the operators as JSON")
    describe.set_defaults(run=_describe)
    add_conformance(commands)
    return parser


CONVERT = (
    "Turn every Pad of a model into an operator of the domain padops. Nothing else in the model changes but nodes that "
    "take a Pad in (with --no-fold, none do); external data are copied beside the output. Exit codes: 0 done, 1 error, "
    "2 usage, 3 some Pads unconverted (with --strict), 4 verification mismatch, 5 verification that could not tell "
    "(with --strict); at any but 0 no model has been written, unless the message says that only the report has not."
)
VERIFY = (
    "Run two models on the same inputs and compare every bit of their outputs and of what their Pads give. Values of the "
    "same name count as the same value. Exit codes: 0 equal, 1 error, 2 usage, 4 different, 5 could not be told: the "
    "original does not run, or with --strict, an output was always the same or a Pad was not reached."
)


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="IN", help="an .onnx file, an OpenVINO IR (.xml, with its .bin) or what "
                        "nGraph serialized (.json); - for an ONNX model from standard input")  # fmt: skip
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="OUT", help="the file to write; - for standard output")
    where.add_argument("--in-place", action="store_true", help="replace IN, in one step")
    where.add_argument("--dry-run", action="store_true", help="write no model; only say what would be done")
    parser.add_argument("--target", choices=("padops", "onnx", "pyop"), default="padops", help="what Pads become (default: "
                        "%(default)s: operators of the native library; onnx: standard operators; pyop: a kernel in "
                        "Python)")  # fmt: skip
    parser.add_argument("--without-pad", action="store_true", help="with --target onnx: use no Pad either, for runtimes whose "
                        "Pad lacks modes or is wrong")  # fmt: skip
    parser.add_argument("--fallback", action=argparse.BooleanOptionalAction, default=True, help="whether to give the model "
                        "functions that do the same where the library is absent (default: yes)")  # fmt: skip
    parser.add_argument("--fold", action=argparse.BooleanOptionalAction, default=True, help="whether to take Pads away that "
                        "change nothing or that a convolution or pooling can do by itself (default: yes)")  # fmt: skip
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads (default: %(default)s; "
                        "needed: only those that ONNX Runtime cannot run correctly by itself)")  # fmt: skip
    parser.add_argument("--auto-pad", choices=("keep", "explicit"), default="keep", help="what to do with SAME_UPPER and "
                        "SAME_LOWER (default: %(default)s; explicit: write the amounts out)")  # fmt: skip
    parser.add_argument("--emulated", choices=("convert", "keep"), default="convert", help="what to do with Slices and a "
                        "Concat that do what a Pad does (default: %(default)s)")  # fmt: skip
    parser.add_argument("--custom-domain", action="append", default=[], metavar="NAME", dest="custom_domains", help="where "
                        "the exporter left its framework's nodes: tf2onnx's MirrorPad, nGraph's Pad; repeatable")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="fail if a Pad cannot be converted, or if "
                        "--verify leaves doubts")  # fmt: skip
    parser.add_argument("--verify", action="store_true", help="run both models and compare every bit of the outputs")
    parser.add_argument("--inputs", metavar="FILE.npz", help="what to verify with (default: random numbers)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random numbers (default: %(default)s)")
    parser.add_argument("--report", metavar="FILE.json", help="write what was found and done, for machines "
                        "to read; - for standard output")  # fmt: skip
    parser.add_argument("--follow-links", action="store_true", help="take external data in that are links out of the "
                        "model's folder (those of a Hugging Face cache always are)")  # fmt: skip
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=_convert, left_behind="; nothing has been left behind")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "original", metavar="ORIGINAL", help="an .onnx file, or an OpenVINO IR (.xml); - for standard input"
    )
    parser.add_argument(
        "converted", metavar="CONVERTED", help="the .onnx file to compare with it; - for standard input"
    )
    parser.add_argument("--inputs", metavar="FILE.npz", help="what to run both with (default: random numbers)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random numbers (default: %(default)s)")
    parser.add_argument("--strict", action="store_true", help="exit with 5 where an output or a Pad has told nothing")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    from padops.convert import PadopsError, UndecidedError, VerificationError
    from padops.convert.show import show_verification
    from padops.convert.streams import models_of
    from padops.convert.verify.models import verify

    try:
        verification = verify(*models_of(options.original, options.converted), options.inputs, options.seed)
    except PadopsError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    show_verification(_console(options.quiet), verification)
    if not verification.passed:
        return VerificationError.exit_code
    told = verification.outcome not in ("runs", "undecided") and not (options.strict and verification.doubts)
    return 0 if told else UndecidedError.exit_code


def _console(quiet: bool = False, stderr: bool = False) -> Console:
    from rich.console import Console

    console = Console(highlight=False, quiet=quiet, stderr=stderr)
    return console if console.is_terminal else Console(highlight=False, quiet=quiet, stderr=stderr, width=WIDTH)


def _convert(options: argparse.Namespace) -> int:
    """Converts; once the model is in place, an interrupt has come too late to say that it is not."""
    named = options.source if options.in_place else options.output
    target = None if options.dry_run or named == STREAM else Path(named)
    before = target and identity(target)
    try:
        return _run_convert(options)
    except (KeyboardInterrupt, SystemExit):
        if target is None or identity(target) in (None, before):
            raise
        print(f"interrupted, but {target} had been written", file=sys.stderr)
        return 0


def _run_convert(options: argparse.Namespace) -> int:
    from padops.convert import PadopsError
    from padops.convert.show import show, show_end
    from padops.convert.streams import convert_streams

    console = _console(options.quiet, stderr=STREAM in (options.output, options.report))
    try:
        with _Progress(console) as progress:
            conversion = convert_streams(
                options.source,
                options.output,
                target=options.target,
                without_pad=options.without_pad,
                fallback=options.fallback,
                fold=options.fold,
                select=options.select,
                auto_pad=options.auto_pad,
                emulated=options.emulated,
                custom_domains=options.custom_domains,
                strict=options.strict,
                verify=options.verify,
                inputs=options.inputs,
                seed=options.seed,
                dry_run=options.dry_run,
                in_place=options.in_place,
                report=options.report,
                follow_links=options.follow_links,
                progress=progress,
            )
    except PadopsError as error:
        found = getattr(error, "conversion", None)
        if found is not None:
            show(console, found)
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    show(console, conversion)
    show_end(console, conversion, options.dry_run)
    return 0


class _Progress(AbstractContextManager["_Progress"]):
    """A bar that appears with the first bytes and is gone when the work is done."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._tasks: dict[str, Any] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        if what not in self._tasks:
            self._bar.start()
            self._tasks[what] = self._bar.add_task(what, total=total)
        self._bar.update(self._tasks[what], completed=done)

    def __exit__(self, *error: object) -> None:
        if self._tasks:
            self._bar.stop()


def _describe(options: argparse.Namespace) -> int:
    from padops.runtime.session import describe

    try:
        described = describe()
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(described, indent=2))
    return 0


def _info(options: argparse.Namespace) -> int:
    from padops.convert.records import versions
    from padops.runtime.library import get_library_path
    from padops.runtime.session import describe

    console = _console()
    for name, version in versions().items():
        console.print(f"{name:24} {version or 'not installed'}")
    try:
        console.print(f"{'library':24} {get_library_path()}", soft_wrap=True)
        _show_types(console, describe())
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return _self_check(console)


def _show_types(console: Console, described: dict[str, Any]) -> None:
    """The operators across, the element types down."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(f"domain {described['domain']}, version {described['version']}", no_wrap=True)
    for op in described["ops"]:
        table.add_column(op["name"], justify="center")
    for row in described["types"]:
        table.add_row(row["name"], *("x" if row["name"] in op["types"] else "" for op in described["ops"]))
    console.print(table)


def _self_check(console: Console) -> int:
    """Converts a model that ONNX Runtime refuses, runs it there, and compares it with the reference."""
    from onnx import parser

    from padops.convert import PadopsError, convert

    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> '
        "check (int16[2, 3] x) => (int16[2, 8] y) "
        '<int64[4] pads = {0, 2, 0, 3}> { y = Pad <mode = "reflect"> (x, pads) }'
    )
    try:
        verification = convert(model, verify=True).verification
    except PadopsError as error:
        print(f"error: the self-check failed: {error}", file=sys.stderr)
        return 1
    assert verification is not None
    console.print(f"self-check: padops::Pad_18 of int16 in a session: {verification.outcome} to the reference")
    return 0
