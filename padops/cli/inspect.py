"""``padops inspect``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from padops.terminal import fail, make_console

ABOUT = (
    "Say of each Pad of a model what it is, what the installed onnxruntime does with it, and what makes it run. SAME of "
    "convolutions and poolings, foreign Pads, and nodes that do what a Pad does count as well. The model is neither changed nor "
    "run. Exit codes: 0 done, 1 error, 2 usage, 3 onnxruntime does not run a Pad, or may get it wrong (with --strict)."
)
FAILING = 3  # with --strict


def add_inspect(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    about = "say what onnxruntime does with each Pad of a model, and what helps"
    parser = commands.add_parser("inspect", help=about, description=ABOUT)
    parser.add_argument("model", metavar="MODEL", help="an .onnx file, an OpenVINO IR (.xml, with its .bin) or what "
                        "nGraph serialized (.json)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the same as JSON")
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads (default: %(default)s; "
                        "needed: only those that this onnxruntime does not run, or may get wrong)")  # fmt: skip
    parser.add_argument("--custom-domain", action="append", default=[], metavar="NAME", dest="custom_domains", help="where "
                        "the exporter left its framework's nodes; repeatable")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit with 3 where a Pad does not run")
    parser.add_argument("--follow-links", action="store_true", help="take external data in that are links out of the "
                        "model's folder")  # fmt: skip
    parser.set_defaults(run=run_inspect)


def run_inspect(options: argparse.Namespace) -> int:
    """Inspects as the options say."""
    from padops.cli.tables import show_inspection
    from padops.convert import PadopsError
    from padops.convert.inspection import inspect

    try:
        inspection = inspect(
            options.model,
            select=options.select,
            custom_domains=options.custom_domains,
            follow_links=options.follow_links,
        )
    except PadopsError as error:
        return fail(error, error.exit_code)
    if options.json:
        print(json.dumps(inspection.to_json(), indent=2, ensure_ascii=False))
    else:
        show_inspection(make_console(), inspection)
    return FAILING if options.strict and inspection.failing else 0
