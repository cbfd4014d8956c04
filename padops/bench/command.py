"""``padops bench``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from padops.bench.runner import Measurement


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``padops bench`` to its parser."""
    parser.add_argument("--quick", action="store_true", help="a few workloads, and less time for each")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="workloads with TEXT in their name")
    parser.add_argument("--threads", type=int, action="append", metavar="N", help="default: 1, then all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the speed against the built-in Pad")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    from rich.console import Console

    from padops.bench.machine import describe_machine
    from padops.bench.runner import run
    from padops.bench.tables import print_table
    from padops.bench.workloads import QUICK, WORKLOADS

    console = Console() if sys.stdout.isatty() else Console(width=160)
    chosen = [
        workload
        for workload in WORKLOADS
        if (not options.quick or workload.name in QUICK)
        and (not options.only or any(text in workload.name for text in options.only))
    ]
    if not chosen:
        console.print("no workload has that in its name: " + ", ".join(workload.name for workload in WORKLOADS))
        return 2
    machine = describe_machine()
    console.print(", ".join(f"{key} {value}" for key, value in machine.items()), highlight=False)
    results: list[Measurement] = []
    for threads in options.threads or sorted({1, len(os.sched_getaffinity(0))}):
        with console.status("") as status:
            measured = run(
                chosen,
                threads,
                seconds=0.5 if options.quick else 2.0,
                progress=lambda name, threads=threads, status=status: status.update(f"{name}, {threads} threads"),
            )
        print_table(console, measured, threads)
        results += measured
    if options.json:
        rows = [result.row() for result in results]
        options.json.write_text(json.dumps({"machine": machine, "measurements": rows}, indent=1) + "\n")
    if options.plot:
        from padops.bench.plot import svg

        options.plot.write_text(svg(results, machine))
    return 0
