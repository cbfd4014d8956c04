"""A refusal is a stated kind of answer: an exception of another kind is a fault, and agrees with nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from document_blocks import ROOT, blocks

from padops.cli import main
from padops.conformance import cases, record, runner
from padops.conformance.features import BEYOND
from padops.conformance.peers import PEERS

QUICK = cases.collect("quick")
ITEMS = [*map(runner.Prepared.of, QUICK)]
ERRORS = [item.case for item in ITEMS if item.packed is None][::20]
RIGHT = [item.case for item in ITEMS if item.packed is not None and item.of_class != BEYOND][::90]


def results(folder: Path, text: str, chosen: list = ERRORS) -> list[dict]:
    (folder / "own.py").write_text(text)
    (ran,) = runner.run_cases(chosen, [runner.parse_peer(f"{folder}/own.py:pad")], ())
    assert ran.absent is None, ran.absent
    return ran.results


FAILING = "REFUSALS = {}\n\ndef pad(op, attributes, inputs):\n    raise {}('of its own')\n"


@pytest.mark.parametrize(
    ("stated", "raised", "outcome"),
    [
        ("()", "TypeError", "error"),
        ("(ValueError,)", "TypeError", "error"),
        ("()", "ValueError", "error"),
        ("(ValueError,)", "ValueError", "agree"),
        ("ArithmeticError", "ZeroDivisionError", "agree"),  # a type alone, and a kind of it
        ("(TypeError,)", "NotImplementedError", "unsupported"),
    ],
)
def test_only_what_a_peer_states_is_its_refusal(stated: str, raised: str, outcome: str, tmp_path: Path) -> None:
    """Such a peer gets no case right that has an output, whatever it states."""
    assert len(ERRORS) > 20 and len(RIGHT) > 10
    found = results(tmp_path, FAILING.format(stated, raised), [*ERRORS, *RIGHT])
    expected = [outcome] * len(ERRORS) + ["error" if outcome == "agree" else outcome] * len(RIGHT)
    assert [result["outcome"] for result in found] == expected
    if outcome == "error":
        assert {result["detail"] for result in found} == {f"{raised}: of its own"}


def test_a_statement_that_names_no_exceptions(tmp_path: Path) -> None:
    for stated, shown in (("(1,)", "1"), ("(SystemExit,)", "SystemExit")):
        (tmp_path / "own.py").write_text(FAILING.format(stated, "ValueError"))
        (ran,) = runner.run_cases(ERRORS[:1], [runner.parse_peer(f"{tmp_path}/own.py:pad")], ())
        assert re.search(rf"TypeError: REFUSALS has .*{re.escape(shown)}.*, expected types of exceptions", ran.absent)


def test_every_peer_states_its_refusals() -> None:
    files = {row.file for row in PEERS.values() if not row.command}
    assert len(files) > 14
    for module in files:
        text = module.read_text(encoding="utf-8")
        assigned = re.findall(r"^REFUSALS = \((.+)\)", text, re.M)
        assert len(assigned) + len(re.findall(r"^from .* import .*\bREFUSALS\b", text, re.M)) == 1, module
        assert not {"Exception", "BaseException", "TypeError"} & {*" ".join(assigned).replace(",", " ").split()}, module


def test_an_error_of_numpy_is_no_refusal_of_onnxruntime() -> None:
    """onnxruntime gives an output that NumPy has no array of: a wrong answer, not an error of onnxruntime."""
    case = cases.find_case("table/Pad_2/edge/double/3/huge/empty/value/absent.flat/dynamic/0")
    (ran,) = runner.run_cases([case], [runner.parse_peer("ort-builtin")], ())
    assert [result["outcome"] for result in ran.results] == ["error"]
    assert ran.results[0]["detail"].startswith("ValueError: array is too big")


def test_the_example_of_the_page_is_a_peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "conformance.md"
    (example,) = [block for block in blocks(page) if block.language == "python"]
    (command,) = re.findall(r"`padops (conformance .*mine\.py[^`]*)`", page.read_text(encoding="utf-8"))
    (tmp_path / "mine.py").write_text(example.code)
    monkeypatch.chdir(tmp_path)
    chosen = [case for case in QUICK if case.op in ("Pad_11", "Pad_13", "Pad_18")]
    monkeypatch.setattr(cases, "collect", lambda *given: chosen)
    assert main(command.split()) == 0
    ran = [result for result in record.read("report/conformance.jsonl").results if result["outcome"] != "unsupported"]
    assert {(result["outcome"], result["op"]) for result in ran} == {("agree", "Pad_11"), ("agree", "Pad_13")}
    prepared = [runner.Prepared.of(cases.find_case(result["case"])) for result in ran]
    refused = sum(item.packed is None for item in prepared)
    assert refused > 5 and len(prepared) - refused > 20
