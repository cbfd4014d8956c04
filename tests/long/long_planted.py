"""Breaks planted in the sources, one at a time: the fast tests that look at a source have to see each of them."""

from __future__ import annotations

from conftest import Tally
from mutation.planted.campaign import drawn, outcomes, summary
from mutation.planted.relevant import ROOT

SEED, COUNT = 1, 120
MOST_SURVIVORS = 0.05  # as a part of the breaks that can be seen; the page lists them
FOLDER = ROOT / "build" / "planted"


def test_planted_breaks(tally: Tally) -> None:
    """Continues the run whose outcomes are in ``build/planted``; without that folder it starts from the beginning."""
    rows = list(outcomes(drawn(COUNT, SEED), FOLDER / "copy-1", FOLDER / f"seed-{SEED}.jsonl"))
    text = summary(rows, SEED)
    print(text)
    survived = sum(row.outcome == "survived" for row in rows)
    count = survived + sum(row.outcome == "killed" for row in rows)
    took = sum(row.seconds for row in rows)
    tally("breaks planted in csrc and convert that the fast tests have to see", count, survived, MOST_SURVIVORS, took)
