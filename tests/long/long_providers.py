"""All cases of the conformance suite on real execution providers: what inspect says of each, and what padops takes beside them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from padops.conformance import cases

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import providers

# QNN's emulated HTP takes a third of a second for a case.
STEPS = {"ort-openvino": 1, "ort-webgpu": 1, "ort-qnn": 4}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in STEPS])
def test_suite(name: str, tally) -> None:
    ids = [case.id for case in cases.collect("default") if case.op.startswith("Pad_")][:: STEPS[name]]
    stock, beside = (providers.ask_suite(name, way, ids) for way in ("stock", "name"))
    taken, contradicted = providers.suite_faults(providers.provider_of(name), stock, beside)
    print(*taken, *contradicted, sep="\n")
    what = f"cases of the conformance suite on {name}: what inspect says of each, and no Pad taken that the provider runs right"
    tally(what, len(ids), len(taken) + len(contradicted))
