"""Runs one model of ``padops/probe/`` on an execution provider, for scripts/providers.py.

    python provider_cases.py PROVIDER WAY       # in the provider's environment; lines of JSON in, lines of JSON out

A provider that computes float32 in float16 is compared with a tolerance.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import help_first  # noqa: F401
import numpy as np
import peers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # use this checkout's models
from padops.probe.probes import AROUND, IMAGE, Case, expected_of, feeds_of, model_of

__all__ = ["ALL", "CASES", "IMAGE", "RARE_CASES", "Case", "as_line", "expected_of", "feeds_of", "model_of", "run"]

PADOPS = ("PadopsFirstExecutionProvider", "PadopsExecutionProvider")
CPU = "CPUExecutionProvider"
STOCK = {"plain": "stock", "lowered": "stock"}  # ways that use the session of the way "stock"

OPENVINO, WEBGPU, QNN = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "QNNExecutionProvider"

# Common models; all run stock, beside padops and lowered.
CASES = (
    Case("constant 13", "constant", IMAGE, AROUND, 13),
    Case("constant 18", "constant", IMAGE, AROUND),
    Case("constant 21", "constant", IMAGE, AROUND, 21),
    Case("constant 23", "constant", IMAGE, AROUND, 23),
    Case("constant 24", "constant", IMAGE, AROUND, 24),
    Case("constant 25", "constant", IMAGE, AROUND, 25),
    Case("constant crop", "constant", IMAGE, (0, 0, -1, 2, 0, 0, 1, -2)),
    Case("constant channels", "constant", IMAGE, (0, 1, 0, 0, 0, 2, 0, 0)),
    Case("constant rank 1", "constant", (6,), (2, 1)),
    Case("constant rank 5", "constant", (1, 2, 3, 4, 5), (0, 0, 1, 1, 1, 0, 0, 1, 1, 1)),
    Case("constant axes", "constant", IMAGE, (1, 2, 1, 2), axes=(2, 3)),
    Case("constant int64", "constant", IMAGE, AROUND, type="int64"),
    Case("reflect 13", "reflect", IMAGE, AROUND, 13),
    Case("reflect 23", "reflect", IMAGE, AROUND, 23),
    Case("reflect 24", "reflect", IMAGE, AROUND, 24),
    Case("reflect crop", "reflect", IMAGE, (0, 0, -1, 1, 0, 0, 1, -1)),
    Case("reflect rank 3", "reflect", (2, 3, 6), (0, 0, 3, 0, 0, 3)),
    Case("reflect rank 5", "reflect", (1, 2, 3, 4, 5), (0, 0, 1, 1, 1, 0, 0, 1, 1, 1)),
    Case("reflect axes", "reflect", IMAGE, (1, 2, 1, 2), axes=(2, 3)),
    Case("reflect beyond n - 1", "reflect", IMAGE, (0, 0, 5, 0, 0, 0, 4, 0)),
    Case("edge 13", "edge", IMAGE, AROUND, 13),
    Case("edge 18", "edge", IMAGE, AROUND),
    Case("edge crop", "edge", IMAGE, (0, 0, -1, 1, 0, 0, 1, -1)),
    Case("edge axes", "edge", IMAGE, (1, 2, 1, 2), axes=(2, 3)),
    Case("wrap 19", "wrap", IMAGE, AROUND, 19),
    Case("wrap of n", "wrap", IMAGE, (0, 0, 4, 5, 0, 0, 4, 5), 21),
    Case("wrap beyond n", "wrap", IMAGE, (0, 0, 5, 0, 0, 0, 9, 0), 19),
    Case("wrap crop", "wrap", IMAGE, (0, 0, -1, 1, 0, 0, 1, -1), 19),
    Case("wrap axes", "wrap", IMAGE, (1, 2, 1, 2), 19, axes=(2, 3)),
)

# Models of which some parts are inputs of the run.
OPEN_CASES = (
    Case("constant, open dims", "constant", IMAGE, AROUND, given=("dims",)),
    Case("reflect, open dims", "reflect", IMAGE, AROUND, given=("dims",)),
    Case("wrap, open dims", "wrap", IMAGE, AROUND, 19, given=("dims",)),
    Case("constant 25, open dims", "constant", IMAGE, AROUND, 25, given=("dims",)),
    Case("reflect 24, open dims", "reflect", IMAGE, AROUND, 24, given=("dims",)),
    Case("constant, amounts given", "constant", IMAGE, AROUND, given=("pads",)),
    Case("reflect, amounts given", "reflect", IMAGE, AROUND, given=("pads",)),
    Case("wrap, amounts given", "wrap", IMAGE, (0, 0, 5, 0, 0, 0, 9, 0), 19, given=("pads",)),
)
# Pads before a node other than Relu.
CONV_CASES = (
    *(Case(f"{mode} before Conv", mode, IMAGE, AROUND, behind="Conv") for mode in ("constant", "reflect", "edge")),
    Case("wrap before Conv", "wrap", IMAGE, AROUND, 19, behind="Conv"),
    # A layout change for the Conv also changes the layout of the Pad.
    Case("constant axes among Convs", "constant", IMAGE, (1, 2, 1, 2), axes=(2, 3), behind="Conv", before="Conv"),
    Case("edge axes among Convs", "edge", IMAGE, (1, 0), axes=(-1,), behind="Conv", before="Conv"),
    Case("wrap axes among Convs, opset 24", "wrap", IMAGE, (1, 2, 1, 2), 24, axes=(2, 3), behind="Conv", before="Conv"),
)

# Rare models on which providers differ: data without dims or elements, odd fills, deep crops.
RARE_CASES = (
    Case("edge axes in another order", "edge", (2, 3, 4), (0, 1, 1, 0, 2, 2), axes=(0, 2, 1)),
    Case("edge axes in another order, with other amounts", "edge", (2, 3, 4), (1, 0, 0, 2, 0, 0), axes=(2, 1, 0)),
    Case("edge axes, fill of 2", "edge", (2, 3, 4), (1, 0, 1, 2, 0, 2), axes=(0, 1, 2), fill=(5.0, 6.0)),
    *(Case(f"{mode} rank 0", mode, (), ()) for mode in ("constant", "edge", "reflect")),
    Case("constant, fill of 1", "constant", IMAGE, AROUND, fill=(7,)),
    *(Case(f"{mode}, fill of 2", mode, IMAGE, AROUND, fill=(7, 8)) for mode in ("edge", "reflect")),
    Case("wrap, fill of 2", "wrap", IMAGE, AROUND, 19, fill=(7, 8)),
    Case("reflect, fill of 0", "reflect", IMAGE, AROUND, fill=()),
    Case("constant of nothing", "constant", (1, 2, 0, 5), AROUND),
    Case("reflect of nothing", "reflect", (1, 2, 0, 5), (0, 0, 0, 2, 0, 0, 0, 2)),
    Case("wrap of nothing", "wrap", (1, 2, 0, 5), (0, 0, 0, 2, 0, 0, 0, 2), 19),
    Case("reflect of one", "reflect", (1, 2, 1, 5), (0, 0, 1, 0, 0, 0, 2, 0)),
    Case("reflect crop beyond", "reflect", IMAGE, (0, 0, -2, 0, 0, 0, 3, 0)),
    Case("constant cut away", "constant", IMAGE, (0, 0, -4, 0, 0, 0, 3, 0)),
    Case("constant cut beyond", "constant", IMAGE, (0, 0, -5, 0, 0, 0, 3, 0)),
    *(
        Case(f"{mode} rank 6", mode, (1, *IMAGE, 2), (0, 0, 0, 1, 2, 1) * 2, 19)
        for mode in ("constant", "edge", "reflect", "wrap")
    ),
    *(Case(f"{mode} to nothing", mode, IMAGE, (0, 0, -4, 0, 0, 0, 0, 0)) for mode in ("constant", "edge")),
)
ALL = {case.name: case for case in (*CASES, *OPEN_CASES, *CONV_CASES, *RARE_CASES)}


def run(case: Case, provider: str, way: str, model: bytes, expected: Any = None) -> dict[str, Any]:
    """Runs a case.

    Args:
        case: The case.
        provider: The provider's name.
        way: ``"stock"``; ``"plain"``, for a lowered model; ``"lowered"``, for a model lowered for the provider; or with
            padops, ``"name"``, named in ``providers=``, or ``"device"``, put into the options.
        model: The case's model.
        expected: The model's outputs, as lists; by default, the output of the case's Pad.

    Returns:
        ``outcome``: ``"right"``, ``"wrong"``, or ``"refused"`` with the error in ``why``; ``providers``: the providers
            of the session;
        ``ran``: for each node that ran, its operator, its provider, and how often it ran.
    """
    from isolated import other_providers

    from padops.probe.running import run_model

    try:
        ran = run_model(
            lambda options: other_providers.session_of(model, provider, STOCK.get(way, way), options), feeds_of(case)
        )
    except Exception as error:
        return {"outcome": "refused", "why": " ".join(str(error).split())[:3000]}
    expected = expected_of(case) if expected is None else np.array(expected)
    rows = [about for about in peers.stated().values() if about.get("provider") == provider]
    within = max((about.get("within", 0) for about in rows), default=0)
    close = ran.output.shape == expected.shape and np.allclose(ran.output, expected, rtol=within, atol=0)
    return {
        "outcome": "right" if close else "wrong",
        "providers": ran.providers,
        "ran": sorted((*row, count) for row, count in ran.nodes.items()),
    }


def main(arguments: list[str]) -> int:
    from isolated.other_providers import prepare

    provider, way = arguments
    prepare(provider)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print
    for line in sys.stdin:
        told = json.loads(line)
        if "suite" in told:
            from provider_suite import run_suite

            answer = run_suite(told["suite"], provider, way)
        else:
            model, expected = bytes.fromhex(told.pop("model")), told.pop("expected")
            answer = run(Case(**told), provider, way, model, expected)
        print(json.dumps(answer), file=answers, flush=True)
    return 0


def as_line(case: Case, model: bytes, expected: Any = None) -> str:
    """Returns a case, its model and its outputs as a line of JSON; see ``run``."""
    return json.dumps(asdict(case) | {"model": model.hex(), "expected": expected})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
