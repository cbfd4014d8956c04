"""The file that ``--json`` writes and ``--show`` reads: the machine, and all measurements."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from padops.bench.runner import Measurement, Placed
from padops.bench.session_tables import FAILURES, form_of
from padops.bench.tables import by_threads, by_workload
from padops.extras import RUNTIMES, version_of
from padops.plural import plural
from padops.runtime.installed import processor

SCHEMA = 1  # raised when a reader of an older file would misread a newer one
_LEAST, _MOST = 1e-12, 1e9  # seconds
_PACKAGES = ("padops", *RUNTIMES, "numpy", "torch", "openvino", "tensorflow", "tensorflow-cpu")
CUT_SHORT = "cut short"  # a fact that every table and the file show beside the machine's


def mark_cut_short(machine: dict[str, str], results: Sequence[Measurement], asked: int) -> None:
    """Adds to the facts that a signal has ended the measuring.

    ``asked``: the number of workloads to measure, each counted once per number of threads.
    """
    done = len({(result.workload, result.threads) for result in results})
    machine[CUT_SHORT] = f"after {done} of {plural(asked, 'workload')}"


def as_json(machine: Mapping[str, str], results: Sequence[Measurement]) -> str:
    """The content of the file."""
    rows = [vars(result) for result in results]
    return json.dumps({"schema": SCHEMA, "machine": machine, "measurements": rows}, indent=1) + "\n"


def read_results(path: Path) -> tuple[dict[str, str], list[Measurement]]:
    """The machine and the measurements of a file.

    Raises:
        OSError: It cannot be read.
        ValueError: ``--json`` has not written it: the tables could not show it.
    """
    try:
        shown = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(shown, dict) and "schema" in shown and shown["schema"] != SCHEMA:
            raise ValueError(f"its schema is {shown['schema']!r}, expected {SCHEMA}")
        if not isinstance(shown, dict) or shown.keys() != {"schema", "machine", "measurements"}:
            raise ValueError("it has not the three entries schema, machine and measurements")
        machine, rows = shown["machine"], shown["measurements"]
        if not isinstance(machine, dict) or not all(isinstance(fact, str) for fact in machine.values()):
            raise ValueError("machine does not name facts")
        if not isinstance(rows, list) or not rows:
            raise ValueError("measurements is not a list with measurements")
        results = [_measurement(i, row) for i, row in enumerate(rows)]
        _check_together(results, whole=CUT_SHORT not in machine)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not what --json wrote: {error}") from error
    return machine, results


def _measurement(place: int, row: Any) -> Measurement:
    """One row, with a value of its type in every field."""
    kind = Placed if isinstance(row, dict) and "failure" in row else Measurement
    types = get_type_hints(kind)
    if not isinstance(row, dict) or row.keys() != types.keys():
        raise ValueError(f"measurement {place} has not the fields {', '.join(types)}")
    for name, wanted in types.items():
        if type(row[name]) not in ({float, int} if wanted is float else {wanted}):
            raise ValueError(f"measurement {place}: {name} is {row[name]!r}, not of type {wanted.__name__}")
    result: Measurement = kind(**row)
    failure = result.failure if isinstance(result, Placed) else ""
    is_time = result.median == 0 if failure else _LEAST < result.median < _MOST
    if not (result.threads >= 1 and is_time and 0 <= result.spread < _MOST):
        raise ValueError(f"measurement {place} has threads, a median or a spread that nobody measures")
    if not all(name.isprintable() and "|" not in name for name in (result.workload, result.implementation)):
        raise ValueError(f"measurement {place} has a name that no table can show")
    if failure and not (failure.isprintable() and failure.startswith(FAILURES)):
        raise ValueError(f"measurement {place} has a failure that no table can show")
    return result


def _check_together(results: Sequence[Measurement], whole: bool) -> None:
    """Checks that all numbers of threads have the same workloads (unless cut short), each with its baseline."""
    if len({type(result) for result in results}) > 1:
        raise ValueError("some measurements are of --providers, and some are not")
    form = form_of(results)
    baseline = form.baseline if form else "padops"
    tables = {threads: by_workload(measured) for threads, measured in by_threads(results).items()}
    first, *others = tables
    for threads in others if whole else ():
        if unlike := tables[first].keys() ^ tables[threads].keys():
            raise ValueError(f"{min(unlike)!r} has not been measured with {first} and with {plural(threads, 'thread')}")
    if sum(len(row) for table in tables.values() for row in table.values()) < len(results):
        raise ValueError("an implementation has been measured twice with one workload and one number of threads")
    for threads, table in tables.items():
        for workload, row in table.items():
            if baseline not in row or row[baseline].samples == 0:
                raise ValueError(f"{workload!r} with {plural(threads, 'thread')} has no measurement of {baseline}")


def describe_machine() -> dict[str, str]:
    """The CPU, its threads, and the versions of all installed implementations."""
    facts = {"processor": processor(), "threads": str(count_threads()), "python": platform.python_version()}
    for package in _PACKAGES:
        if (found := version_of(package)) is not None:
            facts[package] = found
    return facts


def count_threads() -> int:
    """The number of threads that this process may run at once."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1
