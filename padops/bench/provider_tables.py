"""The provider's measurements as tables: each against stock onnxruntime, for the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from padops.bench.tables import by_threads, by_workload, facts, merged, print_rows

if TYPE_CHECKING:
    from rich.console import Console

    from padops.bench.runner import Measurement

STOCK = "stock"  # the baseline
_TITLES = ("time", "±", "× stock", "more")
_SHORT = 10e-6  # seconds below which a time is shown in ns


def is_of_provider(results: Iterable[Measurement]) -> bool:
    """Whether these are what ``padops bench --provider`` measured."""
    return any(result.implementation == STOCK for result in results)


def cells(results: Sequence[Measurement]) -> dict[tuple[str, str], list[str]]:
    """The table of one number of threads.

    Returns:
        For each workload and implementation the time, its spread, and how it compares with stock: as a multiple, and as
        a difference.
    """
    made = {}
    for workload, row in by_workload(results).items():
        stock = row[STOCK].median
        unit, factor, digits = ("ns", 1e9, 0) if stock < _SHORT else ("ms", 1e3, 3)
        for implementation, taken in row.items():
            time, spread, more = (
                f"{seconds * factor:{sign}.{digits}f} {unit}"
                for seconds, sign in ((taken.median, ""), (taken.spread, ""), (taken.median - stock, "+"))
            )
            compared = ["", ""] if implementation == STOCK else [f"{taken.median / stock:.2f}", more]
            made[workload, implementation] = [time, spread, *compared]
    return made


def print_table(console: Console, results: Sequence[Measurement], threads: int) -> None:
    """The table of one number of threads, on the terminal."""
    shown = [
        ([workload if implementation == STOCK else "", implementation, *row], implementation == STOCK)
        for (workload, implementation), row in cells(results).items()
    ]
    print_rows(console, threads, "unmodified models against stock onnxruntime", (["measured", "by"], _TITLES), shown)


def markdown(results: Sequence[Measurement], machine: Mapping[str, str]) -> str:
    """One table of all numbers of threads, which share a cell: ``1.20 / 2.10``."""
    counts = " / ".join(map(str, by_threads(results)))
    return "\n".join([facts(machine), "", *merged(results, f"{counts} threads", _TITLES, cells)]) + "\n"
