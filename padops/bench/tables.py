"""The measurements as a table, and their geometric means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from padops.bench.runner import Measurement


def by_workload(results: Iterable[Measurement]) -> dict[str, dict[str, Measurement]]:
    """``{workload: {contestant: measurement}}`` in the order of measuring."""
    table: dict[str, dict[str, Measurement]] = {}
    for result in results:
        table.setdefault(result.workload, {})[result.contestant] = result
    return table


def speed(row: Mapping[str, Measurement], contestant: str) -> float | None:
    """How many times faster padops is than a contestant; None where it was not measured."""
    if "padops" not in row or contestant not in row:
        return None
    return row[contestant].median / row["padops"].median


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def print_table(console: Console, results: Sequence[Measurement], threads: int) -> None:
    """Times of padops with the spread beside them, and its speed as a multiple of each contestant's."""
    from rich.table import Table

    rows = by_workload(results)
    others = list(dict.fromkeys(result.contestant for result in results if result.contestant != "padops"))
    table = Table(title=f"{threads} thread{'s' * (threads > 1)}: padops' speed as a multiple of …", box=None)
    for title in ("workload", "output MB", "padops µs", "± µs", *others):
        table.add_column(title, justify="left" if title == "workload" else "right")
    for name, row in rows.items():
        own = row["padops"]
        speeds = [speed(row, other) for other in others]
        cells = [f"{own.output_bytes / 1e6:.2f}", f"{own.median * 1e6:.1f}", f"{own.spread * 1e6:.1f}"]
        table.add_row(name, *cells, *("" if s is None else f"{s:.2f}" for s in speeds))
    for label, combine in (("geometric mean", geometric_mean), ("least", min)):
        columns = [[s for row in rows.values() if (s := speed(row, other)) is not None] for other in others]
        table.add_row(
            label, "", "", "", *(f"{combine(column):.2f}" if column else "" for column in columns), style="bold"
        )
    console.print(table)
