"""Two models of which callers see other inputs or outputs: they are different, whatever they compute."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from small_models import one_pad
from written_models import model

import padops
from padops.convert import VerificationError
from padops.convert.verify import choice
from padops.convert.verify.interface import other_interface

BASE = "(float[2, n] x, float[2, 3] w) => (float[a, b] y, float[c, d] z) { y = Relu(x) z = Neg(w) }"
INPUTS, OUTPUTS = "(float[2, n] x, float[2, 3] w)", "(float[a, b] y, float[c, d] z)"
BOTH = "the {0} are {1} in the original, and {2} in the converted model; callers may take them by position"
TYPES = "the {0} is {1} in the original, and {2} in the converted model"


@pytest.mark.parametrize(
    "former, other, told",
    [
        (OUTPUTS, "(float[c, d] z, float[a, b] y)", BOTH.format("outputs", "'y', 'z'", "'z', 'y'")),
        (OUTPUTS, "(float[a, b] y)", BOTH.format("outputs", "'y', 'z'", "'y'")),
        (OUTPUTS, "(float[a, b] y, float[c, d] z, float[2, n] x)", BOTH.format("outputs", "'y', 'z'", "'y', 'z', 'x'")),
        (INPUTS, "(float[2, 3] w, float[2, n] x)", BOTH.format("inputs", "'x', 'w'", "'w', 'x'")),
        ("float[2, 3] w)", "float[2, 3] w, float v)", BOTH.format("inputs", "'x', 'w'", "'x', 'w', 'v'")),
        ("float[2, n] x", "double[2, n] x", TYPES.format("input 'x'", "tensor(float)", "tensor(double)")),
        ("float[2, n] x", "float[2, n, 1] x", TYPES.format("input 'x'", "of rank 2", "of rank 3")),
        ("float[c, d] z", "int8[c, d] z", TYPES.format("output 'z'", "tensor(float)", "tensor(int8)")),
        ("float[c, d] z", "float[c] z", TYPES.format("output 'z'", "of rank 2", "of rank 1")),
        ("float[c, d] z", "seq(float[c, d]) z", TYPES.format("output 'z'", "tensor(float)", "sequence(tensor(float))")),
    ],
)
def test_what_a_caller_notices(former: str, other: str, told: str) -> None:
    changed = BASE.replace(former, other)
    assert changed != BASE and other_interface(model(BASE), model(changed)) == (told,)
    for more in ({}, {"run": True}, {"providers": ["CPUExecutionProvider"]}):
        verification = padops.verify(model(BASE), model(changed), **more)
        assert (verification.verdict, verification.outcome, verification.passed) == ("different", "interface", False)
        assert verification.notes == verification.unproved == (told,)


def test_an_input_that_nobody_reads_is_missed() -> None:
    one = "(float[2] x, float[2] w) => (float[a] y) { y = Relu(x) }"
    verification = padops.verify(model(one), model(one.replace(", float[2] w", "")))
    assert verification.notes == (BOTH.format("inputs", "'x', 'w'", "'x'"),)
    renamed = padops.verify(model(one), model(one.replace("x", "v")))
    assert renamed.notes == (BOTH.format("inputs", "'x', 'w'", "'v', 'w'"),)


def test_what_is_no_other_interface() -> None:
    """Dims, and ranks that one of both does not declare: a run tells whether one takes what the other does."""
    for other in ("float[] x", "float[m, k] x", "float[2, 3] x"):
        assert other_interface(model(BASE), model(BASE.replace("float[2, n] x", other))) == ()
    unsaid = model(BASE)
    unsaid.graph.output[0].ClearField("type")
    unsaid.graph.input[1].type.tensor_type.elem_type = 0
    assert other_interface(unsaid, model(BASE)) == other_interface(model(BASE), unsaid) == ()
    sequence = "(seq(float[2]) x) => (seq(float[n]) y) { y = Identity(x) }"
    assert other_interface(model(sequence), model(sequence.replace("float[2]", "float[3, 4]"))) == ()


def with_default(text: str, ir: int = 9) -> onnx.ModelProto:
    made = model(text, ir=ir)
    made.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0]))
    return made


def test_an_initializer_that_a_caller_may_replace() -> None:
    listed = "(float[2] x, float[2] w) => (float[a] y) { y = Add(x, w) }"
    fixed = listed.replace(", float[2] w", "")
    told = "a caller of the original may replace the initializer 'w', and one of the converted model may not"
    assert padops.verify(with_default(listed), with_default(fixed)).notes == (told,)
    assert padops.verify(with_default(listed), with_default(listed, ir=3)).notes == (told,)
    assert padops.verify(with_default(fixed), with_default(listed)).verdict == "proved", "it takes more"
    assert padops.verify(with_default(listed, ir=3), with_default(fixed)).verdict == "proved", "nobody may replace it"
    given = model(listed)
    for one, other, lists in ((given, with_default(listed), ("'x', 'w'", "'x'")),
                              (with_default(listed), given, ("'x'", "'x', 'w'"))):  # fmt: skip
        assert padops.verify(one, other).notes == (BOTH.format("inputs", *lists),)
    halves = with_default(listed)
    halves.graph.input[1].type.tensor_type.elem_type = TensorProto.FLOAT16
    assert padops.verify(with_default(listed), halves).notes == (
        TYPES.format("input 'w'", "tensor(float)", "tensor(float16)"),
    )


def test_a_converter_that_changes_the_interface_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choice, "other_interface", lambda *given: ("the outputs are others",))
    with pytest.raises(VerificationError, match="^callers see another model: the outputs are others$"):
        padops.convert(one_pad(13), tmp_path / "out.onnx", verify=True)
    assert not list(tmp_path.iterdir())
