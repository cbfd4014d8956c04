"""What is proved of random models: no wrong mutant of a thousand, and most conversions.

``PADOPS_MUTANTS`` sets how many models are taken, ``PADOPS_SEED`` which ones.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import mutant_findings

SEED, COUNT = int(os.environ.get("PADOPS_SEED", "1")), int(os.environ.get("PADOPS_MUTANTS", "280"))
BATCH, EACH, WRONG = 10, 10, 1000
SHARE = 0.8  # of the conversions with the default options


@cache
def findings() -> mutant_findings.MutantFindings:
    whole = mutant_findings.MutantFindings()
    batches = [(SEED, first, min(BATCH, COUNT - first), EACH) for first in range(0, COUNT, BATCH)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each batch is a process
        for part in pool.map(lambda batch: mutant_findings.found(*batch), batches):
            whole.conversions += part.conversions
            whole.verdicts += part.verdicts
            whole.harm += part.harm
    print(
        *(f"{count:6,} {options}: {verdict}" for (options, verdict), count in sorted(whole.conversions.items())),
        sep="\n",
    )
    print(*(f"{count:6,} wrong mutants: {verdict}" for verdict, count in sorted(whole.verdicts.items())), sep="\n")
    print(*whole.harm, sep="\n")
    return whole


def test_no_wrong_mutant_is_proved(tally) -> None:
    found = findings()
    assert found.wrong >= WRONG or "PADOPS_MUTANTS" in os.environ
    tally(
        "conversions of random models with one change that a run shows to be wrong: proved all the same",
        found.wrong,
        len(found.harm),
    )


def test_most_wrong_mutants_are_found(tally) -> None:
    found = findings()
    tally(
        "these wrong conversions: not different (up to 10 %)",
        found.wrong,
        found.wrong - found.verdicts["different"],
        0.1,
    )


def of_default() -> dict[str, int]:
    """By verdict, how many conversions with the default options."""
    return {
        verdict: n for (options, verdict), n in findings().conversions.items() if options == mutant_findings.DEFAULT
    }


def test_most_conversions_are_proved(tally) -> None:
    counts = of_default()
    proved = sum(count for verdict, count in counts.items() if verdict.startswith("proved"))
    count = sum(counts.values())
    tally(
        "conversions of random models that padops verify does not prove (up to 20 %)", count, count - proved, 1 - SHARE
    )
