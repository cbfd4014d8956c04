"""``padops describe``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from padops.terminal import fail


def add_describe(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    parser = commands.add_parser("describe", help="print the operators as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from padops.runtime.session import describe

    try:
        described = describe()
    except (OSError, RuntimeError) as error:  # RuntimeError: a rebuild has failed
        return fail(error)
    print(json.dumps(described, indent=2))
    return 0
