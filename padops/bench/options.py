"""The options of ``padops bench``, what they choose, and which contradict each other."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from padops.terminal import count, names

if TYPE_CHECKING:
    from padops.bench.workloads import Workload

NO_PLOT = "--plot draws workloads, not what --provider and --providers measure"
_NO_THREADS = "--providers excludes --threads: providers choose how many threads they use"
_NO_DRAWING = "--random excludes --model, --provider, --providers and --show"
_NO_COMPARING = "--compare compares workloads: it excludes --model, --provider, --providers and --markdown"
_NO_SEED = "--seed needs --random"
_QUICK_ANYWAY = "--random excludes --quick: drawn workloads get as little time anyway"
_NOT_MEASURED = "--show excludes --only, --threads, --quick, --model, --provider and --providers: it measures nothing"
_MOST_DRAWN, _MOST_THREADS = 10_000, 1024
_NO_WORKLOADS = (
    "--only chooses from the workloads, but --model measures none; with --provider or --providers, it measures both"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds them to the parser of ``padops bench``."""
    parser.add_argument("--quick", action="store_true", help="a few workloads, and less time for each")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="workloads with TEXT in their name")
    parser.add_argument(
        "--random",
        type=partial(count, most=_MOST_DRAWN),
        metavar="N",
        help="instead: N workloads that are drawn from --seed",
    )
    parser.add_argument("--seed", type=int, metavar="S", help="of --random (default: 0)")
    parser.add_argument(
        "--model", type=Path, action="append", metavar="FILE", help="instead: a model, as is and converted"
    )
    parser.add_argument(
        "--provider",
        action="store_true",
        help="instead: the execution provider on unmodified models, --model's as well",
    )
    parser.add_argument(
        "--providers",
        type=names,
        metavar="A,B",
        help="instead: networks, and --model's, on these execution providers, with padops beside them and lowered for "
        "them",
    )
    parser.add_argument(
        "--threads", type=partial(count, most=_MOST_THREADS), action="append", metavar="N", help="default: 1, then all"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement")
    parser.add_argument("--show", type=Path, metavar="FILE", help="measure nothing: show what --json has written")
    parser.add_argument(
        "--compare", type=Path, metavar="FILE", help="also say what has changed since a --json of another release"
    )
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the speed against the built-in Pad")


def workloads_of(options: argparse.Namespace) -> tuple[Workload, ...]:
    """The workloads to measure: those of the benchmark, or random ones."""
    from padops.bench.drawn import draw_workloads
    from padops.bench.workloads import QUICK, WORKLOADS

    if options.random:
        return draw_workloads(options.random, options.seed or 0)
    return tuple(workload for workload in WORKLOADS if not options.quick or workload.name in QUICK)


def _names(options: argparse.Namespace) -> list[str]:
    """The names that ``--only`` chooses from."""
    from padops.bench.padded_networks import NETWORKS, SMALL
    from padops.bench.provider import MEASURED

    if options.provider:
        return list(MEASURED)
    if options.providers:
        return list(SMALL if options.quick else NETWORKS)
    return [workload.name for workload in workloads_of(options)]


def providers_of(options: argparse.Namespace) -> tuple[str, ...]:
    """The providers that ``--providers`` names."""
    from padops.runtime.provider_rules import full_names

    return tuple(full_names(options.providers))


def chosen(options: argparse.Namespace) -> list[str]:
    """The chosen names."""
    return [name for name in _names(options) if not options.only or any(text in name for text in options.only)]


def no_choice(options: argparse.Namespace) -> str | None:
    """Why the options contradict each other or leave nothing to measure; None if they are fine."""
    replaced = (options.model, options.provider, options.providers, options.show)
    files = [path.resolve() for path in (options.json, options.plot, options.show, options.compare) if path is not None]
    if twice := [str(path) for path in files if files.count(path) > 1]:
        return f"--json, --plot, --show and --compare name one file twice: {twice[0]}"
    if options.compare and any((options.model, options.provider, options.providers, options.markdown)):
        return _NO_COMPARING
    if options.seed is not None and not options.random:
        return _NO_SEED
    if options.show and any((options.only, options.threads, options.quick, options.model)):
        return _NOT_MEASURED
    if options.random and any(replaced):
        return _NO_DRAWING
    if options.random and options.quick:
        return _QUICK_ANYWAY
    if options.show:
        return _NOT_MEASURED if options.provider or options.providers else None
    if options.providers:
        if options.provider:
            return "--provider excludes --providers: it measures padops' own provider alone"
        if options.threads:
            return _NO_THREADS
    if options.model:
        return None if options.provider or options.providers or not options.only else _NO_WORKLOADS
    if chosen(options):
        return None
    quick = " of --quick" if options.quick and not options.provider else ""
    wanted = " or ".join(map(repr, options.only))
    return f"no workload{quick} has {wanted} in its name; there are {', '.join(_names(options))}"
