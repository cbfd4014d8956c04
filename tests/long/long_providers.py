"""Runs all cases of the suite on real execution providers: inspect is right, bits agree, padops takes no good Pad."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from padops.conformance import cases
from padops.runtime.provider_rules import BY_NAME

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_cases
import provider_faults
import provider_parts
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


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in providers.ENVIRONMENTS]
)
def test_parts(name: str) -> None:
    """The types of the operators that a Pad becomes for the provider; and why it becomes no others."""
    provider = providers.ENVIRONMENTS[name]["provider"]
    answers = provider_parts.ask(name, provider_parts.MOVING, provider_parts.TYPES)
    # The Vulkan in software that WebGPU has here lacks float16.
    lacking = {"float16"} if provider == provider_cases.WEBGPU else set()
    assert provider_parts.moved(answers) == {*BY_NAME[provider].moves} - lacking
    for (_, type_name), told in provider_parts.ask(
        name, {"Pad": provider_parts.OTHERS["Pad"]}, provider_parts.TYPES
    ).items():
        refused = [
            rule
            for rule in BY_NAME[provider].rules
            if rule.when == "other types" and not rule.modes and type_name not in rule.types
        ]
        # OpenVINO has int64, in 32 bits.
        own = told == "on it" or (provider, type_name, told) == (provider_cases.OPENVINO, "int64", "wrong")
        assert own == (not refused) or type_name in lacking, (type_name, told)
    backward, gather = "Slice, from within backward", "Gather"
    said = provider_parts.ask(name, {what: provider_parts.OTHERS[what] for what in (backward, gather)}, ("float",))
    wrong = {provider_cases.WEBGPU: {backward: "wrong"}, provider_cases.QNN: {gather: "refused"}}
    assert said == {(what, "float"): wrong.get(provider, {}).get(what, "on it") for what in (backward, gather)}
