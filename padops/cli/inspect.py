"""``padops inspect``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.cli.findings import KINDS, Inspected, exit_code
from padops.cli.parsing import typed
from padops.exits import ERROR, LEFT
from padops.files.streams import STREAM
from padops.terminal import fail, json_text, make_console, names, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from padops.convert.inspection import Inspection

ABOUT = (
    "Say of each Pad of a model what it is, what the installed onnxruntime does with it, and what makes it run. SAME of "
    "convolutions and poolings, foreign Pads, and nodes that do what a Pad does count as well. The model is neither changed nor "
    "run. Of a folder, or of several models, each is told in one line. Exit codes: 0 done, 1 error (of several models: of any), "
    "2 usage, 3 onnxruntime does not run a Pad, or may get it wrong (with --strict). With --check: 4 the results of a Pad are "
    "wrong, 1 a model cannot be read, 3 a Pad is refused, 5 it is unsure whether a Pad runs right; the first of them that is so."
)
FORMATS = ("text", "json", "sarif", "junit", "github")


def add_inspect(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    about = "say what onnxruntime does with each Pad of a model, and what helps"
    parser = commands.add_parser("inspect", help=about, description=ABOUT)
    parser.add_argument("models", metavar="MODEL", nargs="+", help="an .onnx file, an OpenVINO IR (.xml, with its .bin) or what "
                        "nGraph serialized (.json); - for an ONNX model from standard input; or a folder: every .onnx file "
                        "in it")  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, default="text", help="how to print it (default: "
                      "%(default)s; sarif: SARIF 2.1.0; junit: JUnit XML; github: annotations of a workflow)")  # fmt: skip
    form.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads (default: %(default)s; "
                        "needed: only those that this onnxruntime does not run, or may get wrong)")  # fmt: skip
    parser.add_argument("--custom-domain", action="append", default=[], metavar="NAME", dest="custom_domains", help="where "
                        "the exporter left its framework's nodes; repeatable")  # fmt: skip
    parser.add_argument("--providers", type=names, default=[], metavar="A,B", help="the execution providers of the session that the verdicts are about, "
                        "first choice first, such as OpenVINOExecutionProvider,CPUExecutionProvider; each Pad then says who "
                        "runs it with padops beside them (default: the processor's)")  # fmt: skip
    parser.add_argument("--here", action="store_true", help="ask the installed onnxruntime itself who runs each Pad, by "
                        "creating a session")  # fmt: skip
    parser.add_argument("--onnxruntime", metavar="1.N", help="the release that the verdicts are about, in place of the "
                        "installed one; it need not be there")  # fmt: skip
    check = parser.add_mutually_exclusive_group()
    check.add_argument(
        "--check", action="store_true", help="exit with 4, 3 or 5 where a Pad is wrong, refused or unsure"
    )
    check.add_argument("--strict", action="store_true", help="exit with 3 where a Pad does not run")
    parser.add_argument("--allow", action="append", choices=KINDS, default=[], metavar="KIND", help="with --check: pass over "
                        f"Pads that are {', '.join(KINDS[:-1])} or {KINDS[-1]}; repeatable")  # fmt: skip
    parser.add_argument("--follow-links", action="store_true", help="take external data in that are links out of the "
                        "model's folder")  # fmt: skip
    parser.set_defaults(run=run_inspect, usage_error=parser.error)


def run_inspect(options: argparse.Namespace) -> int:
    """Inspects as the options say."""
    from padops.convert import UsageError

    if options.allow and not options.check:
        options.usage_error("--allow needs --check")
    if options.models.count(STREAM) > 1:
        options.usage_error(f"{STREAM} stands twice, but standard input brings one model")
    names: list[str] = []
    for given in options.models:
        names += (found := _models_of(given))
        if not found:
            return fail(f"{given} has no .onnx file in it")
    alone = names == options.models and len(names) == 1
    console = make_console()
    told: list[Inspected] = []
    for name in dict.fromkeys(names):
        try:
            told.append(_inspected(options, name))
        except UsageError as error:
            return fail(typed(error), error.exit_code)
        if not alone and options.format == "text":
            _show_line(console, told[-1])
    _print(options, console, told, alone)
    if options.check:
        return exit_code(told, options.allow)
    if any(isinstance(inspected.result, str) for inspected in told):
        return ERROR
    return LEFT if options.strict and exit_code(told, ()) else 0


def _models_of(given: str) -> list[str]:
    """The files that an argument stands for."""
    from padops.cli.bulk import models_in

    return list(map(str, models_in(Path(given)))) if os.path.isdir(given) else [given]


def _inspected(options: argparse.Namespace, model: str) -> Inspected:
    """A model with what is in it, or why it cannot be read.

    Raises:
        UsageError: The options are wrong.
    """
    from padops.convert import PadopsError, UsageError

    try:
        return Inspected(model, _inspect(options, model))
    except UsageError:
        raise
    except PadopsError as error:
        return Inspected(model, str(error))


def _inspect(options: argparse.Namespace, model: str) -> Inspection:
    from padops.convert.inspection import inspect
    from padops.convert.streams import read_model
    from padops.runtime.provider_rules import full_names

    return inspect(
        read_model()[1] if model == STREAM else model,
        select=options.select,
        custom_domains=options.custom_domains,
        follow_links=options.follow_links,
        providers=full_names(options.providers),
        here=options.here,
        onnxruntime=options.onnxruntime,
    )


def _show_line(console: Console, inspected: Inspected) -> None:
    from padops.cli.tables import show_inspected

    show_inspected(console, inspected.name, inspected.result)


def _print(options: argparse.Namespace, console: Console, told: Sequence[Inspected], alone: bool) -> None:
    """Prints what was found, but for the lines that text has of each of several models.

    Args:
        options: Those of the command.
        console: Where text goes.
        told: The models.
        alone: Whether one file was named, and nothing else.
    """
    from padops.cli.reports import REPORTS
    from padops.cli.tables import show_inspection

    unreadable = [inspected.result for inspected in told if isinstance(inspected.result, str)]
    read = [inspected.result for inspected in told if not isinstance(inspected.result, str)]
    if options.format in REPORTS:
        print(REPORTS[options.format](told, options.allow))
        if options.format != "github":  # what it prints is read, the others' files may not be
            for why in unreadable:
                say(f"error: {why}", stderr=True)
    elif alone and unreadable:
        fail(unreadable[0])
    elif options.format == "json":
        values = [_json(inspected) for inspected in told]
        print(json_text(values[0] if alone else {"models": values}))
    elif alone:
        show_inspection(console, *read)
    elif any(inspection.failing for inspection in read):
        print("padops inspect with one of them says why, and what helps")


def _json(inspected: Inspected) -> dict[str, Any]:
    result = inspected.result
    return {"path": inspected.name, "error": result} if isinstance(result, str) else result.to_json()
