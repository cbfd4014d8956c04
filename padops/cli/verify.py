"""``padops verify``."""

from __future__ import annotations

import argparse
from typing import Any

from padops.cli.parsing import add_tolerance
from padops.terminal import fail, make_console

ABOUT = (
    "Run two models on the same inputs and compare every bit of their outputs and of what their Pads give. Values of the "
    "same name count as the same value. Exit codes: 0 equal, or floats differ by rounding around Pads that are right, 1 error, "
    "2 usage, 4 different (with --strict, rounding too), 5 could not be told: the original does not run, or with --strict, "
    "an output was always the same or a Pad was not reached."
)


def add_verify(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    about = "run two models on the same inputs and compare every bit"
    parser = commands.add_parser("verify", help=about, description=ABOUT)
    parser.add_argument(
        "original", metavar="ORIGINAL", help="an .onnx file, an OpenVINO IR (.xml), or - (standard input)"
    )
    parser.add_argument("converted", metavar="CONVERTED", help="the .onnx file to compare with it, or -")
    parser.add_argument("--inputs", metavar="FILE.npz", help="what to run both with (default: random numbers)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random numbers (default: %(default)s)")
    add_tolerance(parser)
    parser.add_argument("--providers", metavar="A,B", help="run both in sessions with these execution providers, first choice "
                        "first, such as OpenVINOExecutionProvider,CPUExecutionProvider, and compare their outputs; every bit, "
                        "where no tolerance is given")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit with 4 where floats differ by rounding, and with 5 where "
                        "an output or a Pad has told nothing")  # fmt: skip
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=run_verify)


def run_verify(options: argparse.Namespace) -> int:
    """Compares as the options say."""
    from padops.cli.tables import show_verification
    from padops.convert import PadopsError, UndecidedError, VerificationError
    from padops.convert.streams import models_of
    from padops.convert.verify.models import verify

    try:
        models = models_of(options.original, options.converted)
        providers = None if options.providers is None else [name for name in options.providers.split(",") if name]
        tolerance = {"rtol": options.rtol, "atol": options.atol}
        verification = verify(*models, options.inputs, options.seed, **tolerance, providers=providers)
    except PadopsError as error:
        return fail(error, error.exit_code)
    show_verification(make_console(options.quiet), verification)
    if verification.refuted or (options.strict and verification.outcome == "close"):
        return VerificationError.exit_code
    told = verification.passed and not (options.strict and verification.doubts)
    return 0 if told else UndecidedError.exit_code
