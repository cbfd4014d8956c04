"""A sample of the suite's cases on real execution providers: what inspect says of each, and what padops takes beside them.

Whether the results are right, the peers say: tests/conformance/test_peers_apart.py. ``tests/long/long_providers.py`` has all cases.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from padops.conformance import cases

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import providers

STEPS = {"ort-openvino": 12, "ort-webgpu": 12, "ort-qnn": 20}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in STEPS])
def test_sample(name: str) -> None:
    """No contradiction, no Pad that the provider runs right, and no provider that is dropped."""
    provider = providers.provider_of(name)
    ids = [case.id for case in cases.collect("quick") if case.op.startswith("Pad_")][:: STEPS[name]]
    stock, beside = (providers.ask_suite(name, way, ids) for way in ("stock", "name"))
    assert providers.suite_faults(provider, stock, beside) == ([], [])
    assert all(provider in answer["providers"] for answer in beside.values() if "providers" in answer)
    outcomes = Counter(answer["outcome"] for answer in stock.values())
    assert outcomes["right"] > len(ids) / 4 and outcomes["refused"] > 2, outcomes
    assert sum(providers.who(answer, provider) == provider for answer in stock.values()) > 1


def answer(verdict: str, outcome: str, own: bool, **more: object) -> dict:
    ran = [["Pad", "OpenVINOExecutionProvider" if own else "CPUExecutionProvider", 1]]
    told = {
        "verdict": verdict,
        "runner": "OpenVINOExecutionProvider",
        "why": "OpenVINOExecutionProvider runs it",
        "opset": 18,
    }
    return {**told, "dtype": "float", "is_empty": False, "outcome": outcome, "ran": ran, "providers": [], **more}


@pytest.mark.parametrize(
    ("stock", "beside", "faults"),
    [
        (answer("runs", "right", True), answer("runs", "right", True), (0, 0)),
        (answer("runs", "right", True), answer("runs", "right", False), (1, 0)),
        (answer("may be wrong", "right", True), answer("may be wrong", "right", False), (0, 0)),
        (answer("runs", "right", False), answer("runs", "right", False), (0, 1)),
        (answer("runs", "wrong", True), answer("runs", "wrong", True), (0, 1)),
        (answer("runs", "dead", False), answer("runs", "dead", False), (0, 1)),
        (answer("refuses", "right", True), answer("refuses", "right", False), (1, 1)),
        (answer("refuses", "dead", False), answer("refuses", "right", False), (0, 0)),
        (answer("refuses", "right", True, is_empty=True), answer("refuses", "right", False), (0, 0)),
        (answer("refuses", "right", True, expected="error"), answer("refuses", "right", False), (0, 0)),
    ],
)
def test_what_is_a_fault(stock: dict, beside: dict, faults: tuple[int, int]) -> None:
    found = providers.suite_faults("OpenVINOExecutionProvider", {"id": stock}, {"id": beside})
    assert tuple(map(len, found)) == faults
