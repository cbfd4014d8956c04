"""``python -m tests.mutation --kind KIND --count N --seed S [--only I]``, from the checkout's root."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from .kinds import KINDS
from .runner import JOBS, outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Convert files that are wrong.")
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--count", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--only", type=int, metavar="I", help="the number of one mutant, to run alone")
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N")
    parser.add_argument("-v", "--verbose", action="store_true", help="say of each mutant what became of it")
    options = parser.parse_args()
    start, codes, harmed, slowest = time.monotonic(), Counter(), 0, 0.0
    for outcome in outcomes(KINDS[options.kind], options.seed, options.count, options.only, options.jobs):
        codes[outcome.code] += 1
        slowest = max(slowest, outcome.seconds)
        if outcome.harm:
            harmed += 1
        if outcome.harm or options.verbose or options.only is not None:
            print(outcome if outcome.harm else _line(outcome), flush=True)
    ended = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items()))
    print(
        f"{sum(codes.values())} mutants of kind {options.kind}, {harmed} harmed; ended: {ended}; "
        f"the slowest took {slowest:.1f} s, all {time.monotonic() - start:.0f} s"
    )
    return int(harmed > 0)


def _line(outcome: object) -> str:
    return f"{outcome.number}: {outcome.code} ({outcome.seconds:.2f} s) {outcome.mutant.label} | {outcome.said.strip()}"


if __name__ == "__main__":
    sys.exit(main())
