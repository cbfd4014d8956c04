"""Compares padops' speed with that of an earlier ``--json``: ratios of ratios, in which the machine cancels out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from padops.bench import tables
from padops.bench.results import read_results
from padops.bench.runner import Measurement
from padops.bench.session_tables import form_of
from padops.bench.tables import SUMMARY, by_threads, by_workload, fastest

if TYPE_CHECKING:
    from rich.console import Console

BASELINES = ("built-in", "copy")  # implementations that both measurements have timed beside padops, in any release


@dataclass(frozen=True)
class Change:
    """padops' speed on one workload, as a multiple of a baseline's, now and before."""

    ratio: float  # the multiple now, divided by the multiple before; below 1, padops has become slower
    noise: float  # the part of the ratio that the quartiles of the four times explain

    @property
    def is_slower(self) -> bool:
        """Whether padops has become slower by more than the noise."""
        return math.log(self.ratio) < -self.noise


@dataclass(frozen=True)
class Comparison:
    """Two measurements with one number of threads."""

    threads: int
    changes: Mapping[str, Mapping[str, Change]]  # by workload, then by baseline, if both measurements have them
    missing: tuple[str, ...]  # workloads that one measurement lacks, or without a baseline in both

    @property
    def slower(self) -> list[str]:
        """The workloads in which padops is slower against every baseline; else it is the baseline that changed."""
        return [name for name, row in self.changes.items() if all(change.is_slower for change in row.values())]


def read_earlier(path: Path) -> tuple[dict[str, str], list[Measurement]]:
    """The machine and the measurements that ``--compare`` names.

    Raises:
        OSError: The file cannot be read.
        ValueError: ``--json`` has not written the file, or it has no workloads.
    """
    machine, results = read_results(path)
    _check_kind(path, results)
    return machine, results


def _check_kind(source: object, results: Sequence[Measurement]) -> None:
    if form_of(results):
        raise ValueError(f"{source} has measurements of --provider or --providers, and --compare compares workloads")


def compare(
    now: Sequence[Measurement], before: Sequence[Measurement], name: object, earlier: object
) -> list[Comparison]:
    """The changes for each number of threads that both measurements have; ``name`` and ``earlier`` name them in errors.

    Raises:
        ValueError: ``now`` has no workloads, or there is nothing that both have measured.
    """
    _check_kind(name, now)
    old, new = by_threads(before), by_threads(now)
    made = [_compared(threads, new[threads], old[threads]) for threads in new if threads in old]
    if not any(found.changes for found in made):
        raise ValueError(
            f"{earlier} has no workload that was measured now with as many threads, beside {' or '.join(BASELINES)}"
        )
    return made


def _compared(threads: int, now: Sequence[Measurement], before: Sequence[Measurement]) -> Comparison:
    new, old = by_workload(now), by_workload(before)
    changes = {name: dict(_changes(new[name], old[name])) for name in new if name in old}
    compared = {name: row for name, row in changes.items() if row}
    return Comparison(threads, compared, tuple(name for name in {**new, **old} if name not in compared))


def _changes(now: Mapping[str, Measurement], before: Mapping[str, Measurement]) -> Iterator[tuple[str, Change]]:
    """The change against each baseline that both have."""
    for baseline in BASELINES:
        four = [fastest(row, which) for row in (now, before) for which in (baseline, "padops")]
        if None not in four:
            new, own, old, owned = (one for one in four if one is not None)
            noise = math.sqrt(sum((one.spread / one.median) ** 2 for one in (new, own, old, owned)))
            yield baseline, Change((new.median / own.median) / (old.median / owned.median), noise)


def means(comparison: Comparison) -> dict[str, float]:
    """The geometric mean of the ratios, by baseline."""
    mean = SUMMARY["geometric mean"]
    columns = {name: [row[name].ratio for row in comparison.changes.values() if name in row] for name in BASELINES}
    return {name: mean(ratios) for name, ratios in columns.items() if ratios}


def differing(now: Mapping[str, str], before: Mapping[str, str]) -> str:
    """The facts in which two machines differ, with both values; "" if they are the same."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return ", ".join(
        f"{name} {before.get(name, 'none')} \N{RIGHTWARDS ARROW} {now.get(name, 'none')}" for name in names
    )


def print_comparison(console: Console, comparisons: Sequence[Comparison], differs: str) -> None:
    """Prints a table for each number of threads, and below it the workloads that are slower."""
    console.print(f"since then: {differs or 'nothing that the files tell of the machine'}", highlight=False)
    for comparison in comparisons:
        title = "padops' speed now, as a multiple of its speed before, both against \N{HORIZONTAL ELLIPSIS}"
        numbers = [column for name in BASELINES for column in (name, "\N{PLUS-MINUS SIGN} %")]
        rows = [([name, *_cells(row)], name in comparison.slower) for name, row in comparison.changes.items()]
        mean = means(comparison)
        told = ["geometric mean", *(c for name in BASELINES for c in (f"{mean[name]:.3f}" if name in mean else "", ""))]
        tables.print_rows(console, comparison.threads, title, (["workload"], numbers), [*rows, (told, True)])
        slower = ", ".join(comparison.slower) or "none"
        console.print(f"slower by more than the noise: {slower}", highlight=False)
        if comparison.missing:
            console.print(f"not compared: {', '.join(comparison.missing)}", highlight=False)


def _cells(row: Mapping[str, Change]) -> list[str]:
    pairs = [(f"{row[name].ratio:.3f}", f"{row[name].noise:.0%}") if name in row else ("", "") for name in BASELINES]
    return [cell.removesuffix("%") for pair in pairs for cell in pair]
