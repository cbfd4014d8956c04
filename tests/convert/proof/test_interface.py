"""What a caller sees of two models: where it is not the same, nothing is proved; and what counts as the same."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper
from written_models import model

from padops.convert.proof.regions import prove
from padops.convert.proof.result import Verdict

BASE = "(float[2, 3] x, float[2, 3] w) => (float[a, b] y, float[c, d] z) { y = Add(x, w) z = Neg(x) }"


def why(first: str, second: str) -> str:
    proof = prove(model(first), model(second))
    assert proof.verdict is Verdict.UNKNOWN
    return proof.why


@pytest.mark.parametrize(
    "change, to, told",
    [
        ("(float[2, 3] x, float[2, 3] w)", "(float[2, 3] w, float[2, 3] x)", "the inputs have another order"),
        ("float[2, 3] w)", "float[2, 3] w, float v)", "the inputs differ: 'v'"),
        ("float[2, 3] w)", "float[2, 3, 1] w)", "the converted model declares other dims of the input 'w'"),
        ("(float[a, b] y, float[c, d] z)", "(float[c, d] z, float[a, b] y)", "the names of the outputs differ"),
        ("(float[a, b] y, float[c, d] z)", "(float[a, b] y)", "the names of the outputs differ"),
        ("float[c, d] z)", "int8[c, d] z)", "the type of the output 'z' differs"),
    ],
)
def test_what_a_caller_would_notice(change: str, to: str, told: str) -> None:
    assert change in BASE and why(BASE, BASE.replace(change, to)) == told


def test_dims_that_one_of_two_models_declares() -> None:
    """The converted model may take more, and outputs may be declared otherwise."""
    known, ranked = model(BASE), model(BASE.replace("float[2, 3] w)", "float[n, 3] w)"))
    unranked = model(BASE)
    unranked.graph.input[1].type.tensor_type.ClearField("shape")
    for other in (known, ranked, unranked):
        assert prove(known, other).verdict is Verdict.PROVED
    for first, second in ((unranked, known), (unranked, ranked), (ranked, known)):
        assert prove(first, second).why == "the converted model declares other dims of the input 'w'"
    for to in ("float[2, 3] y", "float y"):
        assert prove(known, model(BASE.replace("float[a, b] y", to))).verdict is Verdict.PROVED


def test_a_default_that_differs() -> None:
    text = "(float[2] x, float[2] w) => (float[n] y) { y = Add(x, w) }"
    pair = [model(text), model(text)]
    for number, one in enumerate(pair):
        one.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0 + number]))
    assert prove(*pair).why == "the default of the input 'w' differs"
    assert prove(pair[0], pair[0]).verdict is Verdict.PROVED
    fixed = onnx.ModelProto.FromString(pair[0].SerializeToString())
    del fixed.graph.input[1]
    assert prove(pair[0], fixed).why == "the inputs differ: 'w'"


def test_a_name_that_several_dims_have_is_an_assumption() -> None:
    text = "(float[n, M] x) => (float[a, b] y) { y = Relu(x) }"
    same, other = (prove(one, one) for one in (model(text.replace("M", "n")), model(text.replace("M", "m"))))
    assert same.assumptions == ("dims of the inputs that have the name 'n' are equal",)
    assert other.assumptions == () and same.verdict is other.verdict is Verdict.PROVED


def test_a_constant_that_nothing_needs_does_not_fail() -> None:
    text = "(float[2, 3] x) => (float[a, b] y) { N y = Relu(x) }"
    dead = text.replace("N", "k = Constant<value_ints: ints = [1, 2]>() i = Identity(x)")
    assert prove(model(text.replace("N", "")), model(dead)).verdict is Verdict.PROVED
    assert "no output needs" in why(text.replace("N", ""), text.replace("N", "k = Softmax<axis = 9>(x)"))
