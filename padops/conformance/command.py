"""``padops conformance``: runs the suite, writes the report, and prints the progress and each peer's results."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.exits import USAGE
from padops.extras import needing
from padops.files.interrupts import exit_code
from padops.plural import plural
from padops.terminal import fail, progress_line, say, table

if TYPE_CHECKING:
    from padops.conformance.peers import Peer
    from padops.conformance.render.summary import Summary
    from padops.conformance.runner import Progress

ABOUT = (
    "Run padops and all other implementations of Pad on this machine on the same cases, and compare them with the "
    "rules, bit by bit. Exit codes: 0 everything is as expected, 1 something is not, 2 usage."
)
SCRIPT = "Print a script that runs one case on a peer and exits 1 if the peer is wrong; only padops' peers need padops."


def add_conformance(subparsers: Any) -> None:
    parser = subparsers.add_parser("conformance", help="compare implementations of Pad with padops", description=ABOUT)
    level = parser.add_mutually_exclusive_group()
    level.add_argument("--quick", dest="level", action="store_const", const="quick", help="in under two minutes")
    level.add_argument("--exhaustive", dest="level", action="store_const", const="exhaustive", help="in hours")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME[@PYTHON]",
        help="run only this peer (may be repeated), with @PYTHON in another interpreter; PATH.py:function is a peer of "
        "your own, PATH.py is all peers of a file (docs/conformance.md)",
    )  # fmt: skip
    parser.add_argument(
        "--peer-command", action="append", default=[], metavar="COMMAND",
        help='run only this peer: a program in any language, such as "node peer.mjs" (docs/conformance.md)',
    )  # fmt: skip
    parser.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="run all peers but this one (may be repeated)"
    )
    parser.add_argument("--require-peers", action="store_true", help="an absent peer is a failure, as with --peer")
    parser.add_argument(
        "--strict-peers", action="store_true",
        help="new behaviour of a peer, in a version that the known divergences were not recorded with, is a failure",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="write the report into this folder")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="choose the cases by this seed (default: 0)")
    parser.set_defaults(run=run_suite, level="default")

    def without_options(module: str, function: str, options: argparse.Namespace) -> int:
        of_run = vars(parser.parse_args([]))
        if any(getattr(options, name) != value for name, value in of_run.items() if name != "run"):
            parser.error("no command takes options of a run; put a command's own options after the command")
        code: int = getattr(import_module(module), function)(options)
        return code

    commands = parser.add_subparsers(title="commands for reports and cases", metavar="COMMAND")
    add = commands.add_parser("show", help="render a report again", description="Render a report of a run again.")
    add.add_argument("file", metavar="FILE", help="a report, conformance.jsonl")
    add.add_argument("--format", choices=("markdown", "junit", "html"), help="what to print (default: markdown)")
    add.add_argument("-o", "--out", dest="folder", metavar="DIR", help="write every form into this folder instead")
    add.set_defaults(run=partial(without_options, "padops.conformance.render", "show"))
    add = commands.add_parser("repro", help="print a script that shows one case on one peer", description=SCRIPT)
    add.add_argument("id", metavar="ID", help="a case of a report")
    add.add_argument(
        "--peer", dest="name", default="ort-builtin", metavar="NAME", help="which peer (default: %(default)s)"
    )
    add.set_defaults(run=partial(without_options, "padops.conformance.repro", "repro"))


def run_suite(options: argparse.Namespace) -> int:
    with needing("padops conformance"):  # before a folder is created
        import onnx  # noqa: F401

    from padops.conformance import cases, record, render, runner
    from padops.conformance.divergences import EXAMPLES, KNOWN
    from padops.conformance.render.summary import summarise

    try:
        peers = _peers(options)
    except ValueError as error:
        return fail(error, USAGE)
    folder, ending = Path(options.out) if options.out else None, None
    try:
        if folder is not None and (why := render.prepare(folder)):
            return fail(why)
        options.left_behind = " before a case was run; no report has been written"
        chosen = cases.collect(options.level, options.seed, EXAMPLES.values())
        try:
            with showing_progress() as progress:
                ran = runner.run_cases(chosen, peers, KNOWN, options.level, progress)
        except runner.CutShort as cut:
            ran, ending = cut.ran, cut.ending
        required = peers if options.peer or options.peer_command or options.require_peers else []
        report = record.Record(
            record.header(options.level, options.seed, ran),
            [result for one in ran for result in one.results],
            record.footer(ran, [peer.name for peer in required], ending is not None, options.strict_peers),
        )
        if folder is not None:
            options.left_behind = f" while the report was written: not all of its files in {folder} are new"
            record.write(folder / record.FILE, report)
            render.write_all(report, folder)
    except OSError as error:
        return fail(error)
    show(summarise(report))
    absent = [one.peer.name for one in ran if one.handshake is None and (one.peer in required or one.peer.required)]
    if ending is None:
        if absent:
            fail(f"absent, and required: {', '.join(absent)}")
        return int(report.footer["exit"])
    kept = f"{folder} has the results until then, marked as cut short" if folder else "nothing has been written"
    say(f"interrupted: {report.footer['results']:,} results; {kept}", stderr=True)
    return exit_code(ending)


def _peers(options: argparse.Namespace) -> list[Peer]:
    from padops.conformance import runner
    from padops.conformance.peers import PEERS

    for option in ("without", "require_peers"):
        if getattr(options, option) and (options.peer or options.peer_command):
            raise ValueError(f"--{option.replace('_', '-')} needs all peers: omit --peer and --peer-command")
    if unknown := [name for name in options.without if name not in PEERS]:
        raise ValueError(f"there is no peer {unknown[0]!r} to leave out; there are {', '.join(PEERS)}")
    named = options.peer or ([] if options.peer_command else [name for name in PEERS if name not in options.without])
    peers = [*chain.from_iterable(map(runner.parse_peers, named)), *map(runner.parse_command, options.peer_command)]
    names = [peer.name for peer in peers]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two peers are called {twice[0]!r}")
    return peers


SHOWN = 20  # the most results of a kind to print; equal results of a peer count as one


@contextlib.contextmanager
def showing_progress() -> Iterator[Progress]:
    """Show the progress on a terminal; without a terminal, print a line for each finished peer."""
    with progress_line() as progress:

        def show(name: str, done: int, total: int) -> None:
            progress(name, done, total)
            if done == total and not sys.stderr.isatty():
                say(f"{name}: {plural(total, 'case', ',')}", stderr=True)

        yield show


def show(summary: Summary) -> None:
    """Print each peer's counts, the absent peers, and the problems; print equal results of a peer once."""
    from padops.conformance.record import counts_of

    for section in (*summary.peers(), *summary.problems()):
        say(f"{section.title}: {section.about}" if section.about else section.title)
        say(*table(section.rows))
        alike = {(result["peer"], result["outcome"], result["detail"]): result for result in reversed(section.results)}
        told = [*reversed(alike.values())][:SHOWN]
        for result in told:
            say(f"{result['peer']}: {result['case']}: {result['outcome']}: {result['detail']}")
        if more := len(section.results) - len(told):
            say(f"… and {more:,} more")
    say(counts_of(summary.footer))
