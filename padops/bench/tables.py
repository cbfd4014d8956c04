"""The measurements as tables, for the terminal and in Markdown, and as a picture: a self-contained SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
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


def fastest(row: Mapping[str, Measurement], implementation: str) -> Measurement | None:
    """The fastest measurement of an implementation, or of all whose names begin alike, such as the plain copies."""
    found = [one for name, one in row.items() if name == implementation or name.startswith(implementation + " ")]
    return min(found, key=lambda one: one.median, default=None)


def speed(row: Mapping[str, Measurement], implementation: str) -> float | None:
    """How many times faster padops is than an implementation, or than the best ``copy``; None where one is missing."""
    other, own = fastest(row, implementation), row.get("padops")
    return None if other is None or own is None else other.median / own.median


def cells(results: Sequence[Measurement]) -> tuple[list[str], dict[str, list[str]]]:
    """The titles of the columns for one number of threads, and the cells of each workload and summary by its name.

    They are output MB, µs of padops, µs of spread, then the speed of padops as a multiple of each other one's.
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
    """Prints the table of one number of threads.

    ``columns`` are the titles of the columns with names, and of those with numbers; ``rows`` have their cells, and
    whether they are bold.
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
        f"| {counts} {'thread' if counts == '1' else 'threads'} | " + " | ".join(titles) + " |",
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
    """The lines of a Markdown table of all numbers of threads, which share a cell: ``1.20 / 2.10``.

    ``head`` is the title of the first column, ``titles`` are those after the second. ``cells_of`` gives their cells for
    one number of threads, by workload and implementation.
    """
    tables = {threads: cells_of(measured) for threads, measured in by_threads(results).items()}
    lines = [f"| {head} | by | {' | '.join(titles)} |", "|---|---" + "|--:" * len(titles) + "|"]
    for name in dict.fromkeys(name for table in tables.values() for name in table):
        found = [table.get(name, [""] * len(titles)) for table in tables.values()]
        lines.append(f"| {' | '.join(name)} | " + " | ".join(joined(column) for column in zip(*found)) + " |")
    return lines


_WIDTH, _LEFT, _ROW, _TOP, _BAR = 760, 170, 22, 54, 8
_COLOURS = ("#8fa8c8", "#2f5f9e", "#17304f")


def svg(results: Sequence[Measurement], machine: Mapping[str, str]) -> str:
    """One group of bars per workload, one bar per number of threads; the line is the speed of the built-in Pad."""
    counts = sorted({result.threads for result in results})
    tables = [by_workload(result for result in results if result.threads == count) for count in counts]
    names = [name for name in tables[0] if any(speed(table[name], "built-in") for table in tables)]
    most = max((speed(table[name], "built-in") or 1 for table in tables for name in names), default=1)
    top = 2 ** math.ceil(math.log2(max(most, 2)))
    scale = (_WIDTH - _LEFT - 50) / (math.log2(top) + 1)  # from half the speed on

    def x(value: float) -> float:
        return _LEFT + (math.log2(max(value, 0.5)) + 1) * scale

    height = _TOP + _ROW * len(names) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        'font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="18" font-size="13" fill="#111">'
        "Speed of padops as a multiple of ONNX Runtime's Pad</text>",
    ]
    for i, count in enumerate(counts):
        left = _LEFT + 110 * i
        parts.append(f'<rect x="{left}" y="27" width="12" height="8" fill="{_COLOURS[i % 3]}"/>')
        parts.append(f'<text x="{left + 17}" y="35" fill="#333">{count} thread{"s" * (count > 1)}</text>')
    for power in range(-1, int(math.log2(top)) + 1):
        at, colour = x(2.0**power), "#333" if power == 0 else "#ddd"
        parts.append(f'<line x1="{at:.1f}" y1="{_TOP - 8}" x2="{at:.1f}" y2="{height - 24}" stroke="{colour}"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - 10}" text-anchor="middle" fill="#333">{2.0**power:g}×</text>')
    for i, name in enumerate(names):
        y = _TOP + _ROW * i
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 12}" text-anchor="end" fill="#111">{escape(name)}</text>')
        for j, table in enumerate(tables):
            value = speed(table[name], "built-in")
            if value is not None:
                bar = y + j * (_BAR + 1)
                width = max(x(value) - _LEFT, 1)
                parts.append(
                    f'<rect x="{_LEFT}" y="{bar}" width="{width:.1f}" height="{_BAR}" fill="{_COLOURS[j % 3]}"/>'
                )
                parts.append(
                    f'<text x="{_LEFT + width + 4:.1f}" y="{bar + 8}" font-size="9" fill="#333">{value:.2f}</text>'
                )
    facts = ", ".join(
        f"{key} {value}" for key, value in machine.items() if key in ("processor", "onnxruntime", "padops")
    )
    return "\n".join([*parts, f"<desc>{escape(facts)}</desc>", "</svg>"]) + "\n"
