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
    "Tell what each Pad of a model is, what the installed onnxruntime does with it, and what makes it run. SAME "
    "padding of convolutions and poolings, other frameworks' Pads, and nodes that do what a Pad does count as Pads. "
    "The model is neither changed nor run. A folder, or several models, give one line for each model. Exit codes: 0 "
    "done, 1 error (in any model), 2 usage, 3 onnxruntime does not run a Pad or may get it wrong (with --strict). With "
    "--check, the first of these that holds: 4 the results of a Pad are wrong, 1 a model cannot be read, 3 a Pad is "
    "refused, 5 a Pad is unsure: its results may be wrong, or are unknown."
)
FORMATS = ("text", "json", "sarif", "junit", "github")


def add_inspect(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    about = "say what onnxruntime does with each Pad of a model, and what helps"
    parser = commands.add_parser("inspect", help=about, description=ABOUT)
    parser.add_argument("models", metavar="MODEL", nargs="+", help="an .onnx file, an OpenVINO IR (.xml, with its "
                        ".bin) or a model that nGraph serialized (.json); - for an ONNX model from standard input; or "
                        "a folder, for every .onnx file in it")  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, default="text", help="the format of the output (default: "
                      "%(default)s; sarif: SARIF 2.1.0; junit: JUnit XML; github: annotations of a "
                      "workflow)")  # fmt: skip
    form.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads to show (default: "
                        "%(default)s; needed: only those that this onnxruntime does not run, or may get "
                        "wrong)")  # fmt: skip
    parser.add_argument("--custom-domain", action="append", default=[], metavar="NAME", dest="custom_domains", help="a "
                        "domain of the exporter with its framework's pads; repeatable")  # fmt: skip
    parser.add_argument("--providers", type=names, default=[], metavar="A,B", help="the session's execution providers, "
                        "first choice first, such as OpenVINOExecutionProvider,CPUExecutionProvider. The verdicts are "
                        "about this session; each Pad also names the provider that runs it if padops is one of them "
                        "(default: the CPU's)")  # fmt: skip
    parser.add_argument("--here", action="store_true", help="create a session of the installed onnxruntime, and ask it "
                        "which provider runs each Pad")  # fmt: skip
    parser.add_argument("--onnxruntime", metavar="1.N", help="the release that the verdicts are about; it need not be "
                        "installed (default: the installed one)")  # fmt: skip
    check = parser.add_mutually_exclusive_group()
    check.add_argument("--check", action="store_true", help="exit with 4, 3 or 5 if a Pad is wrong, refused or unsure")
    check.add_argument("--strict", action="store_true", help="exit with 3 if a Pad does not run or may be wrong")
    parser.add_argument("--allow", action="append", choices=KINDS, default=[], metavar="KIND", help="with --check: "
                        f"ignore Pads that are {', '.join(KINDS[:-1])} or {KINDS[-1]}; repeatable")  # fmt: skip
    parser.add_argument("--follow-links", action="store_true", help="accept external data that are links out of the "
                        "model's folder")  # fmt: skip
    parser.set_defaults(run=run_inspect, usage_error=parser.error)


def run_inspect(options: argparse.Namespace) -> int:
    """Inspects as the options say."""
    from padops.convert import UsageError

    if options.allow and not options.check:
        options.usage_error("--allow needs --check")
    if options.models.count(STREAM) > 1:
        options.usage_error(f"{STREAM} is named twice, but standard input has one model")
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
    """A model with its inspection, or the reason why it cannot be read.

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
    """Prints the findings; the text lines of several models (not ``alone``) have been printed before."""
    from padops.cli.reports import REPORTS
    from padops.cli.tables import show_inspection

    unreadable = [inspected.result for inspected in told if isinstance(inspected.result, str)]
    read = [inspected.result for inspected in told if not isinstance(inspected.result, str)]
    if options.format in REPORTS:
        print(REPORTS[options.format](told, options.allow))
        if options.format != "github":  # people read its output; the other formats may go to files
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
        print("To see why, and what helps: padops inspect with one model")


def _json(inspected: Inspected) -> dict[str, Any]:
    result = inspected.result
    return {"path": inspected.name, "error": result} if isinstance(result, str) else result.to_json()
