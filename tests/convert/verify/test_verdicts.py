"""What a verification answers: proved, tested, different or unknown; and what needs a run for that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
import written_models
from command_lines import run
from onnx import helper
from small_models import model, one_pad, pad, tensor

import padops
from padops.convert import OutputComparison, UndecidedError, UsageError, VerificationError
from padops.convert.records import ProofRecord, RegionRecord, Verification
from padops.convert.rewrite import TARGETS
from padops.convert.verify import choice

PADS = tensor("pads", [0, 1, 0, 1])
NODE = helper.make_node
X = np.array([[0, 1, 2], [3, 4, 5]], np.float32)


def test_what_is_asked_for_is_run() -> None:
    """``run``, and inputs that are given; it is proved all the same."""
    source = one_pad(13)
    for asked in ({"run": True}, {"inputs": {"x": np.ones((2, 3), np.float32)}}):
        for verification in (
            padops.verify(source, source, **asked),
            padops.convert(source, verify=True, **asked).verification,
        ):
            assert verification is not None
            assert (verification.verdict, verification.outcome) == ("proved", "equal")
            assert verification.outputs and verification.inputs
    with pytest.raises(UsageError, match="run needs verify=True"):
        padops.convert(source, run=True)
    with pytest.raises(UsageError, match="run is 1, expected True or False"):
        padops.verify(source, source, run=1)  # type: ignore[arg-type]


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A converter that gets the mode wrong."""
    real = TARGETS["padops"]

    def emit(replacement: Any, found: Any, constants: Any, types: Any) -> None:
        real(replacement, found, constants, types)
        found.node.attributes["mode"] = ir.AttrString("mode", "edge")

    monkeypatch.setitem(TARGETS, "padops", emit)


def test_a_wrong_conversion_is_not_proved_and_a_run_shows_it(wrong: None, tmp_path: Path) -> None:
    source = model([pad(mode="reflect", name="pad")], tensors=[PADS])
    with pytest.raises(VerificationError) as caught:
        padops.convert(source, tmp_path / "out.onnx", verify=True, inputs={"x": X})
    text = "4 of 10 elements, first at [0, 0]: 1.0 became 0.0; largest difference 1"
    assert str(caught.value) == f"1 output differs; y: {text}"
    verification = caught.value.conversion.verification
    assert (verification.verdict, verification.outcome) == ("different", "different")
    assert verification.outputs == (OutputComparison("y", False, text),)
    assert verification.proof.verdict != "proved" and verification.unproved[0].startswith("y is not proved: ")
    assert not list(tmp_path.iterdir())


def test_a_node_that_an_original_lacks_is_not_proved() -> None:
    """What differs in the bits of NaN alone, or fails where nothing needs it."""
    nodes = [pad(output="p"), NODE("Relu", ["p"], ["y"])]
    for more in (NODE("Neg", ["p"], ["q"]), NODE("Reshape", ["p", "pads"], ["q"])):
        verification = padops.verify(model(nodes, tensors=[PADS]), model([*nodes, more], tensors=[PADS]))
        expected = "proved" if more.op_type == "Neg" else "different"
        assert verification.verdict == expected


REGION = RegionRecord("y", ("Pad",), ("Slice",), "unknown", why="no rule knows it")
PROOFS: dict[str | None, ProofRecord | None] = {
    "proved": ProofRecord("proved"),
    "different": ProofRecord("different", (REGION,)),
    "unknown": ProofRecord("unknown", (REGION,)),
}


ANSWERS = {  # by outcome: the verdict beside a proof, a suspicion, nothing proved, and no proof at all
    **dict.fromkeys(("equal", "close", "corrected"), ("proved", "unknown", "tested", "tested")),
    "same": ("tested", "unknown", "tested", "tested"),
    **dict.fromkeys(("different", "fails"), ("different",) * 4),
    **dict.fromkeys(("runs", "undecided"), ("proved", "unknown", "unknown", "unknown")),
}


def test_the_answer() -> None:
    for outcome, verdicts in ANSWERS.items():
        for proof, verdict in zip((*PROOFS, None), verdicts, strict=True):
            found = Verification(outcome, notes=("so it was",), proof=PROOFS.get(proof))
            assert found.verdict == found.to_json()["verdict"] == verdict, (outcome, proof)
            assert (found.passed, found.refuted) == (verdict in ("proved", "tested"), verdict == "different")


def test_strict_takes_a_proof_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choice, "prove", lambda *given, **more: PROOFS["unknown"])
    assert padops.convert(one_pad(13), verify=True).verification.verdict == "tested"
    with pytest.raises(UndecidedError, match="padops could not decide whether .*: y is not proved: no rule knows it"):
        padops.convert(one_pad(13), tmp_path / "out.onnx", verify=True, strict=True)
    assert not list(tmp_path.iterdir())


def test_all_of_it_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The command prints what Python and the report of a conversion have."""
    source, out, report = tmp_path / "m.onnx", tmp_path / "out.onnx", tmp_path / "r.json"
    source.write_bytes(one_pad(13).SerializeToString())
    options = ("--verify", "--target", "onnx", "--without-pad", "--report", report)
    assert run(capsys, "convert", source, out, *options)[0] == 0
    told = json.loads(run(capsys, "verify", source, out, "--json")[1])
    assert {told.pop("schema")} == {padops.convert.records.SCHEMA} and told.pop("versions")["onnx"] == onnx.__version__
    assert [told.pop(name) for name in ("original", "converted", "exit")] == [str(source), str(out), 0]
    assert told == json.loads(json.dumps(padops.verify(source, out).to_json()))
    assert told == json.loads(report.read_text())["verification"]
    assert set(told) == {
        "verdict", "outcome", "passed", "outputs", "inputs", "notes", "pads", "proof", "doubts", "unproved"
    }  # fmt: skip
    assert told["verdict"] == "proved" and told["proof"]["counts"]["proved"] == len(told["proof"]["regions"]) == 1
    (region,) = told["proof"]["regions"]
    assert (region["name"], region["original"], region["verdict"]) == ("y", ["Pad"], "proved")
    assert region["rule"] and region["holds_for"] and region["why"] == "" and region["counterexample"] is None


def test_what_an_operator_gives_that_is_not_followed_may_be_equal() -> None:
    """A mean of one element is that element: a region that cannot tell leaves it to the runs."""
    one = "(float[n, 1] x) => (float[n, 1, 1] y) { a = Constant<value_ints: ints = [1]>() s = Sigmoid(x) "
    first = written_models.model(one + "m = ReduceMean<keepdims = 1>(s, a) y = Unsqueeze(m, a) }")
    second = written_models.model(one + "y = Unsqueeze(s, a) }")
    assert padops.verify(first, second).verdict == "tested"
