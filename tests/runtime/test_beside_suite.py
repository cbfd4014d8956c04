"""A sample of the suite on real execution providers: inspect's verdict on each case, and what padops takes beside them.

``tests/long/long_counts.py`` has all cases.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from slow import MORE

from padops.conformance import cases

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_cases
import provider_faults
import providers

LEVEL, STEP = ("default", 1) if MORE else ("quick", 40)
NAMES = ("ort-openvino", "ort-webgpu", "ort-qnn")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in NAMES])
def test_sample(name: str) -> None:
    """No contradiction, no Pad that the provider runs right, no provider that is dropped, and the right bits."""
    provider = providers.provider_of(name)
    ids = [case.id for case in cases.collect(LEVEL) if case.op.startswith("Pad_")][::STEP]
    stock = providers.ask_suite(name, "stock", ids)
    for way in ("name", *(["device"] if provider == provider_cases.QNN else [])):
        beside = providers.ask_suite(name, way, ids)
        assert provider_faults.faults(provider, stock, beside) == ([], [])
        assert provider_faults.unexplained(name, beside) == provider_faults.dropped(provider, beside) == []
    outcomes = Counter(answer["outcome"] for answer in stock.values())
    assert outcomes["right"] > len(ids) / 4 and outcomes["refused"] > 2, outcomes
    assert sum(providers.who(answer, provider) == provider for answer in stock.values()) > 1


FLOAT = "table/Pad_13/edge/float/2/begin/plain/none/absent.flat/fixed/0"
INT64 = "table/Pad_11/constant/int64/1/mixed/plain/scalar/absent.flat/fixed/2"


def answer(verdict: str, outcome: str, own: bool, **more: object) -> dict:
    provider = "OpenVINOExecutionProvider"
    told = {"verdict": verdict, "runner": provider, "why": f"{provider} runs it", "opset": 18, "detail": ""}
    ran = [["Pad", provider if own else "CPUExecutionProvider", 1]]
    return told | {"dtype": "float", "is_empty": False, "outcome": outcome, "ran": ran, "providers": []} | more


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
    found = provider_faults.faults("OpenVINOExecutionProvider", {FLOAT: stock}, {FLOAT: beside})
    assert tuple(map(len, found)) == faults


def test_what_depends_on_the_data_is_no_contradiction() -> None:
    """OpenVINO computes int64 in 32 bits, which inspect, without the data, cannot see."""
    wrong = answer("runs", "wrong", True)
    for id, count in ((FLOAT, 1), (INT64, 0)):
        assert len(provider_faults.faults("OpenVINOExecutionProvider", {id: wrong}, {id: wrong})[1]) == count


def test_what_no_divergence_explains() -> None:
    """Another outcome than the known one; and a session without the provider."""
    told = {"why": "", "detail": "3 of 3 elements differ", "providers": ["CPUExecutionProvider"]}
    for id, outcome, count in (
        (INT64, "wrong", 0), (INT64, "dead", 1), (FLOAT, "wrong", 1), (FLOAT, "right", 0), (FLOAT, "none", 0),
    ):  # fmt: skip
        answers = {id: told | {"outcome": outcome}}
        assert len(provider_faults.unexplained("ort-openvino", answers)) == count, (id, outcome)
        assert len(provider_faults.dropped("OpenVINOExecutionProvider", answers)) == 1
