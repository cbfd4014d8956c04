"""``padops verify`` and ``padops convert --verify`` give the same exit code for whatever a verification finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from command_lines import run
from small_models import one_pad

from padops.convert.records import Outcome, OutputComparison, ProofRecord, RegionRecord, Verification

REGION = RegionRecord("y", ("Pad",), ("Slice",), "unknown", why="no rule knows it")
OUTCOMES = get_args(Outcome)[1:]  # "proved" is of a proof alone


def answers() -> Iterator[Verification]:
    for outcome in OUTCOMES:
        for verdict in ("proved", "unknown", "different"):
            output = OutputComparison("y", outcome not in ("different", "close"), "1 of 2 elements")
            yield Verification(outcome, (output,), notes=("so it was",), proof=ProofRecord(verdict, (REGION,)))


@pytest.mark.parametrize("strict", [False, True])
def test_both_commands_answer_by_one_rule(
    strict: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    source.write_bytes(one_pad(13).SerializeToString())
    answer = list[Verification]()
    for module in ("verify.choice", "pipeline"):
        monkeypatch.setattr(f"padops.convert.{module}.comparison", lambda *given: lambda *paths: answer[-1])
    more = ["--strict"] * strict
    for found in answers():
        answer.append(found)
        code = run(capsys, "verify", source, source, *more)[0]
        assert code == run(capsys, "convert", source, "-o", out, "--verify", *more)[0], found.to_json()
        if strict:
            expected = 4 if found.refuted else 0 if found.verdict == "proved" else 5
        else:
            expected = {"proved": 0, "tested": 0, "different": 4, "unknown": 5}[found.verdict]
        assert code == expected, found.to_json()
        written = code == 0 or (code == 5 and not strict and found.outcome not in ("undecided", "not run"))
        assert out.exists() == written, found.to_json()
        out.unlink(missing_ok=True)
