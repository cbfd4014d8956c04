"""``padops bench``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from padops.files.interrupts import exit_code
from padops.terminal import count, fail, make_console, names, say

if TYPE_CHECKING:
    from rich.console import Console

    from padops.bench.measuring import Work
    from padops.bench.runner import Measurement
    from padops.bench.workloads import Workload

QUICK_SECONDS, SECONDS = 0.5, 2.0  # for one workload
_NO_PLOT = "--plot draws workloads, not what --provider and --providers measure"
_NO_THREADS = "--providers excludes --threads: providers choose how many they use"
_ALONE = "--copies measures nothing else, and writes no file"
_NO_DRAWING = "--random excludes --model, --provider, --providers and --show"
_QUICK_ANYWAY = "--random excludes --quick: drawn workloads get as little time anyway"
_NO_SEED = "--seed needs --random"
_NOT_MEASURED = "--show excludes --only, --threads, --quick, --model, --provider and --providers: it measures nothing"
_MOST_DRAWN, _MOST_THREADS = 10_000, 1024
_NO_WORKLOADS = (
    "--only chooses from the workloads, and --model measures none; with --provider or --providers it measures both"
)


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``padops bench`` to its parser."""
    parser.add_argument("--quick", action="store_true", help="a few workloads, and less time for each")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="workloads with TEXT in their name")
    parser.add_argument("--random", type=partial(count, most=_MOST_DRAWN), metavar="N", help="instead: N workloads that "
                        "are drawn from --seed")  # fmt: skip
    parser.add_argument("--seed", type=int, metavar="S", help="of --random (default: 0)")
    parser.add_argument(
        "--copies", action="store_true", help="instead: the copies that padops chooses from, on plain rows"
    )
    parser.add_argument(
        "--model", type=Path, action="append", metavar="FILE", help="instead: a model, as is and converted"
    )
    parser.add_argument("--provider", action="store_true", help="instead: the execution provider on unmodified models, "
                        "--model's as well")  # fmt: skip
    parser.add_argument("--providers", type=names, metavar="A,B", help="instead: networks, and --model's, on these "
                        "execution providers, with padops beside them and lowered for them")  # fmt: skip
    parser.add_argument(
        "--threads", type=partial(count, most=_MOST_THREADS), action="append", metavar="N", help="default: 1, then all"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement")
    parser.add_argument("--show", type=Path, metavar="FILE", help="measure nothing: show what --json has written")
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the speed against the built-in Pad")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    from padops.bench.machine import describe_machine
    from padops.bench.measuring import MeasuringError
    from padops.bench.results import mark_cut_short
    from padops.files.targets import refusal

    unplotted = options.plot and (options.provider or options.providers)
    why = refusal([options.json, options.plot]) or (_NO_PLOT if unplotted else None)
    if why:  # before minutes of measuring
        return fail(why)
    if why := _no_choice(options):
        return fail(why, 2)
    console = make_console(width=1000)  # grep finds whole names: a table is as wide as its cells
    if options.copies:
        return _show_copies(console)
    results: list[Measurement] = []
    ending = None
    try:
        if options.show:
            machine, results = _read(options)
        else:
            machine = describe_machine()
            if options.providers:
                machine["providers"] = " ".join(_providers(options))
            asked, ending = _measure(options, results.extend)
            if ending is not None and not results:
                print("interrupted before anything was measured; no file has been written", file=sys.stderr)
                return exit_code(ending)
            if ending is not None:
                mark_cut_short(machine, results, asked)
    except (OSError, ValueError, MeasuringError) as error:
        return fail(error)
    try:
        _write(options, console, machine, results)
    except OSError as error:
        return fail(f"cannot write {error.filename}: {error.strerror}")
    return 0 if ending is None else _say_interrupted(options, ending)


def _read(options: argparse.Namespace) -> tuple[dict[str, str], list[Measurement]]:
    """What ``--show`` names.

    Raises:
        OSError: It cannot be read.
        ValueError: ``--json`` has not written it, or it cannot be drawn.
    """
    from padops.bench import tables
    from padops.bench.results import CUT_SHORT, read_results, tables_of

    machine, results = read_results(options.show)
    if options.plot and tables_of(results) is not tables:
        raise ValueError(_NO_PLOT)
    if options.plot and CUT_SHORT in machine:
        raise ValueError(f"{options.show} was cut short {machine[CUT_SHORT]}: --plot draws whole measurements")
    return machine, results


def _say_interrupted(options: argparse.Namespace, ending: KeyboardInterrupt | SystemExit) -> int:
    """What has become of the measurements; the exit code."""
    kept = f"{options.json} has what was measured, marked as cut short" if options.json else "no file has been written"
    missing = f"; {options.plot} has not been drawn" if options.plot else ""
    say(f"interrupted: {kept}{missing}", stderr=True)
    return exit_code(ending)


def _show_copies(console: Console) -> int:
    from rich.console import Console

    from padops.bench.copied_rows import print_copies, time_copies
    from padops.bench.machine import describe_machine

    try:
        with Console(stderr=True).status("") as status:
            results = time_copies(status.update)
    except (OSError, ValueError) as error:
        return fail(error)
    console.print(f"processor {describe_machine()['processor']}", highlight=False)
    print_copies(console, results)
    return 0


def _workloads(options: argparse.Namespace) -> tuple[Workload, ...]:
    """What there is to measure: the workloads of the benchmark, or those that are drawn."""
    from padops.bench.drawn import draw_workloads
    from padops.bench.workloads import QUICK, WORKLOADS

    if options.random:
        return draw_workloads(options.random, options.seed or 0)
    return tuple(workload for workload in WORKLOADS if not options.quick or workload.name in QUICK)


def _names(options: argparse.Namespace) -> list[str]:
    """What ``--only`` chooses from."""
    from padops.bench.padded_networks import NETWORKS, SMALL
    from padops.bench.provider import MEASURED

    if options.provider:
        return list(MEASURED)
    if options.providers:
        return list(SMALL if options.quick else NETWORKS)
    return [workload.name for workload in _workloads(options)]


def _providers(options: argparse.Namespace) -> tuple[str, ...]:
    """What ``--providers`` names."""
    from padops.runtime.provider_rules import full_names

    return tuple(full_names(options.providers))


def _chosen(options: argparse.Namespace) -> list[str]:
    """What is measured of it."""
    return [name for name in _names(options) if not options.only or any(text in name for text in options.only)]


def _no_choice(options: argparse.Namespace) -> str | None:
    """Why the options contradict each other, or leave nothing to measure; None where they do not."""
    replaced = (options.model, options.provider, options.providers, options.show)
    files = [path.resolve() for path in (options.json, options.plot, options.show) if path is not None]
    if twice := [str(path) for path in files if files.count(path) > 1]:
        return f"--json, --plot and --show name one file twice: {twice[0]}"
    others = (
        options.random,
        options.json,
        options.plot,
        options.only,
        options.markdown,
        options.threads,
        options.quick,
    )
    if options.copies and any((*replaced, *others)):
        return _ALONE
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
    if _chosen(options):
        return None
    quick = " of --quick" if options.quick and not options.provider else ""
    wanted = " or ".join(map(repr, options.only))
    return f"no workload{quick} has {wanted} in its name; there are {', '.join(_names(options))}"


def _measure(
    options: argparse.Namespace, keep: Callable[[list[Measurement]], None]
) -> tuple[int, KeyboardInterrupt | SystemExit | None]:
    """Measures with each number of threads.

    Args:
        options: What to measure.
        keep: Called with the measurements of each workload.

    Returns:
        How many workloads there are to measure, counted once for each number of threads; and the signal that ended that
        before its time, or None.
    """
    from rich.console import Console

    from padops.bench.machine import count_threads
    from padops.bench.measuring import measure

    fewest = count_threads() if options.providers else 1
    work, counts = _work(options), options.threads or sorted({fewest, count_threads()})
    try:
        with Console(stderr=True).status("") as status:
            for threads in counts:
                measure(work, threads, keep, lambda name: status.update(f"{name}, {threads} threads"))  # noqa: B023
    except (KeyboardInterrupt, SystemExit) as ending:
        return len(work) * len(counts), ending
    return len(work) * len(counts), None


def _work(options: argparse.Namespace) -> Work:
    """What is to be measured."""
    from padops.bench.measuring import PROVIDER_SHARE, Work

    seconds = QUICK_SECONDS if options.quick or options.random else SECONDS
    models = tuple(options.model or ())
    if options.provider:
        return Work(provided=tuple(_chosen(options)), provided_models=models, seconds=PROVIDER_SHARE * seconds)
    if options.providers:
        seconds *= PROVIDER_SHARE
        return Work(
            providers=_providers(options), networks=tuple(_chosen(options)), network_models=models, seconds=seconds
        )
    if models:
        return Work(models=models, seconds=seconds)
    if options.random:
        return Work(drawn=_workloads(options), seconds=seconds)
    return Work(workloads=tuple(_chosen(options)), seconds=seconds)


def _write(
    options: argparse.Namespace, console: Console, machine: dict[str, str], results: Sequence[Measurement]
) -> None:
    from padops.bench import tables
    from padops.bench.plot import svg
    from padops.bench.results import CUT_SHORT, as_json, tables_of

    shown = tables_of(results)
    if options.markdown:
        print(shown.markdown(results, machine), end="")
    else:
        console.print(", ".join(f"{key} {value}" for key, value in machine.items()), highlight=False)
        for threads, measured in tables.by_threads(results).items():
            shown.print_table(console, measured, threads)
            if options.random:
                tables.print_least(console, measured, threads)
    if options.json:
        _write_file(options.json, as_json(machine, results))
    if options.plot and CUT_SHORT not in machine:
        _write_file(options.plot, svg(results, machine))


def _write_file(path: Path, text: str) -> None:
    """Raises an OSError that names this file, not a temporary one beside it."""
    from padops.files.staging import write_whole

    try:
        write_whole(path, [text])
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
