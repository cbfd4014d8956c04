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
_MOST_RANDOM, _MOST_THREADS = 10_000, 1024


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds them to the parser of ``padops bench``."""
    parser.add_argument("--quick", action="store_true", help="a few workloads, and less time for each")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="workloads with TEXT in their name")
    parser.add_argument(
        "--random",
        type=partial(count, most=_MOST_RANDOM),
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
    from padops.bench.workloads import QUICK, WORKLOADS, random_workloads

    if options.random:
        return random_workloads(options.random, options.seed or 0)
    return tuple(workload for workload in WORKLOADS if not options.quick or workload.name in QUICK)


def _names(options: argparse.Namespace) -> list[str]:
    """The names that ``--only`` chooses from."""
    from padops.bench.networks import NETWORKS, SMALL
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
    files = [path.resolve() for path in (options.json, options.plot, options.show, options.compare) if path is not None]
    if twice := [str(path) for path in files if files.count(path) > 1]:
        return f"--json, --plot, --show and --compare name one file twice: {twice[0]}"
    instead = any((options.model, options.provider, options.providers))
    measured = instead or any((options.only, options.threads, options.quick))
    contradictions = {
        "--compare compares workloads: it excludes --model, --provider, --providers and --markdown":
            options.compare and (instead or options.markdown),
        "--seed needs --random": options.seed is not None and not options.random,
        NO_PLOT: options.plot and (options.provider or options.providers),
        "--show excludes --only, --threads, --quick, --model, --provider and --providers: it measures nothing":
            options.show and measured,
        "--random excludes --model, --provider, --providers and --show": options.random and (instead or options.show),
        "--random excludes --quick: random workloads get as little time anyway": options.random and options.quick,
        "--provider excludes --providers: it measures padops' own provider alone":
            options.provider and options.providers,
        "--providers excludes --threads: providers choose how many threads they use":
            options.providers and options.threads,
        "--only chooses from the workloads, but --model measures none; with --provider or --providers, it measures "
        "both": options.model and options.only and not (options.provider or options.providers),
    }  # fmt: skip
    if found := next((text for text, holds in contradictions.items() if holds), None):
        return found
    if options.providers:
        from padops.runtime.placing import unknown_provider

        if why := unknown_provider(providers_of(options)):
            return why
    if options.show or options.model or chosen(options):
        return None
    quick = " of --quick" if options.quick and not options.provider else ""
    wanted = " or ".join(map(repr, options.only))
    return f"no workload{quick} has {wanted} in its name; there are {', '.join(_names(options))}"
