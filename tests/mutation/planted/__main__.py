"""``python -m tests.mutation.planted --count N --seed S [--part I/N] [--again survived]``, from the checkout's root.

Breaks of Python need ``pip install coverage``: the first one runs all tests, to learn which of them run its lines.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from .campaign import FOLDERS, drawn, outcomes
from .relevant import ROOT


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.mutation.planted", description="Plant breaks in the sources.")
    parser.add_argument("--count", type=int, default=100, metavar="N", help="as many in each folder")
    parser.add_argument("--of", nargs="+", default=FOLDERS, metavar="FOLDER", help="such as padops/spec")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="of N parts that run at once, this one")
    parser.add_argument("--file", metavar="PATH", help="only breaks of sources whose path contains that")
    parser.add_argument("--again", action="append", default=[], metavar="OUTCOME", help="try breaks anew that ended so")
    parser.add_argument("--results", type=Path, metavar="FILE", help="where outcomes are kept, and taken from")
    parser.add_argument("--list", action="store_true", help="only list the breaks")
    options = parser.parse_args()
    index, parts = map(int, options.part.split("/"))
    changes = drawn(options.count, options.seed, options.of)
    chosen = [change for change in changes if (options.file or "") in change.file]
    # Sources that belong together stay in one part, which runs their tests once without a break.
    chosen = chosen[len(chosen) * (index - 1) // parts : len(chosen) * index // parts]
    if options.list:
        for change in chosen:
            source = (ROOT / change.file).read_text(encoding="utf-8")
            print(f"{change.file}:{change.line(source)}: {change.kind}: {' -> '.join(change.lines(source))}")
        return 0
    folder = ROOT / "build" / "planted"
    results = options.results or folder / f"seed-{options.seed}.jsonl"
    counts: Counter[str] = Counter()
    for row in outcomes(chosen, folder / f"copy-{index}", results, options.again):
        counts[row.outcome] += 1
        told = f"{row.outcome} ({row.seconds} s) {row.file}:{row.number}: {row.line} -> {row.became} | {row.by}"
        print(told, flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return int(counts["survived"] > 0)


if __name__ == "__main__":
    sys.exit(main())
