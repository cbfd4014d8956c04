"""Runs all cases of the suite on real execution providers: inspect is right, bits agree, padops takes no good Pad."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from padops.conformance import cases

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_faults
import providers

# OpenVINO's and WebGPU's providers are built in, and no devices.
WAYS = {"ort-openvino": ("name",), "ort-webgpu": ("name",), "ort-qnn": ("name", "device")}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in WAYS])
def test_suite(name: str, tally) -> None:
    provider = providers.provider_of(name)
    ids = [case.id for case in cases.collect("default") if case.op.startswith("Pad_")]
    stock = providers.ask_suite(name, "stock", ids)
    found = []
    for way in WAYS[name]:
        beside = providers.ask_suite(name, way, ids)
        for faults in (
            *provider_faults.faults(provider, stock, beside),
            provider_faults.unexplained(name, beside),
            provider_faults.dropped(provider, beside),
        ):
            found += [f"by {way}: {fault}" for fault in faults]
    print(*found, sep="\n")
    assert found == []
    what = (
        f"cases of the conformance suite on {name}, by {' and by '.join(WAYS[name])}: "
        "the bits with padops beside it, no Pad taken "
        "that it runs right, no provider dropped, and what inspect says that it does"
    )
    tally(what, len(ids) * len(WAYS[name]), len(found))
