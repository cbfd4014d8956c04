"""A sample of the suite on real execution providers: inspect's verdict on each case, and what padops takes beside them.

``tests/long/long_providers.py`` has all cases.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from padops.conformance import cases

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_cases
import provider_faults
import providers

NAMES = ("ort-openvino", "ort-webgpu", "ort-qnn")
STEP = 90


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in NAMES])
def test_sample(name: str) -> None:
    """No contradiction, no Pad that the provider runs right, no provider that is dropped, and the right bits."""
    provider = providers.provider_of(name)
    ids = [case.id for case in cases.collect("quick") if case.op.startswith("Pad_")][::STEP]
    stock = providers.ask_suite(name, "stock", ids)
    for way in ("name", *(["device"] if provider == provider_cases.QNN else [])):
        beside = providers.ask_suite(name, way, ids)
        assert provider_faults.faults(provider, stock, beside) == ([], [])
        assert provider_faults.unexplained(name, beside) == provider_faults.dropped(provider, beside) == []
    outcomes = Counter(answer["outcome"] for answer in stock.values())
    assert outcomes["right"] > len(ids) / 4 and outcomes["refused"], outcomes
    assert sum(providers.who(answer, provider) == provider for answer in stock.values()) > 1
