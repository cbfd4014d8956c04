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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the models are those of this checkout
from padops.probe.cases import ALL, CASES, IMAGE, RARE_CASES
from padops.probe.models import Case, expected_of, feeds_of, model_of

__all__ = ["ALL", "CASES", "IMAGE", "RARE_CASES", "Case", "as_line", "expected_of", "feeds_of", "model_of", "run"]

PADOPS = ("PadopsFirstExecutionProvider", "PadopsExecutionProvider")
CPU = "CPUExecutionProvider"
STOCK = {"plain": "stock", "lowered": "stock"}  # ways whose session is that of another one

OPENVINO, WEBGPU, QNN = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "QNNExecutionProvider"


def run(case: Case, provider: str, way: str, model: bytes, expected: Any = None) -> dict[str, Any]:
    """Runs a case.

    Args:
        case: The case.
        provider: The provider's name.
        way: ``"stock"``, or ``"plain"`` and ``"lowered"``, which are the same of a model that was lowered, and lowered
            for the provider; or with padops ``"name"``, named in ``providers=``, or ``"device"``, put into the options.
        model: Its model.
        expected: What it gives, as lists; by default what a Pad does.

    Returns:
        ``outcome``: ``"right"``, ``"wrong"``, or ``"refused"`` with the error in ``why``; ``providers``: of the
            session;
        ``ran``: for each node that ran, its operator, its provider, and how often.
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
    """A case, its model and what that gives as a line of JSON; see ``run``."""
    return json.dumps(asdict(case) | {"model": model.hex(), "expected": expected})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
