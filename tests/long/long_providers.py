"""padops beside real providers on each onnxruntime that has such a build; and what their own operators can do."""

from __future__ import annotations

import provider_cases
import provider_parts
import providers
import pytest
from conftest import Tally

from padops.runtime.provider_rules import BY_NAME

QNN = "onnxruntime-qnn==2.7.0"
TOLD_NOT, SAID = "onnxruntime==1.24.4", "does not report which providers these options have"  # an error names the way
# The newest build of OpenVINO's is 1.24.1, the first release with providers in libraries; onnxruntime-qnn 2.3.0 makes
# no session with onnxruntime 1.32.
RELEASES = [
    *(("ort-webgpu", f"onnxruntime-webgpu=={release}") for release in ("1.25.0", "1.25.1", "1.27.0")),
    ("ort-openvino", "onnxruntime-openvino==1.24.1"),
    *(
        ("ort-qnn", f"onnxruntime=={release}", QNN)
        for release in ("1.24.4", "1.25.1", "1.26.0", "1.27.0", "1.30.0", "1.31.1", "1.32.0")
    ),
    *(("ort-qnn", "onnxruntime==1.32.0", f"onnxruntime-qnn=={release}") for release in ("2.4.0", "2.5.0", "2.6.0")),
]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: " ".join(release[1:]))
def test_release(release: tuple[str, ...], tally: Tally) -> None:
    """All models of scripts/provider_cases.py."""
    name, *packages = release
    made = providers.with_packages(name, tuple(packages))
    provider = providers.provider_of(made)
    asked = [case for case in provider_cases.ALL.values() if (provider, case.name) not in providers.UNHELPED]
    stock = providers.ask(made, "stock", asked)
    found, ways = [], ("name", "device") if provider == provider_cases.QNN and TOLD_NOT not in packages else ("name",)
    if TOLD_NOT in packages:
        answers = providers.ask(made, "device", asked)
        found += [f"by device: {case}" for case, answer in answers.items() if SAID not in answer.get("why", "")]
    for way in ways:
        faults = providers.faults(provider, stock, providers.ask(made, way, asked))
        found += [f"by {way}: {fault}" for fault in faults]
    right = sum(answer["outcome"] == "right" for answer in stock.values())
    print(f"{right} of {len(asked)} right without padops", *found, sep="\n")
    assert 0 < right < len(asked)
    what = "right beside padops, none dropped, no Pad taken needlessly"
    where = f"{provider} of {' with '.join(packages)}"
    tally(f"models Relu-Pad-Relu on {where}: {what}", len(asked) * len(ways), len(found))


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
    types = [rule.types for rule in BY_NAME[provider].rules if rule.when == "other types" and not rule.modes]
    pads = provider_parts.ask(name, {"Pad": provider_parts.OTHERS["Pad"]}, provider_parts.TYPES)
    for (_, type_name), told in pads.items():
        refused = any(type_name not in taken for taken in types)
        # OpenVINO has int64, in 32 bits.
        own = told == "on it" or (provider, type_name, told) == (provider_cases.OPENVINO, "int64", "wrong")
        assert own == (not refused) or type_name in lacking, (type_name, told)
    backward, gather = "Slice, from within backward", "Gather"
    said = provider_parts.ask(name, {what: provider_parts.OTHERS[what] for what in (backward, gather)}, ("float",))
    wrong = {provider_cases.WEBGPU: {backward: "wrong"}, provider_cases.QNN: {gather: "refused"}}
    assert said == {(what, "float"): wrong.get(provider, {}).get(what, "on it") for what in (backward, gather)}
