"""What a verification compares, how far outputs may differ, what callers notice, and its answers and exit codes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, get_args
from unittest.mock import Mock

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from command_lines import run, save
from small_models import FLOAT, INT16, STRING, model, one_pad, pad, tensor
from written_models import half_network
from written_models import model as written

import padops
from padops.convert import OutputComparison, PadopsError, UndecidedError, UsageError, VerificationError
from padops.convert.inputs.given import inputs_of
from padops.convert.inputs.pads import Hints, hints_of
from padops.convert.inputs.random_inputs import random_inputs
from padops.convert.records import Outcome, ProofRecord, RegionRecord, Verification
from padops.convert.rewrite import TARGETS
from padops.convert.verify import choice, rounding, sessions
from padops.convert.verify import compare as verify
from padops.convert.verify.bits import Tolerance, describe_difference
from padops.convert.verify.interface import other_interface
from padops.convert.verify.rounding import Moves
from padops.spec.dtypes import DTYPES, by_name

PADS = tensor("pads", [0, 1, 0, 1])


def reflecting(kind: int = FLOAT, opset: int = 17) -> onnx.ModelProto:
    ends = {"inputs": [("x", kind, [2, 3])], "outputs": [("y", kind, None)]}
    return model([pad(mode="reflect", name="pad")], opset, ir_version=8 if opset < 25 else 13, tensors=[PADS], **ends)


def test_a_converted_model_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def emit(replacement: Any, found: Any, constants: Any, types: Any) -> None:
        found.node.domain, found.node.op_type = "padops", "Pad_0"
        found.scope.root.opset_imports["padops"] = 1

    monkeypatch.setitem(TARGETS, "padops", emit)
    for source in (reflecting(), reflecting(INT16)):
        with pytest.raises(VerificationError, match="the converted model fails: .*Pad_0"):
            padops.convert(source, verify=True, run=True)


def test_every_element_type_goes_in_and_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """One Pad of each type, alone in its model, compared with onnxruntime or with the reference."""
    monkeypatch.setattr(verify, "MANY", 3)
    for dtype in DTYPES:
        verification = padops.convert(reflecting(dtype.onnx, 25), verify=True, run=True).verification
        assert (dtype.name, verification.outcome) == (dtype.name, "equal")
        assert verification.inputs == (f"x: {dtype.name}[2, 3]",) * verify.TURNS


def test_sequences_are_compared() -> None:
    source = written("""(float[2, 3] x) => (seq(float[a, b]) y) <int64[4] pads = {0, 1, 0, 1}> {
        p = Pad (x, pads) y = SequenceConstruct (p, x) }""")
    assert padops.convert(source, verify=True, run=True).verification.outputs == (OutputComparison("y", True),)


def test_both_branches_are_taken() -> None:
    """A single bool alternates, and so does a number that the model compares an input with."""
    choose = """If ({0}) <then_branch = t () => (float[i, j] t{0}) {{ t{0} = Pad <mode = "edge"> (x, p) }},
        else_branch = e () => (float[k, l] e{0}) {{ e{0} = Pad <mode = "reflect"> (x, p) }}>"""
    source = written(f"""(float[2, 3] x, int64 rate, bool flag) => (float[a, b] y, float[c, d] z)
        <int64[4] p = {{0, 1, 0, 1}}, int64 sixteen = {{16000}}> {{
        c = Equal (rate, sixteen) y = {choose.format("c")} z = {choose.format("flag")} }}""")
    conversion = padops.convert(source, verify=True, run=True)
    assert conversion.verification.outcome == "equal"
    assert hints_of(conversion.proto()).special == {"rate": [16000]}
    fed = [next(random_inputs(inputs_of(source), 0, turn, Hints({"rate": [16000]}))) for turn in range(2)]
    assert [(int(f["rate"]), bool(f["flag"])) for f in fed] == [(16000, True), (9, False)]


def test_given_inputs(tmp_path: Path) -> None:
    x = np.full((2, 3), np.nan, np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    for given in ({"x": x}, tmp_path / "in.npz", str(tmp_path / "in.npz")):
        verification = padops.convert(reflecting(), verify=True, run=True, inputs=given).verification
        assert (verification.outcome, verification.inputs) == ("equal", ("x: float[2, 3]",))
    bits = np.arange(6, dtype=np.uint16).reshape(2, 3)
    assert padops.convert(reflecting(16), verify=True, run=True, inputs={"x": bits}).verification.outcome == "equal"
    text = np.array([["a", "b", "ç"], ["", "e", "f"]])
    assert padops.convert(reflecting(STRING), verify=True, run=True, inputs={"x": text}).verification.outcome == "equal"


def test_given_inputs_that_do_not_fit(unproved: None, tmp_path: Path) -> None:
    """``test_convert_broken_inputs.py`` has others."""
    absent, zeros = tmp_path / "absent.npz", np.zeros((2, 3), np.float32)
    for given, text in (
        ({}, "the inputs lack 'x'; the model takes x: float[2, 3]"),
        ({"x": zeros.astype(np.complex64)}, "input 'x' is complex64, expected float"),
        (absent, f"{absent} does not exist"),
    ):
        with pytest.raises(UsageError) as caught:
            padops.convert(reflecting(), verify=True, run=True, inputs=given)
        assert str(caught.value) == text
    source = reflecting()
    source.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(UndecidedError, match="not run the original with these inputs: .*; nor the converted model: "):
        padops.convert(source, verify=True, run=True, inputs={"x": zeros[None]})


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    missing = Mock(side_effect=FileNotFoundError("libpadops.so is not here"))
    monkeypatch.setattr("padops.runtime.session.register", missing)
    with pytest.raises(PadopsError, match="cannot verify: libpadops.so is not here"):
        padops.convert(reflecting(), tmp_path / "m.onnx", verify=True, run=True)
    assert list(tmp_path.iterdir()) == []


def test_what_is_asked_for_is_run() -> None:
    """``run``, and inputs that are given; it is proved all the same."""
    source = one_pad(13)
    for asked in ({"run": True}, {"inputs": {"x": np.ones((2, 3), np.float32)}}):
        converted = padops.convert(source, verify=True, **asked)
        for verification in (padops.verify(source, source, **asked), converted.verification):
            assert (verification.verdict, verification.outcome) == ("proved", "equal")
            assert verification.outputs and verification.inputs
    with pytest.raises(UsageError, match="run needs verify=True"):
        padops.convert(source, run=True)
    with pytest.raises(UsageError, match="run is 1, expected True or False"):
        padops.verify(source, source, run=1)  # type: ignore[arg-type]


def test_a_wrong_conversion_is_not_proved_and_a_run_shows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = TARGETS["padops"]

    def emit(replacement: Any, found: Any, constants: Any, types: Any) -> None:
        real(replacement, found, constants, types)
        found.node.attributes["mode"] = ir.AttrString("mode", "edge")

    monkeypatch.setitem(TARGETS, "padops", emit)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with pytest.raises(VerificationError) as caught:
        padops.convert(reflecting(), tmp_path / "out.onnx", verify=True, inputs={"x": x})
    text = "4 of 10 elements, first at [0, 0]: 1.0 became 0.0; largest difference 1"
    assert str(caught.value) == f"1 output differs; y: {text}"
    verification = caught.value.conversion.verification
    assert (verification.verdict, verification.outcome) == ("different", "different")
    assert verification.outputs == (OutputComparison("y", False, text),)
    assert verification.proof.verdict != "proved" and verification.unproved[0].startswith("y is not proved: ")
    assert not list(tmp_path.iterdir())


REGION = RegionRecord("y", ("Pad",), ("Slice",), "unknown", why="no rule knows it")
PROOFS: dict[str | None, ProofRecord] = {"proved": ProofRecord("proved")}
PROOFS |= {verdict: ProofRecord(verdict, (REGION,)) for verdict in ("different", "unknown")}
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


def test_a_proof_as_json() -> None:
    """``test_verify_as_json`` has the rest."""
    told = padops.convert(one_pad(13), target="onnx", without_pad=True, verify=True).verification.to_json()
    assert told["verdict"] == "proved" and told["proof"]["counts"]["proved"] == len(told["proof"]["regions"]) == 1
    (region,) = told["proof"]["regions"]
    assert (region["name"], region["original"], region["verdict"]) == ("y", ["Pad"], "proved")
    assert region["rule"] and region["holds_for"] and region["why"] == "" and region["counterexample"] is None


DIFFERENCES = [
    (np.float32([0.0]), np.float32([-0.0]), "1 of 1 element, first at [0]: 0.0 became -0.0; largest difference 0"),
    (np.float32([1, 2]), np.float32([1, 2.5]), "1 of 2 elements, first at [1]: 2.0 became 2.5; largest difference 0.5"),
    (np.float32([1]), np.float64([1]), "float32 became float64"),
    (np.float32([1]), np.float32([[1]]), "shape [1] became [1, 1]"),
    (np.float32(np.nan), np.float32(np.nan), ""),
    (np.array([0x7FC00000], np.uint32).view(np.float32), np.array([0x7FC00001], np.uint32).view(np.float32),
     "1 of 1 element, first at [0]: nan became nan; largest difference 0"),
    (np.array(["a", "b"], object), np.array(["a", "c"], object), "1 of 2 elements, first at [1]: b became c"),
    (np.array([3], ml_dtypes.int4), np.array([-3], ml_dtypes.int4), "1 of 1 element, first at [0]: 3 became -3"),
    ([np.float32([1])], [np.float32([1])], ""),
    ([np.float32([1])], [], "a sequence of 1 became one of 0"),
    ([1, np.int8([1])], [1, np.int8([2])], "element 1: 1 of 1 element, first at [0]: 1 became 2"),
    ({"a": 1}, {"a": 2}, "key 'a': 1 != 2"),
    ({"a": 1}, {"b": 1}, "the keys of a map differ"),
    (1, 1.0, "1 != 1.0"), ({"a": 1}, [1], "{'a': 1} != [1]"), ([1], {"a": 1}, "[1] != {'a': 1}"),
]  # fmt: skip


@pytest.mark.parametrize(("original", "converted", "text"), DIFFERENCES)
def test_differences_are_described(original: Any, converted: Any, text: str) -> None:
    original, converted = (np.asarray(v) if isinstance(v, np.generic) else v for v in (original, converted))
    assert describe_difference(original, converted) == text


INPUTS, OUTPUTS = "(float[2, n] x, float[2, 3] w)", "(float[a, b] y, float[c, d] z)"
BASE = f"{INPUTS} => {OUTPUTS} {{ y = Relu(x) z = Neg(x) }}"
BOTH = "the {0} are {1} in the original, and {2} in the converted model; callers may rely on their positions"
TYPES = "the {0} is {1} in the original, and {2} in the converted model"


@pytest.mark.parametrize(("former", "other", "told"), [
    (OUTPUTS, "(float[c, d] z, float[a, b] y)", BOTH.format("outputs", "'y', 'z'", "'z', 'y'")),
    (INPUTS, "(float[2, n] x)", BOTH.format("inputs", "'x', 'w'", "'x'")),
    (OUTPUTS, "(float[a, b] y)", BOTH.format("outputs", "'y', 'z'", "'y'")),
    (OUTPUTS, "(float[a, b] y, float[c, d] z, float[2, n] x)", BOTH.format("outputs", "'y', 'z'", "'y', 'z', 'x'")),
    (INPUTS, "(float[2, 3] w, float[2, n] x)", BOTH.format("inputs", "'x', 'w'", "'w', 'x'")),
    ("float[2, 3] w)", "float[2, 3] w, float v)", BOTH.format("inputs", "'x', 'w'", "'x', 'w', 'v'")),
    ("float[2, n] x", "double[2, n] x", TYPES.format("input 'x'", "tensor(float)", "tensor(double)")),
    ("float[2, n] x", "float[2, n, 1] x", TYPES.format("input 'x'", "of rank 2", "of rank 3")),
    ("float[c, d] z", "int8[c, d] z", TYPES.format("output 'z'", "tensor(float)", "tensor(int8)")),
    ("float[c, d] z", "float[c] z", TYPES.format("output 'z'", "of rank 2", "of rank 1")),
    ("float[c, d] z", "seq(float[c, d]) z", TYPES.format("output 'z'", "tensor(float)", "sequence(tensor(float))")),
])  # fmt: skip
def test_what_a_caller_notices(former: str, other: str, told: str) -> None:
    changed = BASE.replace(former, other)
    assert changed != BASE and other_interface(written(BASE), written(changed)) == (told,)
    for more in ({}, {"run": True}, {"providers": ["CPUExecutionProvider"]}):
        verification = padops.verify(written(BASE), written(changed), **more)
        assert (verification.verdict, verification.outcome, verification.passed) == ("different", "interface", False)
        assert verification.notes == verification.unproved == (told,)


def test_what_is_no_other_interface() -> None:
    """Dims, and ranks that one of both does not declare: a run tells whether one takes what the other does."""
    for other in ("float[] x", "float[m, k] x", "float[2, 3] x"):
        assert other_interface(written(BASE), written(BASE.replace("float[2, n] x", other))) == ()
    unsaid = written(BASE)
    unsaid.graph.output[0].ClearField("type")
    unsaid.graph.input[1].type.tensor_type.elem_type = 0
    assert other_interface(unsaid, written(BASE)) == other_interface(written(BASE), unsaid) == ()
    sequence = "(seq(float[2]) x) => (seq(float[n]) y) { y = Identity(x) }"
    assert other_interface(written(sequence), written(sequence.replace("float[2]", "float[3, 4]"))) == ()


LISTED = "(float[2] x, float[2] w) => (float[a] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
FIXED, GIVEN = LISTED.replace(", float[2] w)", ")"), LISTED.replace("<float[2] w = {1, 2}>", "")
MAY = "a caller of the original may replace the initializer 'w', but a caller of the converted model may not"


@pytest.mark.parametrize(("one", "ir", "other", "other_ir", "notes"), [
    (LISTED, 9, FIXED, 9, MAY),
    (LISTED, 9, LISTED, 3, MAY),
    (FIXED, 9, LISTED, 9, None),  # it takes more
    (LISTED, 3, FIXED, 9, None),  # nobody may replace it
    (GIVEN, 9, LISTED, 9, BOTH.format("inputs", "'x', 'w'", "'x'")),
    (LISTED, 9, GIVEN, 9, BOTH.format("inputs", "'x'", "'x', 'w'")),
    (LISTED, 9, LISTED.replace("float[2] w)", "float16[2] w)"), 9,
     TYPES.format("input 'w'", "tensor(float)", "tensor(float16)")),
])  # fmt: skip
def test_an_initializer_that_a_caller_may_replace(one: str, ir: int, other: str, other_ir: int, notes: str) -> None:
    found = padops.verify(written(one, ir=ir), written(other, ir=other_ir))
    assert found.notes == (notes,) if notes else found.verdict == "proved"


def test_a_converter_that_changes_the_interface_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choice, "other_interface", lambda *given: ("the outputs are others",))
    with pytest.raises(VerificationError, match="^callers see another model: the outputs are others$"):
        padops.convert(one_pad(13), tmp_path / "out.onnx", verify=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("strict", [False, True])
def test_both_commands_answer_by_one_rule(strict: bool, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path):
    source, out = save(tmp_path / "m.onnx", one_pad(13)), tmp_path / "out.onnx"
    answer = list[Verification]()
    for module in ("verify.choice", "pipeline"):
        monkeypatch.setattr(f"padops.convert.{module}.comparison", lambda *given: lambda *paths: answer[-1])
    more = ["--strict"] * strict
    for outcome, proof in product(get_args(Outcome)[1:], PROOFS.values()):  # "proved" is of a proof alone
        output = OutputComparison("y", outcome not in ("different", "close"), "1 of 2 elements")
        found = Verification(outcome, (output,), notes=("so it was",), proof=proof)
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


ROADS: list[dict[str, Any]] = [{}, {"target": "onnx", "without_pad": True}, {"select": "needed"}]


@pytest.mark.parametrize("options", ROADS, ids=str)
def test_a_network_of_float16_is_right_but_for_rounding(options: dict[str, Any], tmp_path: Path) -> None:
    """ONNX Runtime leaves out the casts around a Pad that it runs in float; a Pad of padops takes float16."""
    verification = padops.convert(half_network(), tmp_path / "out.onnx", verify=True, run=True, **options).verification
    assert verification.outcome in ("close", "equal") and verification.passed
    assert (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("broken", [0, 1])
def test_a_wrong_pad_among_rounding_is_found(broken: int) -> None:
    source = half_network()
    converted = padops.convert(source, fallback=False).proto()
    (node,) = (node for node in converted.graph.node if node.name == f"pad{broken}")
    next(row for row in node.attribute if row.name == "mode").s = b"edge"
    assert padops.verify(source, converted).outcome == "different"


def test_the_tolerance() -> None:
    one = np.array([1.0, -2.0, np.inf, np.nan])
    assert Tolerance(rtol=0.1).takes(one, np.array([1.09, -2.19, np.inf, np.nan]))
    assert not Tolerance(rtol=0.1).takes(one, np.array([1.15, -2.0, np.inf, np.nan]))
    assert Tolerance(atol=0.1, rtol=0.1).takes(one, np.array([1.15, -2.0, np.inf, np.nan]))
    for other in ([1, -2, 1e9, np.nan], [1, -2, np.inf, 0], [1, np.nan, np.inf, np.nan], [1, np.inf, np.inf, np.nan]):
        assert not Tolerance(atol=1e12).takes(one, np.array(other, float))
    assert not Tolerance(atol=1).takes(one, one.tolist()) and not Tolerance(atol=1).takes(one.tolist(), one)
    assert not Tolerance(atol=1).takes(one, one.astype(np.float32)) and not Tolerance(atol=1).takes(one, one[:3])
    for name in ("int64", "int4", "uint2"):
        array = np.zeros(2, np.uint8).astype(by_name(name).numpy)
        assert not Tolerance(atol=9).takes(array, array)


@pytest.mark.parametrize("wrong", [{"rtol": -1}, {"atol": float("nan")}, {"rtol": "1"}, {"atol": True}], ids=str)
def test_what_is_no_tolerance(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(UsageError, match=f"{name} is .*, expected a"):
        padops.convert(one_pad(), verify=True, run=True, **wrong)
    with pytest.raises(UsageError, match=f"{name} is .*, expected a"):
        padops.verify(one_pad(), one_pad(), run=True, **wrong)


POOLED = """(float[1, 1, 3, 3] x) => (float[a, b, c, d] y) <int64[8] q = {0, 0, 1, 1, 0, 0, 1, 1}> {
    [pad] p = Pad (x, q) [pool] y = MaxPool <kernel_shape = [2, 2]> (p) }"""


def bend(monkeypatch: pytest.MonkeyPatch, original: bool) -> None:
    """Makes one of the models, once optimised, answer as onnxruntime 1.24.4 does: no 0 of the Pad's fill wins."""
    real = sessions.Session

    class Session(real):
        def __init__(self, model: sessions.Model, optimised: bool, *more: Any) -> None:
            super().__init__(model, optimised, *more)
            domains = {node.domain for node in model.message.graph.node}
            self.bent = optimised and ("padops" not in domains) == original

        def run(self, feeds: dict[str, np.ndarray]) -> dict[str, Any]:
            outputs = super().run(feeds)
            return {name: np.where(y == 0, np.float32(-1.25), y) if self.bent else y for name, y in outputs.items()}

    monkeypatch.setattr(sessions, "Session", Session)
    monkeypatch.setattr("padops.convert.analysis.installed_minor", lambda: 24)


def test_outputs_that_onnxruntime_gets_wrong_are_said_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    bend(monkeypatch, original=True)
    verification = padops.convert(written(POOLED, 17), verify=True, run=True).verification
    assert (verification.outcome, verification.passed) == ("corrected", True)
    gets = "without graph optimisation the outputs are bit-equal; with it, ONNX Runtime gets the original wrong"
    why = "ONNX Runtime may make this Pad the padding of MaxPool pool, which computes another result"
    assert verification.notes == (gets, f"y will change: graph/pad: {why}")


def test_a_converted_model_that_onnxruntime_gets_wrong_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without optimisation it is right, but no session of the user's is without."""
    bend(monkeypatch, original=False)
    with pytest.raises(VerificationError, match="with it, ONNX Runtime gets the converted model wrong") as caught:
        padops.convert(written(POOLED, 17), verify=True, run=True)
    assert caught.value.conversion.verification.outcome == "different"


def test_a_default_that_nothing_replaces_is_the_pads_input() -> None:
    text = "(float[2, 3] x, int64[4] p) => (float[n, m] y) <int64[4] p = {0, 1, 0, END}> { y = Pad (x, p) }"
    one, other = (written(text.replace("END", end)) for end in "12")
    found = padops.verify(one, other)
    assert (found.outcome, found.outputs[0].detail) == ("different", "shape [2, 5] became [2, 6]")
    assert padops.verify(one, one).passed


def test_what_other_inputs_move_counts_in_proportion() -> None:
    """One set of inputs may hide how far floats move: what the others move counts, as a part of the element."""
    trials = [sessions.Trial({}, {"y": np.array([value])}, frozenset()) for value in (1000.0, 2000.0, 3000.0)]
    plain = [{"y": np.array([value])} for value in (1000.0, 2000.002, 3000.0003)]
    moves = Moves(Path("absent"), onnx.ModelProto(), trials, plain)
    moves._changed = [[], [], []]
    assert moves.takes(0, "y", np.array([1000.0]), np.array([1000.015]))
    assert not moves.takes(0, "y", np.array([1000.0]), np.array([1000.017]))
    assert not moves.takes(0, "y", np.array([1000.0]), np.array([1000.001]), levels=False)


F, L = (lambda *numbers: np.array(numbers, np.float32)), (lambda *numbers: np.array(numbers))
PAIR = (F(5), F(5.001))
NEAR = [  # two values, pairs of a value that moves, the least element; whether the values are near
    (F(1000), F(1000.01), [PAIR], 0, True), (F(1000), F(1000.02), [PAIR], 0, False),
    (F(1000), F(1000.01), [], 0, False),
    (F(1000), F(1000.01), [(F(5, 5), F(5.001, 5))], 0, False), (F(1000), F(1000.01), [(F(5), F(5.001, 5))], 0, False),
    (F(1000), F(1000.0004), [], 0, True), (F(1e-9), F(3e-7), [], 0, False), (F(1e-9), F(3e-7), [], 1, True),
    (L(1, 2, 3, 4, 5), L(0, 0, 0, 0, 5), [(L(1, 2, 3, 4, 5), L(1, 2, 3, 4, 0))], 0, True),
    (L(1, 2, 3, 4, 5), L(0, 0, 0, 0, 0), [(L(1, 2, 3, 4, 5), L(1, 2, 3, 4, 0))], 0, False), (L(1), L(2), [], 0, False),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "pairs", "least", "is_near"), NEAR)
def test_values_that_are_near(before: np.ndarray, after: np.ndarray, pairs: list, least: float, is_near: bool) -> None:
    assert rounding._is_near(before, after, pairs, least) == is_near


@pytest.mark.parametrize(("dtype", "bits"), [(np.float16, 11), (np.float32, 24), (np.float64, 53), (np.int64, None)])
def test_elements_are_moved_by_up_to_two_rounding_errors(dtype: Any, bits: int | None) -> None:
    array = np.arange(1, 100).astype(dtype)
    moved = rounding._moved(array, np.random.default_rng(0))
    gap = np.abs(moved.astype(np.float64) / array.astype(np.float64) - 1).max()
    assert moved.dtype == dtype and (gap == 0 if bits is None else 2.0**-bits < gap <= 2.0 ** (3 - bits))
