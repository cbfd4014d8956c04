"""Mutants of conversions of random models: what is proved of each, and whether a run shows that it is wrong.

``python tests/processes/mutant_server.py SEED FIRST COUNT MUTANTS``: a line of JSON for each of COUNT models. It needs
``tests/models`` on the path. Mutants run in a child, as some of them end a process.
"""

from __future__ import annotations

import json
import sys
import traceback
from functools import cache
from typing import Any

import mutants
import numpy as np
import onnx
from children import each_in_child
from crafted_pair import answers
from road_models import RoadModel, draw
from road_scopes import Dice

import padops

TARGETS: tuple[dict[str, Any], ...] = ({}, {"target": "onnx"}, {"fallback": False},
                                       {"target": "onnx", "without_pad": True})  # fmt: skip
SECONDS, MEMORY = 20, 4 << 30


def run(drawn: RoadModel, models: list[onnx.ModelProto]) -> list[str]:
    """What each model does with the drawn inputs: ``"same"`` as the original, ``"other"``, ``"fails"`` or ``"ended"``.

    ``"ended"`` is a model that ended its process; all are ``"not run"`` where the original does not run.
    """
    expected = cache(lambda: answers(drawn.proto, drawn.feeds))  # which a child asks, as it may end it

    def does(model: onnx.ModelProto) -> str:
        if isinstance(expected(), str):
            return "not run"
        given = answers(model, drawn.feeds)
        return "fails" if isinstance(given, str) else "same" if given == expected() else "other"

    return [said or "ended" for said, _ in each_in_child(does, models, SECONDS, MEMORY)]


def verdict(original: onnx.ModelProto, other: onnx.ModelProto) -> str:
    """Return what ``padops verify`` says of two models; ``"refused"`` if it reads no valid model."""
    try:
        return padops.verify(original, other).verdict
    except padops.PadopsError:
        return "refused"
    except Exception as error:  # of any kind: what a verification raises over a wrong model is a finding
        traceback.print_exc()
        return f"raised {type(error).__name__}"


def row(seed: int, number: int, count: int) -> dict[str, Any]:
    """Return the findings about one model; no mutants where onnxruntime does not run the original."""
    drawn, dice = draw(seed, number), Dice(np.random.default_rng([seed, number]))
    options = TARGETS[number % len(TARGETS)]
    found: dict[str, Any] = {"number": number, "options": options, "mutants": [], "conversion": "refused"}
    try:
        converted = padops.convert(drawn.proto, **options).proto()
    except padops.PadopsError:
        return found
    made = list(mutants.mutants(converted, dice, count))
    original, did, *others = run(drawn, [drawn.proto, converted, *(one for _, one in made)])
    if original != "same":
        return found | {"conversion": "not run"}
    found |= {"conversion": verdict(drawn.proto, converted), "did": did}
    for (what, one), did in zip(made, others, strict=True):
        if did != "same":  # here; it may differ for other inputs, which nobody knows
            found["mutants"].append((what, verdict(drawn.proto, one), did))
    return found


def main(seed: int, first: int, count: int, each: int) -> None:
    for number in range(first, first + count):
        print(json.dumps(row(seed, number, each)), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
