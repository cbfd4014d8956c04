"""``padops inspect``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.cli.parsing import provider_names
from padops.files.streams import STREAM
from padops.terminal import fail, json_text, make_console

if TYPE_CHECKING:
    from padops.convert.inspection import Inspection

ABOUT = (
    "Say of each Pad of a model what it is, what the installed onnxruntime does with it, and what makes it run. SAME of "
    "convolutions and poolings, foreign Pads, and nodes that do what a Pad does count as well. The model is neither changed nor "
    "run. Of a folder each model is told in one line. Exit codes: 0 done, 1 error (of a folder: of any model), 2 usage, 3 "
    "onnxruntime does not run a Pad, or may get it wrong (with --strict)."
)
FAILING = 3  # with --strict


def add_inspect(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    about = "say what onnxruntime does with each Pad of a model, and what helps"
    parser = commands.add_parser("inspect", help=about, description=ABOUT)
    parser.add_argument("model", metavar="MODEL", help="an .onnx file, an OpenVINO IR (.xml, with its .bin) or what "
                        "nGraph serialized (.json); - for an ONNX model from standard input; or a folder: every .onnx file "
                        "in it")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the same as JSON")
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads (default: %(default)s; "
                        "needed: only those that this onnxruntime does not run, or may get wrong)")  # fmt: skip
    parser.add_argument("--custom-domain", action="append", default=[], metavar="NAME", dest="custom_domains", help="where "
                        "the exporter left its framework's nodes; repeatable")  # fmt: skip
    parser.add_argument("--providers", metavar="A,B", help="the execution providers of the session that the verdicts are about, "
                        "first choice first, such as OpenVINOExecutionProvider,CPUExecutionProvider; each Pad then says who "
                        "runs it with padops beside them (default: the processor's)")  # fmt: skip
    parser.add_argument("--here", action="store_true", help="ask the installed onnxruntime itself who runs each Pad, by "
                        "creating a session")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit with 3 where a Pad does not run")
    parser.add_argument("--follow-links", action="store_true", help="take external data in that are links out of the "
                        "model's folder")  # fmt: skip
    parser.set_defaults(run=run_inspect)


def run_inspect(options: argparse.Namespace) -> int:
    """Inspects as the options say."""
    from padops.cli.tables import show_inspection
    from padops.convert import PadopsError

    if os.path.isdir(options.model):
        return _inspect_folder(options)
    try:
        inspection = _inspect(options, options.model)
    except PadopsError as error:
        return fail(error, error.exit_code)
    if options.json:
        print(json_text(inspection.to_json()))
    else:
        show_inspection(make_console(), inspection)
    return FAILING if options.strict and inspection.failing else 0


def _inspect(options: argparse.Namespace, model: str) -> Inspection:
    from padops.convert.inspection import inspect
    from padops.convert.streams import read_model

    return inspect(
        read_model()[1] if model == STREAM else model,
        select=options.select,
        custom_domains=options.custom_domains,
        follow_links=options.follow_links,
        providers=provider_names(options.providers),
        here=options.here,
    )


def _inspect_folder(options: argparse.Namespace) -> int:
    """Tells of each model in a folder; one that cannot be read is named, and the others go on."""
    from padops.cli.bulk import models_in
    from padops.cli.tables import show_inspected

    paths = models_in(Path(options.model))
    if not paths:
        return fail(f"{options.model} has no .onnx file in it")
    console = make_console()
    told: list[dict[str, Any]] = []
    unreadable, failing = False, False
    for path, inspection in _inspected(options, paths):
        if isinstance(inspection, str):
            told.append({"path": str(path), "error": inspection})
            unreadable = True
        else:
            told.append(inspection.to_json())
            failing = failing or bool(inspection.failing)
        if not options.json:
            show_inspected(console, path, inspection)
    if options.json:
        print(json_text({"models": told}))
    elif failing:
        print("padops inspect with one of them says why, and what helps")
    return 1 if unreadable else FAILING if options.strict and failing else 0


def _inspected(options: argparse.Namespace, paths: list[Path]) -> Iterator[tuple[Path, Inspection | str]]:
    """Each model with what is in it, or why it cannot be read."""
    from padops.convert import PadopsError

    for path in paths:
        try:
            yield path, _inspect(options, str(path))
        except PadopsError as error:
            yield path, str(error)
