"""padops beside real providers, each in its environment: right bits, no provider dropped, no good Pad taken."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from onnx import parser

import padops
from padops.runtime.provider_rules import BY_NAME

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
# Half of the cases beside a provider, and the other half lowered for it; ``scripts/providers.py`` runs all in each way.
CASES, LOWERED = ([*provider_cases.ALL.values()][first::2] for first in (0, 1))


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
    assert len(answers) >= 25


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


@pytest.mark.needs_environment("ort-qnn")
def test_ranks_of_qnn() -> None:
    """The rules tell which Pads QNN runs at each rank; they stand among 2-D nodes, since a 5-D Relu kills QNN."""
    models, lines, left = {}, {}, 0
    for rank in (4, 5, 6, 7, 8):
        for mode in ("constant", "edge", "reflect", "wrap"):
            shape = (1,) * (rank - 4) + (2, 3, 4, 3)
            amounts = (0,) * (rank - 2) + (1, 1)
            values = {"flat": (6, 12), "deep": shape, "out": (6, -1), "p": amounts * 2}
            given = ", ".join(f"int64[{len(row)}] {name} = {{{str(row)[1:-1]}}}" for name, row in values.items())
            model = parser.parse_model(
                f'<ir_version: 10, opset_import: ["" : 21]> g (float[{str(shape)[1:-1]}] x) => '
                f"(float[m, n] y) <{given}> "
                f'{{ a = Reshape (x, flat) b = Relu (a) c = Reshape (b, deep) d = Pad <mode = "{mode}"> (c, p) '
                "e = Reshape (d, out) y = Relu (e) }"
            ).SerializeToString()
            case = provider_cases.Case(f"{mode} {rank}", mode, shape, amounts * 2, 21)
            models[case.name] = model
            expected = provider_cases.expected_of(case).reshape(6, -1).tolist()
            lines[case.name] = provider_cases.as_line(case, model, expected)
    for name, answer in providers.ask_lines("ort-qnn", "stock", lines).items():
        (pad,) = padops.inspect(models[name], providers=[provider_cases.QNN, "CPUExecutionProvider"]).pads
        who = providers.who(answer, provider_cases.QNN)
        if pad.runner == "PadopsFirstExecutionProvider":
            assert (answer["outcome"], name) in {
                ("refused", "constant 5"),
                ("refused", "edge 4"),
                ("right", "edge 5"),  # another node of five dims would kill QNN
                ("right", "reflect 5"),
            }
        else:
            left += pad.runner != provider_cases.QNN
            assert (answer["outcome"], who == provider_cases.QNN) == ("right", pad.runner == provider_cases.QNN), name
    assert left == 14
    assert {answer["outcome"] for answer in providers.ask_lines("ort-qnn", "name", lines).values()} == {"right"}


def allowed(verdict: str, own: bool) -> list[tuple[str, bool]]:
    """The outcomes, and whether the provider ran the Pad, that do not contradict a verdict."""
    if verdict in ("runs", "runs if"):
        return [("right", own)]
    return [("wrong", True)] if verdict == "wrong" else [("refused", False), ("dead", False)]


def test_measured_providers_have_environments() -> None:
    measured = {name for name, row in BY_NAME.items() if any("providers.py" in rule.source for rule in row.rules)}
    assert measured == {about["provider"] for about in providers.ENVIRONMENTS.values()}


@pytest.mark.parametrize("name", NAMES)
def test_words(name: str) -> None:
    provoked = {text: case for text, (environment, case) in SAID.items() if environment == name}
    answers = providers.ask(name, "stock", [provider_cases.ALL[case] for case in provoked.values()])
    assert [text for text, case in provoked.items() if text not in answers[case]["why"]] == []


def test_the_page_has_the_words() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "fixing.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"\| a provider says .*?\n\|[-|]+\n((?:\|.*\n)+)", text)
    assert [re.match(r"\| `(.*?)` *\|", row)[1] for row in first.splitlines()] == list(SAID)
