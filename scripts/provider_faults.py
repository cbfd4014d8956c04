"""Finds faults in the answers of ``providers.ask_suite``, which runs the suite's cases on an execution provider."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the tests call this as a module
import providers
from provider_cases import OPENVINO, QNN, WEBGPU

# Known divergences of OpenVINO's provider that depend on the data, which inspect does not have.
OF_DATA = ("ort-openvino-int64", "ort-openvino-float16-nan")

# The suite's name for an outcome.
OUTCOMES = {"wrong": "differ", "refused": "error", "dead": "crash"}


def faults(provider: str, stock: "dict[str, dict]", beside: "dict[str, dict]") -> "tuple[list[str], list[str]]":
    """Return, in words, the Pads that padops claims needlessly, and the stock outcomes that contradict inspect.

    Cases that break a rule are skipped.
    """
    taken, contradicted = [], []
    for id, answer in stock.items():
        verdict, own = answer["verdict"], providers.who(answer, provider) == provider
        wants_error = verdict == "breaks a rule" or answer.get("expected") == "error"
        if wants_error or answer["outcome"] == "unknown" or _is_open(provider, answer):
            continue
        other = providers.who(beside[id], provider)
        if answer["outcome"] == "right" and own and other and other != provider and verdict != "may be wrong":
            taken.append(f"{id}: {other} took a Pad that {provider} runs correctly: {answer['why']}")
        about = own or provider in answer["why"]  # else the verdict is about the CPU's provider
        if provider == OPENVINO and answer["outcome"] == "wrong" and _depends_on_data(id, answer["detail"]):
            continue
        if about and (answer["outcome"], own) not in allowed(verdict, answer["runner"] == provider):
            did = (
                f"{answer['outcome']}, on {providers.who(answer, provider) or 'none'}: "
                f"{answer.get('said') or answer.get('detail')}"
            )
            contradicted.append(f"{id}: inspect says {verdict} ({answer['why']}), and it is {did}")
    return taken, contradicted


def _depends_on_data(id: str, said: str) -> bool:
    """Return whether a wrong result is known to depend on the data."""
    return _is_known(lambda row: row.id in OF_DATA, id, "differ", said)


def _is_known(chosen: "Callable[[Any], bool]", id: str, outcome: str, said: str) -> bool:
    """Return whether a chosen known divergence explains a case's outcome."""
    import peers

    from padops.conformance import cases
    from padops.conformance.divergences import KNOWN, add_peers
    from padops.conformance.features import Prepared

    add_peers(peers.ISOLATED)
    item = Prepared.of(cases.find_case(id))
    return any(row.matches(item) and outcome in row.outcomes and row.says in said for row in filter(chosen, KNOWN))


def _is_open(provider: str, answer: "dict[str, Any]") -> bool:
    """Return whether the outcome depends on a fact outside the rules.

    Below opset 7, WebGPU and QNN claim nothing. SwiftShader has no float16. QNN claims a double that another node
    computes, and is sometimes wrong for float16 edge. Both may ignore data without elements.
    """
    unsure = {WEBGPU: ("float16",), QNN: ("double", "float16")}.get(provider, ())
    return answer["is_empty"] or provider != OPENVINO and answer["opset"] < 7 or answer["dtype"] in unsure


def allowed(verdict: str, own: bool) -> "list[tuple[str, bool]]":
    """Return the pairs (outcome, the provider ran the Pad) that fit a verdict; ``own``: inspect names the provider."""
    if verdict in ("runs", "runs if"):
        return [("right", own)]
    if verdict == "wrong":
        return [("wrong", True)]
    if verdict == "refuses":  # a provider that does not refuse is wrong
        return [(outcome, ran) for outcome in ("refused", "dead", "none", "wrong") for ran in (True, False)]
    return [(outcome, ran) for outcome in ("right", "wrong", "refused", "dead", "none") for ran in (True, False)]


def unexplained(name: str, beside: "dict[str, dict]") -> "list[str]":
    """Return, in words, wrong results with padops beside a provider, unless a known divergence of its peer explains
    them.

    Args:
        name: The environment's name.
        beside: The answers.
    """
    peer = name.replace("ort-", "padops-beside-")
    found = []
    for id, answer in beside.items():
        if answer["outcome"] not in OUTCOMES:
            continue
        said = answer.get("said") or answer.get("detail") or ""
        if not _is_known(lambda row: row.peer == peer, id, OUTCOMES[answer["outcome"]], said):
            found.append(f"{id}: {answer['outcome']}: {said or answer['why']}")
    return found


def dropped(provider: str, beside: "dict[str, dict]") -> "list[str]":
    """Returns sessions that were created without the provider."""
    return [
        f"{id}: {provider} has been dropped"
        for id, answer in beside.items()
        if provider not in answer.get("providers", [provider])
    ]
