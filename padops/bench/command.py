"""The command ``padops bench``."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from padops.exits import USAGE
from padops.files.interrupts import exit_code
from padops.files.staging import refusal, write_whole
from padops.plural import plural
from padops.terminal import count, fail, progress_line, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from padops.bench.table import Measurement
    from padops.bench.timing import Step
    from padops.bench.workloads import Workload

QUICK_SECONDS, SECONDS = 0.5, 2.0  # for one workload


def add_bench(commands: Any) -> None:
    parser = commands.add_parser("bench", help="measure padops against other Pad implementations on this machine")
    add = parser.add_argument
    add("--quick", action="store_true", help="a few workloads, and less time for each")
    add("--only", action="append", default=[], metavar="TEXT", help="workloads with TEXT in their name")
    add("--random", type=partial(count, most=10_000), metavar="N", help="time N random workloads instead")
    add("--seed", type=int, metavar="S", help="the seed of --random (default: 0)")
    add("--model", type=Path, action="append", metavar="FILE", help="time a model instead, as it is and converted")
    threads = partial(count, most=1024)
    add("--threads", type=threads, action="append", metavar="N", help="run with N threads (default: 1, then all)")
    add("--json", type=Path, metavar="FILE", help="write every measurement")
    add("--markdown", action="store_true", help="print the table in Markdown")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    from padops.bench.table import CUT_SHORT, as_json, describe_machine, lines, markdown
    from padops.bench.workloads import QUICK, WORKLOADS, random_workloads

    contradictions = {
        "--seed needs --random": options.seed is not None and not options.random,
        "--random excludes --model": options.random and options.model,
        "--random excludes --quick: --random measures as briefly as --quick": options.random and options.quick,
        "--only chooses from the workloads, but --model measures none": options.model and options.only,
    }
    if why := next((text for text, holds in contradictions.items() if holds), None):
        return fail(why, USAGE)
    workloads: Sequence[Workload] = ()
    if options.random:
        workloads = random_workloads(options.random, options.seed or 0)
    elif not options.model:
        workloads = [workload for workload in WORKLOADS if not options.quick or workload.name in QUICK]
    chosen = [row for row in workloads if any(text in row.name for text in options.only or [""])]
    if not chosen and not options.model:
        quick, wanted = " of --quick" if options.quick else "", " or ".join(map(repr, options.only))
        names = ", ".join(workload.name for workload in workloads)
        return fail(f"no workload{quick} has {wanted} in its name; there are {names}", USAGE)
    if why := refusal([options.json]):  # before minutes of measuring
        return fail(why)
    results: list[Measurement] = []
    machine, ending, kept = describe_machine(), None, "no file has been written"
    try:
        _measure(options, chosen, results)
    except (OSError, ValueError, RuntimeError) as error:
        return fail(error)
    except (KeyboardInterrupt, SystemExit) as signal:
        options.left_behind = " before anything was measured; no file has been written"
        if not results:
            raise
        ending = signal
        machine[CUT_SHORT] = f"after {plural(len({(row.workload, row.threads) for row in results}), 'workload')}"
    if options.markdown:
        print(markdown(results, machine), end="")
    else:
        say(*lines(results, machine))
    if options.json:
        try:
            write_whole(options.json, [as_json(machine, results)])
        except OSError as error:
            return fail(f"cannot write {options.json}: {error.strerror}")  # names this file, not the temporary file
        kept = f"{options.json} has the results until then, marked as cut short"
    if ending is None:
        return 0
    say(f"interrupted: {kept}", stderr=True)
    return exit_code(ending)


def _measure(options: argparse.Namespace, chosen: list[Workload], results: list[Measurement]) -> None:
    """Measures all models and workloads with each number of threads; ``results`` receives the measurements."""
    from padops.bench.table import count_threads
    from padops.bench.timing import IMPLEMENTATIONS, measure, time_model, time_workload
    from padops.bench.workloads import COMPARED

    compared = COMPARED if options.random else tuple(IMPLEMENTATIONS)
    seconds = QUICK_SECONDS if options.quick or options.random else SECONDS
    with TemporaryDirectory() as folder, progress_line() as progress:
        steps: list[tuple[str, Step]] = [(str(path), partial(time_model, path, folder)) for path in options.model or ()]
        steps += [(workload.name, partial(time_workload, workload, compared)) for workload in chosen]
        for threads in options.threads or sorted({1, count_threads()}):
            measure(steps, threads, seconds, results.extend, progress)
