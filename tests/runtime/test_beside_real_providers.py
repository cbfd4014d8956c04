"""padops beside real providers, each in its environment: right bits, none dropped, and no Pad taken that they run right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import padops
from padops.runtime.provider_rules import BY_NAME

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_cases
import provider_parts
import providers

NAMES = [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in providers.ENVIRONMENTS]
CASES = list(provider_cases.ALL.values())


@pytest.mark.parametrize("name", NAMES)
def test_beside(name: str) -> None:
    """The rules say what the stock session does, and padops beside the provider is right."""
    provider = providers.ENVIRONMENTS[name]["provider"]
    asked = [case for case in CASES if (provider, case.name) not in providers.UNHELPED]
    stock = providers.ask(name, "stock", asked)
    for way in ("name", *(["device"] if provider == provider_cases.QNN else [])):
        assert providers.faults(provider, stock, providers.ask(name, way, asked)) == []
    assert sum(answer["outcome"] != "right" for answer in stock.values()) >= 2
    for case in asked:
        (pad,) = padops.inspect(provider_cases.model_of(case), providers=[provider, "CPUExecutionProvider"]).pads
        outcome, own = stock[case.name]["outcome"], providers.who(stock[case.name], provider) == provider
        if not case.given and pad.verdict != "may be wrong":  # else the verdict is what may happen
            assert (outcome, own) in allowed(pad.verdict, pad.runner == provider), (case.name, pad.verdict, pad.why)


@pytest.mark.parametrize("name", NAMES)
def test_lowered(name: str) -> None:
    """A model that was lowered for the provider is right in a stock session, and all of its nodes run on the provider."""
    provider = providers.ENVIRONMENTS[name]["provider"]
    asked = [case for case in CASES if (provider, case.name) not in providers.UNHELPED]
    answers = providers.ask(name, "lowered", asked)
    assert providers.lowered_faults(provider, answers) == []
    assert len(answers) >= 37


@pytest.mark.parametrize("name", NAMES)
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
            rule for rule in BY_NAME[provider].rules if rule.when == "other types" and type_name not in rule.types
        ]
        assert (told == "on it") == (not refused) or type_name in lacking, (type_name, told)
    backward, gather = "Slice, from within backward", "Gather"
    said = provider_parts.ask(name, {what: provider_parts.OTHERS[what] for what in (backward, gather)}, ("float",))
    wrong = {provider_cases.WEBGPU: {backward: "wrong"}, provider_cases.QNN: {gather: "refused"}}
    assert said == {(what, "float"): wrong.get(provider, {}).get(what, "on it") for what in (backward, gather)}


def allowed(verdict: str, own: bool) -> list[tuple[str, bool]]:
    """The outcomes, and whether the provider ran the Pad, that do not contradict a verdict."""
    if verdict in ("runs", "runs if"):
        return [("right", own)]
    return [("wrong", True)] if verdict == "wrong" else [("refused", False), ("dead", False)]


def test_measured_providers_have_environments() -> None:
    measured = {name for name, row in BY_NAME.items() if row.version != "not run"}
    assert measured == {about["provider"] for about in providers.ENVIRONMENTS.values()}
