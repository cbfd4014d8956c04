"""Real networks on real execution providers: a lowered network is right, and what lowering wrote runs there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_networks
import providers

# QNN's emulated HTP finalizes next to none of them.
NAMES = [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in ("ort-openvino", "ort-webgpu")]


@pytest.mark.parametrize("name", NAMES)
def test_networks(name: str, tally) -> None:
    provider = providers.provider_of(name)
    told = provider_networks.ask(name)
    found = provider_networks.faults(provider, told)
    print(*found, sep="\n")
    print(provider_networks.table(told))
    lowered = [ways["lowered"] for ways in told.values()]
    ran = [one for one in lowered if one["outcome"] == "right"]
    assert len(ran) >= 5, [one["why"][:200] for one in lowered]
    left_out = sum(one["outcome"] == "late" or provider_networks.is_refused_anyway(one) for one in lowered)
    what = (
        f"real networks that {name} takes, lowered for it: as right as stock, and what lowering wrote runs there; "
        "with padops beside it, too"
    )
    tally(what, len(lowered) - left_out, len(found))
