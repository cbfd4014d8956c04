"""``padops convert`` and ``padops verify``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from padops.cli.parsing import MODEL, add_reading, add_rules, add_runs, typed
from padops.files.staging import identity
from padops.files.streams import STREAM
from padops.terminal import count, fail, json_text, names, progress_line, say

ABOUT = (
    "Replace every Pad of a model by an operator of the domain padops. Nothing else changes, except convolutions and "
    "poolings into which padops folds a Pad (unless --no-fold is given); external data are copied beside the output. "
    "Exit codes: 0 done, 1 error, 2 usage, 3 a Pad that ONNX Runtime refuses is unconverted (with --strict, any Pad is "
    "unconverted or has no fallback), 4 verification mismatch, 5 verification undecided (with --strict, not all "
    "proved). Unless the code is 0, no model is written, with two exceptions that the message names: only the report "
    "could not be written; or, at 5 without --strict, the converted model runs but has nothing to compare it with."
)
ABOUT_VERIFY = (
    "Check whether a converted model does what the original does. If padops can, it proves that each part that differs "
    "does the same. Then it runs both models on the same inputs and compares their outputs. Exit codes: 0 proved, or "
    "tested (the runs were equal, or floats differ by no more than a measured tolerance); 1 error; 2 usage; 4 "
    "different; 5 unknown (with --strict, also tested)."
)


def add_convert(commands: Any) -> None:
    parser = commands.add_parser("convert", help="convert the Pads of a model", description=ABOUT)
    parser.add_argument("source", metavar="IN", help=MODEL)
    parser.add_argument("place", metavar="OUT", nargs="?", help="the file to write; - for standard output; the folder "
                        "to write to if IN is a folder")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="OUT", help="another way to name OUT")
    parser.add_argument("--in-place", action="store_true", help="replace IN, in one step")
    parser.add_argument("--dry-run", action="store_true", help="write no model; print what would change")
    parser.add_argument("--jobs", type=count, metavar="N", help="if IN is a folder: the number of models that are "
                        "converted at a time (default: 1)")  # fmt: skip
    parser.add_argument("--target", choices=("padops", "onnx", "pyop"), default="padops", help="what Pads become "
                        "(default: %(default)s: operators of the native library; onnx: standard operators; pyop: a "
                        "kernel in Python)")  # fmt: skip
    parser.add_argument("--without-pad", action="store_true", help="with --target onnx: also replace ONNX Pad by other "
                        "standard operators, for runtimes whose Pad lacks modes or is wrong")  # fmt: skip
    parser.add_argument("--for", metavar="PROVIDER", dest="provider", help="with --target onnx: use only operators "
                        "that this execution provider runs correctly, on its device: openvino, "
                        "WebGpuExecutionProvider, ...")  # fmt: skip
    add_rules(parser, "with --for: ")
    parser.add_argument("--opset", type=count, metavar="N", help="with --target onnx: write the Pads for version N of "
                        "the standard operators, and convert the rest with onnx's version converter; implies "
                        "--verify")  # fmt: skip
    parser.add_argument("--fallback", action=argparse.BooleanOptionalAction, default=True, help="add functions of "
                        "standard operators to the model, which run the Pads if the library is absent (default: "
                        "yes)")  # fmt: skip
    parser.add_argument("--fold", action=argparse.BooleanOptionalAction, default=True, help="remove Pads that change "
                        "nothing, and fold Pads into convolutions and poolings (default: yes)")  # fmt: skip
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads to convert (default: "
                        "%(default)s; needed: only those that some onnxruntime from 1.20 on does not run "
                        "correctly)")  # fmt: skip
    parser.add_argument("--auto-pad", choices=("keep", "explicit"), default="keep", help="what to do with SAME_UPPER "
                        "and SAME_LOWER (default: %(default)s; explicit: write the amounts out)")  # fmt: skip
    parser.add_argument("--emulated", choices=("convert", "keep"), default="convert", help="whether to convert groups "
                        "of nodes that act as a Pad, such as Slices and a Concat (default: "
                        "%(default)s)")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="fail if a Pad cannot be converted or has no "
                        "fallback, or if --verify does not prove all")  # fmt: skip
    parser.add_argument("--verify", action="store_true", help="prove that the converted model does what IN does; "
                        "then run both, and compare their outputs")  # fmt: skip
    add_runs(parser, "with --verify: ")
    parser.add_argument("--report", metavar="FILE.json", help="write a record of each Pad; - for standard output")
    add_reading(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors and warnings")
    parser.set_defaults(run=run_convert, usage_error=parser.error, left_behind="; nothing has been left behind")


def run_convert(options: argparse.Namespace) -> int:
    _settle_output(options)
    passed = {name: getattr(options, name) for name in PASSED} | {"run": options.run_both}
    if os.path.isdir(options.source):  # Path.is_dir raises an error for a name that is too long
        from padops.cli.bulk import convert_folder

        return convert_folder(options, passed)
    if options.jobs is not None:
        options.usage_error("--jobs needs a folder, but IN is one model")
    named = options.source if options.in_place else options.output
    target = None if options.dry_run or named == STREAM else Path(named)
    before = target and identity(target)
    # ``main`` calls it, since a signal may come after this function returns: freeing a large model takes long.
    options.written = lambda: target if target and identity(target) not in (None, before) else None
    return _run(options, passed)


def _settle_output(options: argparse.Namespace) -> None:
    """Puts OUT into ``options.output``; exits with 2 if the options contradict each other, or name no output."""
    if options.place is not None:
        if options.output is not None:
            options.usage_error(f"OUT and -o/--output name two outputs: {options.place}, {options.output}")
        options.output = options.place
    if options.in_place and options.output is not None:
        options.usage_error("--in-place excludes OUT and -o/--output")
    if (options.output or "").endswith("/") and not os.path.isdir(options.source):
        options.usage_error(f"{options.output} names a folder, but IN is one model: name the file to write")
    if not options.fallback and options.target != "padops":
        options.usage_error("--no-fallback needs --target padops")
    if not (options.in_place or options.output or options.dry_run):
        options.usage_error("name OUT, or use --in-place or --dry-run")


# The options that have the same names in padops.convert; --run is its argument "run".
PASSED = ("target", "without_pad", "provider", "rules", "opset", "fallback", "fold", "select", "auto_pad", "emulated",
          "custom_domains", "strict", "verify", "inputs", "seed", "rtol", "atol", "dry_run", "in_place", "report",
          "follow_links")  # fmt: skip


def _run(options: argparse.Namespace, passed: dict[str, Any]) -> int:
    from padops.cli.tables import conversion_lines, reservations, what_was_written
    from padops.convert import PadopsError
    from padops.convert.pipeline import convert_streams

    stderr = STREAM in (options.output, options.report)
    try:
        with progress_line(options.quiet) as progress:
            conversion = convert_streams(options.source, options.output, **passed, progress=progress)
    except PadopsError as error:
        found = getattr(error, "conversion", None)
        if found is not None and not options.quiet:
            say(*conversion_lines(found), stderr=stderr)
        return fail(typed(error), error.exit_code)
    written = what_was_written(conversion)
    if not options.quiet:
        say(*conversion_lines(conversion), f"{conversion.summary()}; {written}", stderr=stderr)
    for lack in conversion.no_fallback.values():
        say(f"warning: {lack}", stderr=True)
    code, why = reservations(conversion)
    if code:
        say(f"warning: {why}; {written}", stderr=True)
    return code


def add_verify(commands: Any) -> None:
    about = "prove that two models do the same, and run both"
    parser = commands.add_parser("verify", help=about, description=ABOUT_VERIFY)
    known = "an .onnx file, an OpenVINO IR (.xml), or - (standard input)"
    parser.add_argument("original", metavar="ORIGINAL", help=known)
    parser.add_argument("converted", metavar="CONVERTED", help="the .onnx file to compare with ORIGINAL, or -")
    add_runs(parser)
    parser.add_argument("--providers", type=names, metavar="A,B", help="run both models in sessions with these "
                        "execution providers, first choice first, such as "
                        "OpenVINOExecutionProvider,CPUExecutionProvider, and compare their outputs: every bit, unless "
                        "--rtol or --atol is given")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit with 5 if not all is proved")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=run_verify)


def run_verify(options: argparse.Namespace) -> int:
    from padops.cli.tables import verification_lines
    from padops.convert.pipeline import models_of
    from padops.convert.records import SCHEMA
    from padops.convert.verify.choice import shortcoming, verify
    from padops.runtime.installed import versions
    from padops.runtime.provider_rules import full_names

    models = models_of(options.original, options.converted)
    providers = None if options.providers is None else full_names(options.providers)
    given = {name: getattr(options, name) for name in ("inputs", "seed", "rtol", "atol")}
    verification = verify(*models, **given, run=options.run_both, providers=providers)
    answer = shortcoming(verification, options.strict)
    code = 0 if answer is None else answer.exit_code
    if options.json:
        about = {"schema": SCHEMA, "versions": versions(), "original": options.original, "converted": options.converted}
        print(json_text(about | {"exit": code} | verification.to_json()))
    elif not options.quiet:
        say(*verification_lines(verification))
    return code
