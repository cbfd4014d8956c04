"""Mutants of conversions of random models: what is proved of each, and whether a run shows that it is wrong.

``python tests/processes/mutant_server.py SEED FIRST COUNT MUTANTS``: a line of JSON for each of COUNT models. It needs
``tests/models`` on the path. Mutants run in a child, as some of them end a process.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

import mutants
import numpy as np
import onnx
from crafted_pair import answers
from road_models import RoadModel, draw
from road_scopes import Dice

import padops
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits

TARGETS: tuple[dict[str, Any], ...] = (
    {},
    {"target": "onnx"},
    {"fallback": False},
    {"target": "onnx", "without_pad": True},
)
SECONDS, MEMORY = 20, 4 << 30
LIMITS = Limits(goal_seconds=1, seconds=5)


def in_child(question: Callable[[], str]) -> str:
    """What a child says; ``"ended"`` for one that dies or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            os.write(writing, question().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answered:
        text = answered.read()
    os.waitpid(child, 0)
    return text or "ended"


def runs(drawn: RoadModel, models: list[onnx.ModelProto]) -> list[str]:
    """What each model does with the inputs of the drawn one: ``"same"`` as the original, ``"other"``, ``"fails"``, ``"ended"``."""
    expected = answers(drawn.proto, drawn.feeds)
    if isinstance(expected, str):
        return ["the original fails"] * len(models)

    def compared(one: onnx.ModelProto) -> str:
        given = answers(one, drawn.feeds)
        return "fails" if isinstance(given, str) else "same" if given == expected else "other"

    return [in_child(lambda one=one: compared(one)) for one in models]


def row(seed: int, number: int, count: int) -> dict[str, Any]:
    """What is found of one model."""
    drawn, dice = draw(seed, number), Dice(np.random.default_rng([seed, number]))
    options = TARGETS[number % len(TARGETS)]
    found: dict[str, Any] = {"number": number, "options": options, "mutants": [], "conversion": "refused"}
    try:
        converted = padops.convert(drawn.proto, **options).proto()
    except padops.PadopsError:
        return found
    found["conversion"] = prove(drawn.proto, converted, limits=LIMITS).verdict.value
    found["runs"] = "none" if isinstance(drawn.expected, str) else in_child(lambda: runs(drawn, [converted])[0])
    made = list(mutants.mutants(converted, dice, count))
    verdicts = [prove(drawn.proto, one, limits=LIMITS).verdict.value for _, one in made]
    said = in_child(lambda: json.dumps(runs(drawn, [one for _, one in made])))
    ran = json.loads(said) if said != "ended" else ["unknown"] * len(made)
    found["mutants"] = [(what, verdict, does) for (what, _), verdict, does in zip(made, verdicts, ran)]
    return found


def main(seed: int, first: int, count: int, each: int) -> None:
    for number in range(first, first + count):
        print(json.dumps(row(seed, number, each)), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
