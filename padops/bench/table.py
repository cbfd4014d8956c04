"""Formats the measurements as the file of ``--json``, and as a table for the terminal or in Markdown."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from padops.extras import RUNTIMES, version_of
from padops.runtime.installed import processor
from padops.terminal import table

SCHEMA = 2  # rises when a program for older files would misread newer files
CUT_SHORT = "cut short"  # the key of a further fact in table and file: a signal ended the measuring
_PACKAGES = ("padops", *RUNTIMES, "numpy", "torch", "openvino")
SUMMARY: dict[str, Callable[[Sequence[float]], float]] = {
    "geometric mean": lambda values: math.exp(sum(map(math.log, values)) / len(values)),
    "least": min,
}


@dataclass(frozen=True)
class Measurement:
    """The times of one implementation on one workload; ``workload`` and ``implementation`` are names."""

    workload: str
    implementation: str
    threads: int  # the threads that the implementation could use
    output_bytes: int  # the bytes that one call writes
    median: float  # seconds of one call
    spread: float  # seconds between the quartiles
    samples: int  # the number of measured times


def describe_machine() -> dict[str, str]:
    """Returns the CPU, its threads, and the versions of all installed implementations."""
    facts = {"processor": processor(), "threads": str(count_threads()), "python": platform.python_version()}
    return facts | {name: version for name in _PACKAGES if (version := version_of(name)) is not None}


def count_threads() -> int:
    """Returns the number of threads that this process may run at once."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def as_json(machine: Mapping[str, str], results: Sequence[Measurement]) -> str:
    content = {"schema": SCHEMA, "machine": machine, "measurements": [vars(result) for result in results]}
    return json.dumps(content, indent=1) + "\n"


def fastest(row: Mapping[str, Measurement], implementation: str) -> Measurement | None:
    """Returns the fastest measurement with this name or prefix; the prefix ``copy`` covers all plain copies."""
    alike = [taken for name, taken in row.items() if name == implementation or name.startswith(implementation + " ")]
    return min(alike, key=lambda taken: taken.median, default=None)


def speed(row: Mapping[str, Measurement], implementation: str) -> float | None:
    """Returns padops' speed as a multiple of an implementation's speed; None if either was not measured."""
    other, own = fastest(row, implementation), row.get("padops")
    return None if other is None or own is None else other.median / own.median


def cells(results: Sequence[Measurement]) -> list[list[str]]:
    """Returns the titles, then a row for each workload, then a row for each entry of ``SUMMARY``.

    The columns are the output's size in MB, padops' median time and interquartile range in µs, and padops' speed as
    a multiple of each other implementation's speed. The column ``copy`` compares padops with the fastest plain copy. A
    cell has one value for each number of threads: ``1.20 / 2.10``.
    """
    by: dict[str, dict[int, dict[str, Measurement]]] = {}
    for taken in results:
        by.setdefault(taken.workload, {}).setdefault(taken.threads, {})[taken.implementation] = taken
    counts = list(dict.fromkeys(taken.threads for taken in results))
    names = dict.fromkeys(taken.implementation for taken in results)
    others = dict.fromkeys("copy" if name.startswith("copy ") else name for name in names if name != "padops")
    gains: dict[str, list[list[float | None]]] = {other: [] for other in others}
    told = []
    for workload, rows in by.items():
        own = [rows.get(count, {}).get("padops") for count in counts]
        for other, found in gains.items():
            found.append([speed(rows.get(count, {}), other) for count in counts])
        told.append([
            workload,
            _joined([taken.output_bytes / 1e6 if taken else None for taken in own]),
            _joined([taken.median * 1e6 if taken else None for taken in own], 1),
            _joined([taken.spread * 1e6 if taken else None for taken in own], 1),
            *(_joined(found[-1]) for found in gains.values()),
        ])  # fmt: skip
    for label, combine in SUMMARY.items():
        row = [label, "", "", ""]
        for found in gains.values():
            columns = ([gain for gain in column if gain is not None] for column in zip(*found))
            row.append(_joined([combine(column) if column else None for column in columns]))
        told.append(row)
    title = f"{' / '.join(map(str, counts))} thread{'' if counts == [1] else 's'}"
    return [[title, "output MB", "padops µs", "± µs", *others], *told]


def _joined(values: Sequence[float | None], digits: int = 2) -> str:
    """Returns a cell with the value for each number of threads, or one value if all are equal."""
    shown = ["" if value is None else f"{value:.{digits}f}" for value in values]
    return shown[0] if len(set(shown)) == 1 else " / ".join(value or "–" for value in shown)


def lines(results: Sequence[Measurement], machine: Mapping[str, str]) -> list[str]:
    return [_facts(machine), "padops' speed as a multiple of …", *table(cells(results))]


def markdown(results: Sequence[Measurement], machine: Mapping[str, str]) -> str:
    titles, *rows = cells(results)
    lines = ["| " + " | ".join(row) + " |" for row in (titles, *rows)]
    lines.insert(1, "|---" + "|--:" * (len(titles) - 1) + "|")
    return f"{_facts(machine)}.\n\n" + "\n".join(lines) + "\n"


def _facts(machine: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in machine.items())
