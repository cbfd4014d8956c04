"""Show the results of ``padops bench --json``: the table, a picture, and the changes since another release.

    python3 scripts/bench_results.py NOW.json [--plot FILE.svg] [--since THEN.json]

For --since, both files hold two ratios for each workload: padops' speed to the built-in Pad's, and to the fastest plain
copy's. The new ratio divided by the old ratio does not depend on the machine; 1 means that the speed has not changed. A
workload is slower if both ratios have fallen by more than the quartiles of the four times explain.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import help_first  # noqa: F401

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from padops.bench.table import SCHEMA, SUMMARY, Measurement, fastest, markdown, speed

Table = dict[tuple[int, str], dict[str, Measurement]]  # by number of threads and workload, then by implementation
BASELINES = ("built-in", "copy")
WIDTH, LEFT, ROW, TOP, BAR = 760, 170, 22, 54, 8
COLOURS = ("#8fa8c8", "#2f5f9e", "#17304f")


def read(path: str) -> tuple[dict[str, str], list[Measurement]]:
    """Returns the machine and the measurements of a file.

    Raises:
        SystemExit: ``padops bench --json`` has not written the file.
    """
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if content.get("schema") != SCHEMA:
        sys.exit(f"error: {path} has the schema {content.get('schema')!r}, expected {SCHEMA}")
    return content["machine"], [Measurement(**row) for row in content["measurements"]]


def table_of(results: Sequence[Measurement]) -> Table:
    """Returns the measurements by number of threads and workload, then by implementation."""
    table: Table = {}
    for taken in results:
        table.setdefault((taken.threads, taken.workload), {})[taken.implementation] = taken
    return table


def changes(now: Table, then: Table) -> Iterator[tuple[int, str, dict[str, tuple[float, float]]]]:
    """Yields, for each workload in both files, the ratio and the noise of each baseline in both files."""
    for (threads, name), row in now.items():
        found = {}
        for baseline in BASELINES:
            others = [
                fastest(taken, by) for taken in (row, then.get((threads, name), {})) for by in (baseline, "padops")
            ]
            new, own, old, owned = others
            if new and own and old and owned:
                noise = math.sqrt(sum((taken.spread / taken.median) ** 2 for taken in (new, own, old, owned)))
                found[baseline] = (new.median / own.median) / (old.median / owned.median), noise
        if found:
            yield threads, name, found


def told(now: Table, then: Table) -> Iterator[str]:
    """Yields lines with the changes, the slower workloads last."""
    slower, ratios = [], {baseline: [] for baseline in BASELINES}
    for threads, name, found in changes(now, then):
        cells = ", ".join(f"{by} {ratio:.3f} ± {100 * noise:.0f} %" for by, (ratio, noise) in found.items())
        yield f"{threads} thread{'s' * (threads > 1)}, {name}: {cells}"
        for by, (ratio, _) in found.items():
            ratios[by].append(ratio)
        if all(math.log(ratio) < -noise for ratio, noise in found.values()):
            slower.append(f"{name} ({threads})")
    for by, column in ratios.items():
        if column:
            yield f"geometric mean against {by}: {SUMMARY['geometric mean'](column):.3f}"
    yield f"slower by more than the noise: {', '.join(slower) or 'none'}"


def svg(table: Table, machine: dict[str, str]) -> str:
    """Returns an SVG: a group of bars per workload, a bar per number of threads, a line at the built-in Pad's speed."""
    counts = sorted({threads for threads, _ in table})
    speeds = {place: gain for place, row in table.items() if (gain := speed(row, "built-in"))}
    names = list(dict.fromkeys(name for _, name in speeds))
    top = math.ceil(math.log2(max([2.0, *speeds.values()])))
    x = lambda value: (
        LEFT + (math.log2(max(value, 0.5)) + 1) * (WIDTH - LEFT - 50) / (top + 1)
    )  # from half the speed on
    height = TOP + ROW * len(names) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="11">\n<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-size="13" fill="#111">'
        "Speed of padops as a multiple of ONNX Runtime's Pad</text>",
    ]
    for i, count in enumerate(counts):
        parts.append(f'<rect x="{LEFT + 110 * i}" y="27" width="12" height="8" fill="{COLOURS[i % 3]}"/>')
        words = f"{count} thread{'s' * (count > 1)}"
        parts.append(f'<text x="{LEFT + 110 * i + 17}" y="35" fill="#333">{words}</text>')
    for power in range(-1, top + 1):
        at, colour = x(2.0**power), "#333" if power == 0 else "#ddd"
        parts.append(f'<line x1="{at:.1f}" y1="{TOP - 8}" x2="{at:.1f}" y2="{height - 24}" stroke="{colour}"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - 10}" text-anchor="middle" fill="#333">{2.0**power:g}×</text>')
    for i, name in enumerate(names):
        y = TOP + ROW * i
        parts.append(f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end" fill="#111">{escape(name)}</text>')
        for j, count in enumerate(counts):
            if gain := speeds.get((count, name)):
                width, bar = max(x(gain) - LEFT, 1), y + j * (BAR + 1)
                size = f'width="{width:.1f}" height="{BAR}" fill="{COLOURS[j % 3]}"'
                parts.append(f'<rect x="{LEFT}" y="{bar}" {size}/>')
                at = f'x="{LEFT + width + 4:.1f}" y="{bar + 8}" font-size="9" fill="#333"'
                parts.append(f"<text {at}>{gain:.2f}</text>")
    facts = ", ".join(f"{key} {machine[key]}" for key in ("processor", "onnxruntime", "padops") if key in machine)
    return "\n".join([*parts, f"<desc>{escape(facts)}</desc>", "</svg>"]) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", metavar="NOW.json")
    parser.add_argument("--plot", metavar="FILE.svg")
    parser.add_argument("--since", metavar="THEN.json")
    options = parser.parse_args(arguments)
    machine, results = read(options.file)
    print(markdown(results, machine), end="")
    if options.since:
        print("\n".join(told(table_of(results), table_of(read(options.since)[1]))))
    if options.plot:
        Path(options.plot).write_text(svg(table_of(results), machine), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
