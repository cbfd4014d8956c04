"""``padops describe``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any


def add_describe(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    parser = commands.add_parser("describe", help="print the operators as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from padops.runtime.session import describe

    try:
        described = describe()
    except (OSError, RuntimeError) as error:  # RuntimeError: a rebuild has failed
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(described, indent=2))
    return 0
