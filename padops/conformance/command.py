"""``padops conformance``: runs the suite, writes the report, and prints the progress and each peer's results."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.exits import USAGE
from padops.extras import Needing
from padops.files.interrupts import exit_code
from padops.plural import plural
from padops.progress import progress_line
from padops.terminal import fail, say, table

if TYPE_CHECKING:
    from padops.conformance.peers import Peer
    from padops.conformance.record import PeerRun
    from padops.conformance.runner import Progress

ABOUT = (
    "Run padops and every other Pad on this machine on the same cases and compare them with the rules, bit by bit. "
    "Exit codes: 0 everything is as expected, 1 something is not, 2 usage."
)


def add_conformance(subparsers: Any) -> None:
    """Add ``padops conformance``."""
    parser = subparsers.add_parser("conformance", help="compare padops with every other Pad", description=ABOUT)
    add_arguments(parser)
    _when_used(parser, _add_subcommands)


def _when_used(parser: argparse.ArgumentParser, fill: Callable[[argparse.ArgumentParser], None]) -> None:
    """Delay ``fill`` until the parser parses: its imports would make ``padops --help`` slow."""
    parse = parser.parse_known_args

    def parse_known_args(args: Any = None, namespace: Any = None) -> Any:
        parser.parse_known_args = parse  # type: ignore[method-assign]  # as below
        fill(parser)
        found = parse(args, namespace)
        if found[0].run is not run_suite and args[0].startswith("-"):
            parser.error(f"{args[0]} is an option of a run; a command and its own options come first")
        return found

    parser.parse_known_args = parse_known_args  # type: ignore[method-assign]  # argparse has no hook for it


def _add_subcommands(parser: argparse.ArgumentParser) -> None:
    from padops.conformance.render import add_show
    from padops.conformance.repro import add_repro

    commands = parser.add_subparsers(title="commands for reports and cases", metavar="COMMAND")
    for add in (add_show, add_repro):
        add(commands)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run."""
    level = parser.add_mutually_exclusive_group()
    level.add_argument("--quick", dest="level", action="store_const", const="quick", help="in under two minutes")
    level.add_argument("--exhaustive", dest="level", action="store_const", const="exhaustive", help="in hours")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME[@PYTHON]",
        help="run only this one (may be repeated); in another interpreter; or PATH.py:function, a peer of your own, or "
        "PATH.py, all peers of a file (docs/conformance.md)",
    )  # fmt: skip
    parser.add_argument(
        "--peer-command", action="append", default=[], metavar="COMMAND",
        help='run only this one: a program in any language, such as "node peer.mjs" (docs/conformance.md)',
    )  # fmt: skip
    parser.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="run all peers but this one (may be repeated)"
    )
    parser.add_argument("--require-peers", action="store_true", help="an absent peer is a failure, as one of --peer is")
    parser.add_argument(
        "--strict-peers", action="store_true",
        help="new behaviour of a peer, in a version that the known divergences were not recorded with, is a failure",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="write the report into this folder")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="choose the cases by this seed (default: 0)")
    parser.set_defaults(run=run_suite, level="default")


def run_suite(options: argparse.Namespace) -> int:
    """Run the suite with these options.

    Raises:
        KeyboardInterrupt, SystemExit: A signal came while the report was written.
    """
    with Needing("padops conformance"):  # before a folder is made
        import onnx  # noqa: F401

    from padops.conformance import record, render

    try:
        peers = _peers(options)
    except ValueError as error:
        return fail(error, USAGE)
    folder = Path(options.out) if options.out else None
    try:
        if folder is not None and (why := render.prepare(folder)):
            return fail(why)
        ran, ending = _run(options, peers)
        if ending is not None and not any(one.results for one in ran):
            print("interrupted before a case was run; no report has been written", file=sys.stderr)
            return exit_code(ending)
        header = record.header(options.level, options.seed, ran)
        required = peers if options.peer or options.peer_command or options.require_peers else []
        footer = record.footer(ran, [peer.name for peer in required], ending is not None, options.strict_peers)
        if folder is not None:
            try:
                render.write_report(folder, header, [result for one in ran for result in one.results], footer)
            except (KeyboardInterrupt, SystemExit):
                say(f"interrupted while the report was written: not all of its files in {folder} are new", stderr=True)
                raise
    except OSError as error:
        return fail(error)
    show(ran, footer)
    if ending is not None:
        kept = f"{folder} has the results until then, marked as cut short" if folder else "nothing has been written"
        say(f"interrupted: {footer['results']:,} results; {kept}", stderr=True)
        return exit_code(ending)
    return int(footer["exit"])


def _run(options: argparse.Namespace, peers: list[Peer]) -> tuple[list[PeerRun], KeyboardInterrupt | SystemExit | None]:
    """Return the peers' results, and the signal that interrupted the run, or None."""
    from padops.conformance import cases, runner
    from padops.conformance.divergences import EXAMPLES, KNOWN

    try:
        chosen = cases.collect(options.level, options.seed, EXAMPLES.values())
        with showing_progress() as progress:
            return runner.run_cases(chosen, peers, KNOWN, options.level, progress), None
    except runner.CutShort as cut:
        if options.out:  # which takes seconds at the end of a long run
            print("interrupted: every peer has ended, and what was measured is being written", file=sys.stderr)
        return cut.ran, cut.ending
    except (KeyboardInterrupt, SystemExit) as ending:
        return [], ending


def _peers(options: argparse.Namespace) -> list[Peer]:
    """Return the chosen peers, or all."""
    from padops.conformance import runner
    from padops.conformance.peers import PEERS

    for option in ("without", "require_peers"):
        if getattr(options, option) and (options.peer or options.peer_command):
            raise ValueError(f"--{option.replace('_', '-')} is for a run of all peers, not of those that are named")
    if unknown := [name for name in options.without if name not in PEERS]:
        raise ValueError(f"there is no peer {unknown[0]!r} to leave out; there are {', '.join(PEERS)}")
    named = options.peer or ([] if options.peer_command else [name for name in PEERS if name not in options.without])
    peers = [*chain.from_iterable(map(runner.parse_peers, named)), *map(runner.parse_command, options.peer_command)]
    names = [peer.name for peer in peers]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two peers are called {twice[0]!r}")
    return peers


SHOWN = 20  # the most unexpected results to print; results of one peer with one text count as one


@contextlib.contextmanager
def showing_progress() -> Iterator[Progress]:
    """Show the progress on a terminal, else print a line for each finished peer."""
    with progress_line() as progress:

        def show(name: str, done: int, total: int) -> None:
            progress(name, done, total)
            if done == total and not sys.stderr.isatty():
                say(f"{name}: {plural(total, 'case', ',')}", stderr=True)

        yield show


def show(ran: Sequence[PeerRun], footer: dict[str, Any]) -> None:
    """Print counts per peer, the absent peers and the unexpected results."""
    from padops.conformance.record import counts_of

    say(*_table([one for one in ran if one.handshake is not None]))
    made_of = [one.handshake["versions"] for one in ran if one.handshake is not None]
    each = dict.fromkeys(f"{name} {version}" for versions in made_of for name, version in versions.items())
    if each:  # the packages of the peers, each once
        say(f"with {', '.join(each)}")
    for one in ran:
        if one.handshake is None:
            say(f"absent: {one.peer.name}: {' '.join(str(one.absent).split())}")
    _show_results([result for one in ran for result in one.results if result["unexpected"]])
    for one in ran:
        for id in footer["stale"]:
            if id in one.stale:
                say(f"{one.peer.name}: divergence {id} no longer occurs")
    for one in ran:
        if one.recorded:
            _show_new(one)
    say(counts_of(footer))


def _show_results(found: Sequence[dict[str, Any]], indent: str = "") -> None:
    """Print the first results, indented or with their peers; print equal results once, with their number."""
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for result in found:
        alike.setdefault((result["peer"], result["outcome"], result["detail"]), []).append(result)
    told = list(alike.values())[:SHOWN]
    for first, *others in told:
        where = first["case"] if indent else f"{first['peer']}: {first['case']}"
        count = f" (and in {plural(len(others), 'other case', ',')})" if others else ""
        say(f"{indent}{where}: {first['outcome']}: {first['detail']}{count}")
    if more := len(found) - sum(map(len, told)):
        say(f"{indent}… and {more:,} more")


def _show_new(one: PeerRun) -> None:
    """Print the new behaviour of a peer whose version has no recorded divergences."""
    found = [result for result in one.results if result["new"]]
    versions = (one.handshake or {"versions": {}})["versions"]
    package, version = next(iter(versions.items()), (one.peer.name, ""))
    counts = f"{len(found)} new, {len(one.gone)} known no longer seen"
    what = f"{package} {version} is not among the versions recorded ({one.recorded})"
    say(f"new behaviour: {one.peer.name}: {what}: {counts}; no failure of padops")
    _show_results(found, "  ")
    say(*(f"  divergence {id} no longer occurs" for id in one.gone))


def _table(ran: Sequence[PeerRun]) -> list[str]:
    """Return the lines of a table with a row for each present peer."""
    from padops.conformance.record import IDLE, WRONG

    rows = [["peer", "cases", "agree", "wrong", "crash", "known", "unexpected", "not run", "s"]]
    for one in ran:
        counts = Counter(result["outcome"] for result in one.results)
        known = sum(result["divergence"] is not None for result in one.results)
        unexpected = sum(result["unexpected"] for result in one.results)
        wrong = sum(counts[outcome] for outcome in WRONG) - counts["crash"]
        before = [len(one.results), counts["agree"], wrong, counts["crash"], known]
        behind = [unexpected, sum(counts[outcome] for outcome in IDLE), round(one.seconds)]
        rows.append([one.peer.name, *map(str, [*before, *behind])])
    return table(rows)
