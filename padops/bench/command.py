"""``padops bench``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from padops.bench.options import NO_PLOT, add_options, chosen, no_choice, providers_of, workloads_of
from padops.exits import USAGE
from padops.files.interrupts import exit_code
from padops.terminal import fail, make_console, say

if TYPE_CHECKING:
    from rich.console import Console

    from padops.bench.measuring import Work
    from padops.bench.runner import Measurement

QUICK_SECONDS, SECONDS = 0.5, 2.0  # for one workload


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``padops bench`` to its parser."""
    add_options(parser)
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    from padops.bench.comparison import compare, differing, print_comparison, read_earlier
    from padops.bench.machine import describe_machine
    from padops.bench.measuring import MeasuringError
    from padops.bench.results import mark_cut_short
    from padops.files.targets import refusal

    unplotted = options.plot and (options.provider or options.providers)
    why = refusal([options.json, options.plot]) or (NO_PLOT if unplotted else None)
    if why:  # before minutes of measuring
        return fail(why)
    if why := no_choice(options):
        return fail(why, USAGE)
    console = make_console(width=1000)  # grep finds whole names: a table is as wide as its cells
    results: list[Measurement] = []
    ending = earlier = None
    try:
        if options.compare:
            earlier = read_earlier(options.compare)
        if options.show:
            machine, results = _read(options)
        else:
            machine = describe_machine()
            if options.providers:
                machine["providers"] = " ".join(providers_of(options))
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
        if earlier is not None:
            found = compare(results, earlier[1], options.show or "this run", options.compare)
            print_comparison(console, found, differing(machine, earlier[0]))
    except ValueError as error:
        return fail(error)
    except OSError as error:
        return fail(f"cannot write {error.filename}: {error.strerror}")
    return 0 if ending is None else _say_interrupted(options, ending)


def _read(options: argparse.Namespace) -> tuple[dict[str, str], list[Measurement]]:
    """The machine and the measurements of the file that ``--show`` names.

    Raises:
        OSError: The file cannot be read.
        ValueError: ``--json`` has not written the file, or ``--plot`` cannot draw it.
    """
    from padops.bench import tables
    from padops.bench.results import CUT_SHORT, read_results, tables_of

    machine, results = read_results(options.show)
    if options.plot and tables_of(results) is not tables:
        raise ValueError(NO_PLOT)
    if options.plot and CUT_SHORT in machine:
        raise ValueError(f"{options.show} was cut short {machine[CUT_SHORT]}: --plot draws whole measurements")
    return machine, results


def _say_interrupted(options: argparse.Namespace, ending: KeyboardInterrupt | SystemExit) -> int:
    """Says what became of the measurements; returns the exit code."""
    kept = f"{options.json} has what was measured, marked as cut short" if options.json else "no file has been written"
    missing = f"; {options.plot} has not been drawn" if options.plot else ""
    say(f"interrupted: {kept}{missing}", stderr=True)
    return exit_code(ending)


def _measure(
    options: argparse.Namespace, keep: Callable[[list[Measurement]], None]
) -> tuple[int, KeyboardInterrupt | SystemExit | None]:
    """Measures with each number of threads.

    Returns:
        The number of workloads to measure, each counted once per number of threads; and the signal that interrupted the
        measuring, or None.
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
    """The work that the options ask for."""
    from padops.bench.measuring import PROVIDER_SHARE, Work

    seconds = QUICK_SECONDS if options.quick or options.random else SECONDS
    models = tuple(options.model or ())
    if options.provider:
        return Work(provided=tuple(chosen(options)), provided_models=models, seconds=PROVIDER_SHARE * seconds)
    if options.providers:
        seconds *= PROVIDER_SHARE
        return Work(
            providers=providers_of(options), networks=tuple(chosen(options)), network_models=models, seconds=seconds
        )
    if models:
        return Work(models=models, seconds=seconds)
    if options.random:
        return Work(drawn=workloads_of(options), seconds=seconds)
    return Work(workloads=tuple(chosen(options)), seconds=seconds)


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
    """Writes a file whole; its OSError names this file, not a temporary one beside it."""
    from padops.files.staging import write_whole

    try:
        write_whole(path, [text])
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
