"""Runs random models on an execution provider of this Python, stock and with padops and a file of rules beside it.

    python provider_random.py PROVIDER RULES.json [--library FILE] [--option NAME=VALUE] [--models N] [--seed N]

tests/models/road_models.py makes the models: one to four Pads of every form among other nodes, in branches, loops and
functions. They break no rule, and their data are floats: whole numbers below 2,048, which no provider rounds. Every
second model declares the dims of its inputs, without which some providers claim nothing. Each session runs in a process
that may die. A wrong model runs again with padops for every Pad: if that run is wrong, too, the provider fails without
any Pad, and no rule helps. Exit codes: 0 done, 1 a session with these rules is wrong, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import help_first  # noqa: F401
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # use this checkout's models
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "models"))
from road_models import RoadModel, draw

from padops.probe.outcome import Asked

EXACT = 2048  # float16 has all whole numbers below it


def drawn(seed: int, count: int) -> Iterator[tuple[int, RoadModel]]:
    """Yields the first models of a seed that have data as above, each with its number."""
    number = 0
    while count:
        model = draw(seed, number)
        is_float = "float" in model.features and not model.broken
        if is_float and all(map(_is_exact, [*model.feeds.values(), *model.expected])):
            if count % 2:
                state_dims(model)
            yield number, model
            count -= 1
        number += 1


def _is_exact(array: np.ndarray) -> bool:
    return bool(np.isfinite(array).all() and (abs(array) < EXACT).all() and (array == np.floor(array)).all())


def state_dims(model: RoadModel) -> None:
    """Declares the inputs with the dims of their data."""
    for given in model.proto.graph.input:
        if given.name in model.feeds:
            shape = given.type.tensor_type.shape
            shape.Clear()
            shape.SetInParent()
            for size in model.feeds[given.name].shape:
                shape.dim.add().dim_value = size


def told(asked: Asked, model: RoadModel, rules: str, of_all: str) -> dict[str, Any]:
    """Returns the outcomes of a model on the provider: ``stock``, ``beside``, and ``why`` if ``beside`` is wrong."""
    content, expected = model.proto.SerializeToString(), model.expected[0]
    stock, beside = (asked.run(content, model.feeds, np.asarray(expected), way) for way in (None, rules))
    row = {"stock": stock["does"], "beside": beside["does"], "why": beside["why"]}
    if row["beside"] != "right" and asked.run(content, model.feeds, np.asarray(expected), of_all)["does"] != "right":
        row["beside"] = "not of its Pads"
    return row


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("provider", metavar="PROVIDER")
    parser.add_argument("rules", metavar="RULES.json")
    parser.add_argument("--library", metavar="FILE", default="")
    parser.add_argument("--option", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--models", metavar="N", type=int, default=100)
    parser.add_argument("--seed", metavar="N", type=int, default=1)
    options = parser.parse_args(arguments)
    asked = Asked(options.provider, options.library, dict(pair.split("=", 1) for pair in options.option))
    content = json.loads(Path(options.rules).read_text(encoding="utf-8"))
    content["rules"] = [{"does": "wrong", "when": "always"}]
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        of_all = Path(folder, "all.json")
        of_all.write_text(json.dumps(content), encoding="utf-8")
        for number, model in drawn(options.seed, options.models):
            row = told(asked, model, options.rules, str(of_all))
            counts[row["stock"], row["beside"]] += 1
            if row["beside"] != "right":
                print(f"{number}: stock {row['stock']}, beside {row['beside']}: {row['why']}", flush=True)
    for (stock, beside), count in sorted(counts.items()):
        print(f"{count:4} stock {stock}, with padops and the rules {beside}")
    return 1 if any(beside not in ("right", "not of its Pads") for _, beside in counts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
