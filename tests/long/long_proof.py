"""What is proved of random models: no wrong mutant of a thousand, and most conversions.

``PADOPS_MUTANTS`` sets how many models are taken, ``PADOPS_SEED`` which ones.
"""

from __future__ import annotations

import os
from functools import cache

import mutant_findings

SEED, COUNT = int(os.environ.get("PADOPS_SEED", "1")), int(os.environ.get("PADOPS_MUTANTS", "280"))
BATCH, EACH, WRONG = 20, 10, 1000
SHARE = 0.8  # of the conversions with the default options


@cache
def findings() -> mutant_findings.MutantFindings:
    whole = mutant_findings.MutantFindings()
    for first in range(0, COUNT, BATCH):
        part = mutant_findings.found(SEED, first, min(BATCH, COUNT - first), EACH)
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


def test_most_conversions_are_proved(tally) -> None:
    found = findings()
    counts = {
        verdict: count for (options, verdict), count in found.conversions.items() if options == mutant_findings.DEFAULT
    }
    count = sum(counts.values())
    tally(
        "conversions of random models, fallback included, that are not proved (up to 20 %)",
        count,
        count - counts.get("proved", 0),
        1 - SHARE,
    )
