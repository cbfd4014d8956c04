"""``padops bench``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from padops.bench.options import NO_PLOT, add_options, chosen, no_choice, providers_of, workloads_of
from padops.exits import USAGE
from padops.files.interrupts import exit_code
from padops.plural import plural
from padops.terminal import fail, make_console, say

if TYPE_CHECKING:
    from rich.console import Console

    from padops.bench.measuring import Step
    from padops.bench.runner import Measurement

QUICK_SECONDS, SECONDS = 0.5, 2.0  # for one workload
PROVIDER_SHARE = 4  # times as many seconds for a provider, whose differences are hundredths


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``padops bench`` to its parser."""
    add_options(parser)
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    from padops.bench.comparison import compare, differing, print_comparison, read_earlier
    from padops.bench.measuring import MeasuringError
    from padops.bench.results import describe_machine, mark_cut_short
    from padops.files.targets import refusal

    if why := no_choice(options):
        return fail(why, USAGE)
    if why := refusal([options.json, options.plot]):  # before minutes of measuring
        return fail(why)
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
    from padops.bench.results import CUT_SHORT, read_results
    from padops.bench.session_tables import form_of

    machine, results = read_results(options.show)
    if options.plot and form_of(results):
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

    Returns the number of workloads to measure, each counted once per number of threads; and the signal that interrupted
    the measuring, or None.
    """
    from rich.console import Console

    from padops.bench.measuring import measure
    from padops.bench.results import count_threads

    fewest = count_threads() if options.providers else 1
    steps, counts = _steps(options), options.threads or sorted({fewest, count_threads()})
    seconds = QUICK_SECONDS if options.quick or options.random else SECONDS
    seconds *= PROVIDER_SHARE if options.provider or options.providers else 1
    try:
        with Console(stderr=True).status("") as status:
            for threads in counts:
                show = lambda name: status.update(f"{name}, {plural(threads, 'thread')}")  # noqa: B023
                measure(steps, threads, seconds, keep, show)
    except (KeyboardInterrupt, SystemExit) as ending:
        return len(steps) * len(counts), ending
    return len(steps) * len(counts), None


def _steps(options: argparse.Namespace) -> list[tuple[str, Step]]:
    """The name of each measurement that the options ask for, and the function that measures it."""
    models = [(str(path), path) for path in options.model or ()]
    if options.provider:
        from padops.bench import provider

        steps: list[tuple[str, Step]] = [(name, partial(provider.measure_chosen, name)) for name in chosen(options)]
        return steps + [(name, partial(provider.measure_model, path)) for name, path in models]
    if options.providers:
        from padops.bench import beside

        names = providers_of(options)
        steps = [(name, partial(beside.measure_network, names, name)) for name in chosen(options)]
        return steps + [(name, partial(beside.measure_model, names, path)) for name, path in models]
    if models:
        from padops.bench.models import measure_model

        return [(name, partial(measure_model, path)) for name, path in models]
    from padops.bench.implementations import IMPLEMENTATIONS
    from padops.bench.runner import time_workload
    from padops.bench.workloads import COMPARED

    compared, asked = COMPARED if options.random else tuple(IMPLEMENTATIONS), chosen(options)
    return [
        (workload.name, partial(time_workload, workload, compared))
        for workload in workloads_of(options)
        if workload.name in asked
    ]


def _write(
    options: argparse.Namespace, console: Console, machine: dict[str, str], results: Sequence[Measurement]
) -> None:
    from padops.bench import tables
    from padops.bench.results import CUT_SHORT, as_json
    from padops.bench.session_tables import form_of

    shown = form_of(results) or tables
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
        _write_file(options.plot, tables.svg(results, machine))


def _write_file(path: Path, text: str) -> None:
    """Writes a file whole; its OSError names this file, not a temporary one beside it."""
    from padops.files.staging import write_whole

    try:
        write_whole(path, [text])
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
