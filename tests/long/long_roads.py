"""Random models on every road of padops, each model in a process that may die.

``PADOPS_ROADS`` sets how many models, ``PADOPS_SEED`` which ones. ``tests/models/road_findings.py`` names the known
limits.
"""

from __future__ import annotations

import os
from functools import cache

import road_findings

SEED, COUNT = int(os.environ.get("PADOPS_SEED", "1")), int(os.environ.get("PADOPS_ROADS", "1000"))


@cache
def findings() -> road_findings.Findings:
    found = road_findings.found(road_findings.rows(SEED, 0, COUNT))
    print(*(f"{count:6,} {road}: {what}" for (road, what), count in sorted(found.answers.items())), sep="\n")
    print(*found.harm, sep="\n")
    return found


def test_six_roads(tally) -> None:
    found = findings()
    right = sum(count for (_, what), count in found.answers.items() if what == "same")
    assert right > 4 * found.models, "most models run on most roads"
    tally(
        "random models of 1 to 4 Pads on six roads: the right bits, or a refusal within a stated limit",
        found.models,
        len(found.harm),
    )
