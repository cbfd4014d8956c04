"""Takes random models along the roads of padops, each model in a child that may die; a line of JSON for each model.

``python tests/processes/road_server.py SEED FIRST COUNT`` needs ``tests/models`` on the path.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import roads
from children import each_in_child
from road_models import RoadModel, draw

import padops

SECONDS = 120  # of the clock, for a model on a road
MEMORY = 6 << 30
LEVELS = tuple(roads.LEVELS)
Task = tuple[str, str]  # a road and the level of optimisation


def tasks(number: int) -> list[Task]:
    """Return the tasks of a model: each road at one level, the fallback at two, and the runtime last, as it may die."""
    found = [(road, LEVELS[(number + i) % 4]) for i, road in enumerate(roads.ROADS) if road != "fallback"]
    return [*found, *((road, level) for road in ("fallback", "original") for level in ("disable", "all"))]


def answers(drawn: RoadModel, asked: list[Task]) -> Iterator[tuple[str, str, Any]]:
    """Each task with its answer; the runtime itself comes last, as it may die."""
    road_of = {**roads.ROADS, "original": roads.original}
    attempt = lambda task: roads.attempt(road_of[task[0]], drawn, task[1])
    for task, (said, ended) in zip(asked, each_in_child(attempt, asked, SECONDS, MEMORY), strict=True):
        yield (*task, said or {"said": "dead", "text": ended})


def main(seed: int, first: int, count: int) -> None:
    for number in range(first, first + count):
        drawn = draw(seed, number)
        row = {"number": number, "rule": drawn.expected if isinstance(drawn.expected, str) else "",
               "broken": drawn.broken, "features": drawn.features,
               "answers": [*answers(drawn, tasks(number))]}  # fmt: skip
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    padops.convert(draw(0, 0).proto)  # imports what a child would have to
    main(*map(int, sys.argv[1:]))
