"""``padops inspect``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from padops.cli.parsing import MODEL, SUFFIXES, add_reading, add_rules, models_in
from padops.cli.reports import KINDS, REPORTS, exit_code
from padops.exits import ERROR
from padops.files.streams import STREAM
from padops.terminal import fail, names, say

ABOUT = (
    "List each Pad, whether ONNX Runtime runs it, and how to fix it. SAME padding of convolutions and poolings, other "
    "frameworks' Pads, and nodes that act as a Pad count as Pads. padops inspect neither changes nor runs the model. "
    "For a folder or several models, it prints one line for each model, reasons where Pads fail, and a total. Exit "
    "codes: 0 done, 1 error (in any model), 2 usage. With --check, the first of these that holds: 4 the results of a "
    "Pad are wrong, 1 a model cannot be read, 3 a Pad is refused or breaks a rule, 5 a Pad is unsure: its results may "
    "be wrong, or are unknown."
)
PASSED = ("select", "custom_domains", "follow_links", "providers", "rules", "onnxruntime")  # of padops.inspect, too


def add_inspect(commands: Any) -> None:
    """Adds ``padops inspect``."""
    about = "list each Pad, whether ONNX Runtime runs it, and how to fix it"
    parser = commands.add_parser("inspect", help=about, description=ABOUT)
    parser.add_argument("models", metavar="MODEL", nargs="+", help=MODEL)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=("text", *REPORTS), default="text", help="the format of the output (default: "
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
    from padops.cli.tables import inspected_lines, inspection_lines, total_lines
    from padops.convert import PadopsError, UsageError
    from padops.convert.arguments import rules_of_session
    from padops.convert.inspection import Inspection, inspect
    from padops.convert.pipeline import read_model
    from padops.runtime.provider_rules import full_names

    if options.allow and not options.check:
        options.usage_error("--allow needs --check")
    if options.models.count(STREAM) > 1:
        options.usage_error(f"{STREAM} is named twice, but standard input has one model")
    names: list[str] = []
    for given in options.models:
        try:
            names += (found := list(map(str, models_in(Path(given)))) if os.path.isdir(given) else [given])
        except OSError as error:
            return fail(error)
        if not found:
            return fail(f"{given} has no {' or '.join(SUFFIXES)} file in it")
    alone, is_text = names == options.models and len(names) == 1, options.format == "text"
    options.providers = full_names(options.providers, rules_of_session(options.providers, options.rules))
    passed = {name: getattr(options, name) for name in PASSED}
    told: dict[str, Inspection | str] = {}
    for name in dict.fromkeys(names):
        try:
            inspection = inspect(read_model()[1] if name == STREAM else name, **passed)
        except UsageError:
            raise
        except PadopsError as error:
            told[name] = str(error)
            if options.format != "github":  # whose lines name no command of a workflow
                fail(error if alone or str(error).startswith(name) else f"{name}: {error}")
        else:
            told[name] = inspection
            if is_text:
                say(*(inspection_lines(inspection) if alone else inspected_lines(name, inspection)))
    if not is_text:
        print(REPORTS[options.format](told, options.allow))
    elif not alone:
        say(*total_lines(list(told.values())))
    if options.check:
        return exit_code(told, options.allow)
    return ERROR if any(isinstance(result, str) for result in told.values()) else 0
