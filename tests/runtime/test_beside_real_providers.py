"""padops beside real providers, each in its environment: right bits, no provider dropped, no good Pad taken."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from onnx import parser

import padops

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_cases
import providers

# What docs/fixing.md says that the stock sessions say, and the cases that provoke it.
SAID = {
    "Unsupported padding mode: [wrap]": ("ort-openvino", "wrap 19"),
    "length of pads_begin mismatches with rank of input": ("ort-openvino", "constant axes"),
    "REFLECT padding mode requires that 'pads_begin[D]' and 'pads_end[D]' must be not "
    "greater than 'data_shape[D] - 1'": ("ort-openvino", "reflect beyond n - 1"),
    "Scalar value can't be derived from a node with [2]": ("ort-openvino", "edge, fill of 2"),
    "Value tensor should be a 1D tensor of size 1": ("ort-webgpu", "edge, fill of 2"),
    "number of element of uniform variable must be greater than 0": ("ort-webgpu", "constant rank 0"),
    "Unexpected mode of 3": ("ort-webgpu", "wrap of nothing"),
    "indices element out of data bounds": ("ort-webgpu", "constant axes among Convs"),
    "Failed to finalize QNN graph. Error: QNN_COMMON_ERROR_MEM_ALLOC": ("ort-qnn", "edge 13"),
    "Failed to compose Qnn graph": ("ort-qnn", "constant of nothing"),
    "Pad reflect: pre-pad (25) exceeds maximum allowed (19) for axis 2": ("ort-qnn", "reflect beyond n - 1"),
}
NAMES = [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in providers.ENVIRONMENTS]
# A quarter of the cases beside a provider, another one lowered for it; ``scripts/providers.py`` runs all in each way.
CASES, LOWERED = ([*provider_cases.ALL.values()][first::4] for first in (0, 1))


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
    """A model lowered for the provider is right in a stock session, and all its nodes run on the provider."""
    provider = providers.ENVIRONMENTS[name]["provider"]
    asked = [case for case in LOWERED if (provider, case.name) not in providers.UNHELPED]
    answers = providers.ask(name, "lowered", asked)
    assert providers.lowered_faults(provider, answers) == []
    assert len(answers) >= 12


@pytest.mark.needs_environment("ort-qnn")
def test_lowered_of_five_dims() -> None:
    """QNN dies of them, but not of the Reshapes between which the Pad has four."""
    shape, given = (2, 3, 2, 4, 3), "int64[2] flat = {6, 24}, int64[5] deep = {2, 3, 2, 4, 3}, int64[2] out = {6, -1}"
    lines = {}
    for mode in ("constant", "edge", "reflect", "wrap"):
        for amounts in ((0, 0, 1, 1, 1), (1, 1, 1, 1, 1), (0, 1, 0, 1, 0)):
            pads = f"int64[10] p = {{{', '.join(map(str, amounts * 2))}}}"
            model = parser.parse_model(
                '<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3, 2, 4, 3] x) => '
                f"(float[m, n] y) <{given}, {pads}> "
                f'{{ a = Reshape (x, flat) b = Relu (a) c = Reshape (b, deep) d = Pad <mode = "{mode}"> (c, p) '
                "e = Reshape (d, out) y = Relu (e) }"
            )
            case = provider_cases.Case(f"{mode} {amounts}", mode, shape, amounts * 2, 21)
            expected = provider_cases.expected_of(case).reshape(6, -1).tolist()
            low = padops.lower(model, provider="qnn").proto().SerializeToString()
            lines[case.name] = provider_cases.as_line(case, low, expected)
    for name, answer in providers.ask_lines("ort-qnn", "stock", lines).items():
        assert (answer["outcome"], providers.elsewhere(answer, provider_cases.QNN)) == ("right", {}), (name, answer)


def allowed(verdict: str, own: bool) -> list[tuple[str, bool]]:
    """The outcomes, and whether the provider ran the Pad, that do not contradict a verdict."""
    if verdict in ("runs", "runs if"):
        return [("right", own)]
    return [("wrong", True)] if verdict == "wrong" else [("refused", False), ("dead", False)]


@pytest.mark.parametrize("name", NAMES)
def test_words(name: str) -> None:
    provoked = {text: case for text, (environment, case) in SAID.items() if environment == name}
    answers = providers.ask(name, "stock", [provider_cases.ALL[case] for case in provoked.values()])
    assert [text for text, case in provoked.items() if text not in answers[case]["why"]] == []


def test_the_page_has_the_words() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "fixing.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"\| a provider says .*?\n\|[-|]+\n((?:\|.*\n)+)", text)
    assert [re.match(r"\| `(.*?)` *\|", row)[1] for row in first.splitlines()] == list(SAID)
