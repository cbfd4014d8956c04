"""``padops inspect``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.cli.parsing import MODEL, SUFFIXES, add_reading, add_rules, models_in, typed
from padops.cli.reports import KINDS, Inspected, exit_code
from padops.exits import ERROR
from padops.files.streams import STREAM
from padops.terminal import fail, json_text, make_console, names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console


ABOUT = (
    "List each Pad, whether ONNX Runtime runs it, and how to fix it. SAME padding of convolutions and poolings, other "
    "frameworks' Pads, and nodes that act as a Pad count as Pads. padops inspect neither changes nor runs the model. "
    "For a folder or several models, it prints one line for each model, reasons where Pads fail, and a total. Exit "
    "codes: 0 done, 1 error (in any model), 2 usage. With --check, the first of these that holds: 4 the results of a "
    "Pad are wrong, 1 a model cannot be read, 3 a Pad is refused or breaks a rule, 5 a Pad is unsure: its results may "
    "be wrong, or are unknown."
)
PASSED = ("select", "custom_domains", "follow_links", "rules", "onnxruntime")  # options of padops.inspect, too
FORMATS = ("text", "json", "sarif", "junit", "github")


def add_inspect(commands: Any) -> None:
    """Adds ``padops inspect``."""
    about = "list each Pad, whether ONNX Runtime runs it, and how to fix it"
    parser = commands.add_parser("inspect", help=about, description=ABOUT)
    parser.add_argument("models", metavar="MODEL", nargs="+", help=MODEL)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, default="text", help="the format of the output (default: "
                      "%(default)s; sarif: SARIF 2.1.0; junit: JUnit XML; github: annotations of a "
                      "workflow)")  # fmt: skip
    form.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads to show (default: "
                        "%(default)s; needed: only those that this onnxruntime does not run, or may get "
                        "wrong)")  # fmt: skip
    parser.add_argument("--providers", type=names, default=[], metavar="A,B", help="the session's execution providers, "
                        "first choice first, such as OpenVINOExecutionProvider,CPUExecutionProvider. The verdicts "
                        "judge this session; each Pad also names the provider that runs it if padops is one of them "
                        "(default: the CPU's)")  # fmt: skip
    add_rules(parser, "with --providers: ")
    parser.add_argument("--onnxruntime", metavar="1.N", help="judge by this release; it need not be "
                        "installed (default: the installed one)")  # fmt: skip
    parser.add_argument("--check", action="store_true", help="exit with 4, 3 or 5 if a Pad is wrong, refused or unsure")
    parser.add_argument("--allow", action="append", choices=KINDS, default=[], metavar="KIND", help="with --check: "
                        f"ignore Pads that are {', '.join(KINDS[:-1])} or {KINDS[-1]}; repeatable")  # fmt: skip
    add_reading(parser)
    parser.set_defaults(run=run_inspect, usage_error=parser.error)


def run_inspect(options: argparse.Namespace) -> int:
    """Inspects with these options."""
    from padops.convert import UsageError
    from padops.convert.arguments import rules_of_session
    from padops.runtime.provider_rules import full_names

    if options.allow and not options.check:
        options.usage_error("--allow needs --check")
    if options.models.count(STREAM) > 1:
        options.usage_error(f"{STREAM} is named twice, but standard input has one model")
    try:
        ruled = rules_of_session(options.providers, options.rules)
    except UsageError as error:
        return fail(typed(error), error.exit_code)
    options.providers = full_names(options.providers, ruled)
    names: list[str] = []
    for given in options.models:
        names += (found := list(map(str, models_in(Path(given)))) if os.path.isdir(given) else [given])
        if not found:
            return fail(f"{given} has no {' or '.join(SUFFIXES)} file in it")
    alone = names == options.models and len(names) == 1
    console = make_console()
    told: list[Inspected] = []
    for name in dict.fromkeys(names):
        try:
            told.append(_inspected(options, name))
        except UsageError as error:
            return fail(typed(error), error.exit_code)
        if not alone and options.format == "text":
            from padops.cli.tables import show_inspected

            show_inspected(console, name, told[-1].result)
    _print(options, console, told, alone)
    if options.check:
        return exit_code(told, options.allow)
    return ERROR if any(isinstance(inspected.result, str) for inspected in told) else 0


def _inspected(options: argparse.Namespace, model: str) -> Inspected:
    """Inspects a model; returns it with its inspection, or with the reason why it cannot be read.

    Raises:
        UsageError: The options are wrong.
    """
    from padops.convert import PadopsError, UsageError
    from padops.convert.inspection import inspect
    from padops.convert.pipeline import read_model

    given = {name: getattr(options, name) for name in (*PASSED, "providers")}
    try:
        return Inspected(model, inspect(read_model()[1] if model == STREAM else model, **given))
    except UsageError:
        raise
    except PadopsError as error:
        return Inspected(model, str(error))


def _print(options: argparse.Namespace, console: Console, told: Sequence[Inspected], alone: bool) -> None:
    """Prints the findings; the caller has already printed the text lines of several models (not ``alone``)."""
    from padops.cli.reports import REPORTS
    from padops.cli.tables import show_inspection, show_total

    unreadable = [inspected.result for inspected in told if isinstance(inspected.result, str)]
    read = [inspected.result for inspected in told if not isinstance(inspected.result, str)]
    if options.format == "json":
        print(json_text(_head() | {"models": [_json(inspected) for inspected in told]}))
    elif options.format in REPORTS:
        print(REPORTS[options.format](told, options.allow))
    elif not alone:
        show_total(console, read, len(unreadable))
    elif read:
        show_inspection(console, *read)
    if alone if options.format == "text" else options.format != "github":  # otherwise the text lines have the errors
        for why in unreadable:
            fail(why)


def _json(inspected: Inspected) -> dict[str, Any]:
    result = inspected.result
    return _head() | {"path": inspected.name, "error": result} if isinstance(result, str) else result.to_json()


def _head() -> dict[str, Any]:
    from padops.convert.records import SCHEMA
    from padops.runtime.installed import versions

    return {"schema": SCHEMA, "versions": versions()}
