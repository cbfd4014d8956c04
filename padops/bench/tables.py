"""The measurements as tables: for the terminal, and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from padops.bench.runner import Measurement

SUMMARY: dict[str, Callable[[Sequence[float]], float]] = {
    "geometric mean": lambda values: math.exp(sum(map(math.log, values)) / len(values)),
    "least": min,
}


def by_workload(results: Iterable[Measurement]) -> dict[str, dict[str, Measurement]]:
    """``{workload: {implementation: measurement}}`` in the order of measuring."""
    table: dict[str, dict[str, Measurement]] = {}
    for result in results:
        table.setdefault(result.workload, {})[result.implementation] = result
    return table


def by_threads(results: Iterable[Measurement]) -> dict[int, list[Measurement]]:
    """The measurements of each number of threads."""
    table: dict[int, list[Measurement]] = {}
    for result in results:
        table.setdefault(result.threads, []).append(result)
    return table


def columns_of(results: Iterable[Measurement]) -> list[str]:
    """The implementations that padops is compared with; all plain copies count as one."""
    names = ("copy" if result.implementation.startswith("copy ") else result.implementation for result in results)
    return [name for name in dict.fromkeys(names) if name != "padops"]


def speed(row: Mapping[str, Measurement], implementation: str) -> float | None:
    """How many times faster padops is than an implementation, or than the best ``copy``; None where one is missing."""
    medians = [m.median for name, m in row.items() if name == implementation or name.startswith(implementation + " ")]
    if "padops" not in row or not medians:
        return None
    return min(medians) / row["padops"].median


def cells(results: Sequence[Measurement]) -> tuple[list[str], dict[str, list[str]]]:
    """The table of one number of threads.

    Returns:
        The titles of the columns, and the cells of each workload and of each summary by its name: output MB, µs of
        padops, µs of spread, then the speed of padops as a multiple of each other implementation's.
    """
    rows = by_workload(results)
    others = columns_of(results)
    made = {}
    for name, row in rows.items():
        own = row["padops"]
        shown = [f"{own.output_bytes / 1e6:.2f}", f"{own.median * 1e6:.1f}", f"{own.spread * 1e6:.1f}"]
        made[name] = shown + [_ratio(speed(row, other)) for other in others]
    for label, combine in SUMMARY.items():
        columns = [[s for row in rows.values() if (s := speed(row, other)) is not None] for other in others]
        made[label] = ["", "", ""] + [_ratio(combine(column) if column else None) for column in columns]
    return ["output MB", "padops µs", "± µs", *others], made


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def print_table(console: Console, results: Sequence[Measurement], threads: int) -> None:
    """The table of one number of threads, on the terminal."""
    titles, rows = cells(results)
    shown = [([name, *row], name in SUMMARY) for name, row in rows.items()]
    print_rows(console, threads, "padops' speed as a multiple of …", (["workload"], titles), shown)


def print_least(console: Console, results: Sequence[Measurement], threads: int, count: int = 5) -> None:
    """The workloads in which padops gains least over ONNX Runtime's Pad."""
    speeds = {name: found for name, row in by_workload(results).items() if (found := speed(row, "built-in"))}
    console.print(f"{threads} thread{'s' * (threads > 1)}: the least of {len(speeds)}, against the built-in")
    for name in sorted(speeds, key=speeds.__getitem__)[:count]:
        console.print(f"  {speeds[name]:.2f}  {name}", highlight=False)


def print_rows(
    console: Console,
    threads: int,
    title: str,
    columns: tuple[Sequence[str], Sequence[str]],
    rows: Iterable[tuple[Sequence[str], bool]],
) -> None:
    """A table of one number of threads, on the terminal.

    Args:
        columns: The titles of the columns with names, and of the columns with numbers.
        rows: The cells of each row, and whether they are bold.
    """
    from rich.table import Table

    table = Table(title=f"{threads} thread{'s' * (threads > 1)}: {title}", box=None)
    names, numbers = columns
    for heading in names:
        table.add_column(heading)
    for heading in numbers:
        table.add_column(heading, justify="right")
    for row, bold in rows:
        table.add_row(*row, style="bold" if bold else "")
    console.print(table)


def markdown(results: Sequence[Measurement], machine: Mapping[str, str]) -> str:
    """One table of all numbers of threads, which share a cell: ``1.20 / 2.10``."""
    tables = {threads: cells(measured) for threads, measured in by_threads(results).items()}
    titles = list(dict.fromkeys(title for own, _ in tables.values() for title in own if title != "± µs"))
    names = [n for _, rows in tables.values() for n in rows]
    names = [n for n in dict.fromkeys(names) if n not in SUMMARY] + list(SUMMARY)
    counts = " / ".join(map(str, tables))
    lines = [
        facts(machine),
        "",
        f"| {counts} threads | " + " | ".join(titles) + " |",
        "|---" + "|--:" * len(titles) + "|",
    ]
    for name in names:
        found = [dict(zip(own, rows[name])) for own, rows in tables.values() if name in rows]
        row = [joined([cell.get(title, "") for cell in found]) for title in titles]
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def facts(machine: Mapping[str, str]) -> str:
    """What ``describe_machine`` says, as a sentence."""
    return ", ".join(f"{key} {value}" for key, value in machine.items()) + "."


def joined(values: Sequence[str]) -> str:
    """The same cell with each number of threads, as one."""
    return values[0] if len(set(values)) == 1 else " / ".join(value or "–" for value in values)


def merged(
    results: Sequence[Measurement],
    head: str,
    titles: Sequence[str],
    cells_of: Callable[[Sequence[Measurement]], Mapping[tuple[str, str], Sequence[str]]],
) -> list[str]:
    """The lines of a table in Markdown of all numbers of threads, which share a cell: ``1.20 / 2.10``.

    Args:
        head: The title of the first column.
        titles: The titles of the columns after the first two.
        cells_of: Gives the cells of these columns for one number of threads, by workload and implementation.
    """
    tables = {threads: cells_of(measured) for threads, measured in by_threads(results).items()}
    lines = [f"| {head} | by | {' | '.join(titles)} |", "|---|---" + "|--:" * len(titles) + "|"]
    for name in dict.fromkeys(name for table in tables.values() for name in table):
        found = [table.get(name, [""] * len(titles)) for table in tables.values()]
        lines.append(f"| {' | '.join(name)} | " + " | ".join(joined(column) for column in zip(*found)) + " |")
    return lines
