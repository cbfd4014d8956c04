"""``padops verify``."""

from __future__ import annotations

import argparse
from typing import Any

from padops.cli.parsing import add_runs
from padops.terminal import json_text, names, say

ABOUT = (
    "Check whether a converted model does what the original does. padops proves that each part that differs does the "
    "same, if it can; then it runs both models on the same inputs and compares their outputs. Exit codes: 0 proved, or "
    "tested (the runs were equal, or floats differ by no more than they move by themselves); 1 error; 2 usage; 4 "
    "different; 5 unknown (with --strict, also tested)."
)


def add_verify(commands: Any) -> None:
    """Adds ``padops verify``."""
    about = "prove that two models do the same, and run both"
    parser = commands.add_parser("verify", help=about, description=ABOUT)
    parser.add_argument(
        "original", metavar="ORIGINAL", help="an .onnx file, an OpenVINO IR (.xml), or - (standard input)"
    )
    parser.add_argument("converted", metavar="CONVERTED", help="the .onnx file to compare with it, or -")
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
    """Compares with these options."""
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
