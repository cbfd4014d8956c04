"""Takes random models along the roads of padops, each model in a child that may die; a line of JSON for each model.

``python tests/processes/road_server.py SEED FIRST COUNT`` needs ``tests/models`` on the path.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

import roads
from road_models import RoadModel, draw

import padops

SECONDS = int(os.environ.get("PADOPS_ROAD_SECONDS", "120"))  # of the clock, for a model on a road
MEMORY = 6 << 30
LEVELS = tuple(roads.LEVELS)
Task = tuple[str, str]  # a road, or a question, and the level of optimisation
RAISED = 70


def tasks(number: int) -> list[Task]:
    """Return the tasks of a model: each road at one level, the fallback at two, and the runtime last, as it may die."""
    found = [(road, LEVELS[(number + i) % 4]) for i, road in enumerate(roads.ROADS) if road != "fallback"]
    found += [("fallback", "disable"), ("fallback", "all"), ("inspect", "")]
    return [*found, ("original", "disable"), ("original", "all")]


def ask(drawn: RoadModel, task: Task) -> Any:
    name, level = task
    if name == "inspect":
        return roads.verdicts(drawn)
    if name == "original":
        return roads.attempt(roads.original, drawn, level)
    return roads.attempt(roads.ROADS[name], drawn, level)


def answers(drawn: RoadModel, asked: list[Task]) -> Iterator[tuple[Task, Any]]:
    """The answers of children: a new one after each that died, and one alone for what the runtime itself does."""
    left = list(asked)
    while left:
        count = sum(task[0] != "original" for task in left) or 1
        found, ended = _in_child(drawn, left[:count])
        yield from zip(left, found)
        left = left[len(found) :]
        if ended and count > len(found):
            alone = [_in_child(drawn, left[:1])[1] for _ in range(2)]
            yield left.pop(0), {"said": "dead", "text": f"{ended}; alone: {' and '.join(alone)}"}


def _in_child(drawn: RoadModel, asked: list[Task]) -> tuple[list[Any], str]:
    """Return a child's answers, and how it ended if it ended too early."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(drawn, asked, writing)
    os.close(writing)
    with os.fdopen(reading) as answered:
        lines = [json.loads(line) for line in answered if line.endswith("\n")]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        return lines, f"no end within {SECONDS} s"
    return lines, "" if status == 0 else signal.Signals(-status).name if status < 0 else f"exit code {status}"


def _child(drawn: RoadModel, asked: list[Task], writing: int) -> None:
    """The child: answers line by line, and ends the process. The alarm is the kernel's: no Python need run for it."""
    code = RAISED
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for task in asked:
            signal.alarm(SECONDS)
            os.write(writing, json.dumps(ask(drawn, task)).encode() + b"\n")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main(seed: int, first: int, count: int) -> None:
    for number in range(first, first + count):
        start = time.monotonic()
        drawn = draw(seed, number)
        asked = tasks(number)
        row = {
            "number": number,
            "rule": drawn.expected if isinstance(drawn.expected, str) else "",
            "broken": drawn.broken,
            "features": drawn.features,
            "answers": [(*task, answer) for task, answer in answers(drawn, asked)],
        }
        print(json.dumps(row | {"seconds": time.monotonic() - start}), flush=True)


if __name__ == "__main__":
    padops.convert(draw(0, 0).proto)  # imports what a child would have to
    main(*map(int, sys.argv[1:]))
