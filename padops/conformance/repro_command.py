"""``padops conformance repro``: asks a peer one case, and prints the script that shows what it did."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from padops.conformance import cases, runner
from padops.conformance.case import Case
from padops.conformance.known import KNOWN
from padops.conformance.repro import Seen, script
from padops.terminal import fail


def add_repro(commands: Any) -> None:
    """Adds ``repro`` to the commands of ``padops conformance``."""
    about = (
        "Print a script that runs one case on one peer and exits 1 where it differs; only padops' peers need padops."
    )
    parser = commands.add_parser("repro", help="print a script that shows one case on one peer", description=about)
    parser.add_argument("id", metavar="ID", help="a case of a report")
    parser.add_argument("--peer", default="ort-builtin", metavar="NAME", help="which peer (default: %(default)s)")
    parser.set_defaults(run=_repro)


def seen_now(case: Case, peer: str) -> Seen | None:
    """What a peer does with a case on this machine; None where it is absent, or is not asked such cases.

    Args:
        case: The case.
        peer: As of ``--peer``.

    Raises:
        ValueError: There is no such peer.
    """
    (ran,) = runner.run_cases([case], [runner.parse_peer(peer)], KNOWN, "exhaustive")
    return Seen.of(ran.results[0], ran.handshake["versions"]) if ran.handshake and ran.results else None


def _repro(options: argparse.Namespace) -> int:
    try:
        case = cases.find_case(options.id)
        script(case, options.peer)  # whether there is one, before the peer is started
        text = script(case, options.peer, seen_now(case, options.peer))
    except ValueError as error:  # no such case, or NoScript
        return fail(error)
    sys.stdout.write(text)
    return 0
