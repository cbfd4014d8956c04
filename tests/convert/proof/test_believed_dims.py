"""The dims that a proof believes of an operator, against onnx's own examples of it: what they give has these dims."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests
from written_models import model

import padops
from padops.convert.proof import believing, bodies, facts
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Verdict

Example = tuple[str, onnx.ModelProto, list, list]  # its name, and what the model is given and gives
# Operators of which onnx has no example with dims that follow: bodies and sequences have tests of their own.
WITHOUT_EXAMPLE = {
    "Loop",
    "Optional",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
}
LARGEST_SIZE = 1 << 12


def known(made: onnx.ModelProto) -> list[tuple[facts.Dim, ...] | None]:
    """The dims of the outputs, as a proof knows them."""
    found = facts.types_of(facts.inferred(made, None, set()).known)
    return [facts.dims_of(found.get(output.name, onnx.TypeProto())) for output in made.graph.output]


def with_constants(made: onnx.ModelProto, given: list[np.ndarray]) -> onnx.ModelProto:
    """The model with all inputs behind the first as constants: lists of dims, axes and sizes are known, then."""
    copy = onnx.ModelProto()
    copy.CopyFrom(made)
    for value, array in list(zip(made.graph.input, given))[1:]:
        if isinstance(array, np.ndarray) and array.dtype.kind in "iufb" and array.nbytes <= LARGEST_SIZE:
            copy.graph.input.remove(next(row for row in copy.graph.input if row.name == value.name))
            copy.graph.initializer.append(numpy_helper.from_array(array, value.name))
    return copy


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """onnx's own tests of operators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    return [(case.name, case.model, *data) for case in cases if case.model is not None for data in case.data_sets or ()]


def compared(examples: list[Example]) -> tuple[set[str], set[str]]:
    """The operators of the examples of which a dim is known, and the names of those that give something else."""
    found, wrong = set[str](), set[str]()
    for name, made, given, expected in examples:
        for one in (made, with_constants(made, given)):
            for dims, value in zip(known(one), expected):
                if dims is None or not isinstance(value, (np.ndarray, np.generic)):
                    continue
                sizes = [size if isinstance(dim, int) else dim for dim, size in zip(dims, value.shape)]
                if len(dims) != value.ndim or sizes != list(dims):
                    wrong.add(name)
                if any(isinstance(dim, int) for dim in dims) or not dims:
                    found |= {node.op_type for node in made.graph.node}
    return found, wrong


def test_examples_of_operators_give_the_dims_that_are_believed(examples: list[Example]) -> None:
    found, wrong = compared(examples)
    assert not wrong
    assert {op for op in believing.BELIEVED if onnx.defs.get_schema(op).inputs} - found == WITHOUT_EXAMPLE


def test_examples_show_dims_that_are_wrong(examples: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(believing, "BELIEVED", believing.BELIEVED | {"STFT", "Einsum"})
    found, wrong = compared([one for one in examples if one[0].startswith(("test_stft", "test_einsum"))])
    assert found == {"Einsum", "STFT"}
    assert wrong == {"test_stft", "test_stft_with_window"}


EINSUM = """(float16[3, 3] x) => (float16[] y, float16[] z) { t = Einsum <equation = "ij->ji"> (x) y = Relu (t)
  i = Constant <value_int = 0> () c = Cast <to = 9> (i)
  z = If (c) < then_branch = th () => (float16[] u) { s = Det (x) u = Abs (s) },
  else_branch = el () => (float16[] v) { v = other.Some (x) }> }
  <opset_import: ["" : 18], domain: "other"> Some (v) => (w) { d = Det (v) w = Identity (v) }"""


@pytest.mark.parametrize("newest", [believing.NEWEST, 1])
def test_types_are_known_of_operators_that_are_not_believed(newest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all are newer than those that are known, too."""
    monkeypatch.setattr(believing, "NEWEST", newest)
    found = believing.infer(model(EINSUM))
    (branch,) = (row.g for node in found.graph.node for row in node.attribute if row.name == "then_branch")
    types = facts.types_of(found.graph) | facts.types_of(branch)
    assert {name: types[name].tensor_type.elem_type for name in "tysu"} == dict.fromkeys("tysu", TensorProto.FLOAT16)
    assert all(facts.dims_of(types[name]) is None for name in "tys")
    plain = believing.infer(model("(float[2, 3] x) => (float[] y) { y = Transpose (x) }")).graph.output[0].type
    assert facts.dims_of(plain) == (None if newest == 1 else (3, 2))


def test_bodies_are_found_where_the_schemas_of_padops_are_registered() -> None:
    """As a conversion registers them: then onnx infers the dims of the operators itself."""
    call = """(float[3] x) => (float[] y) <int64[2] p = {1, 1}> { y = padops.Pad_18 (x, p) }
    <opset_import: ["" : 18], domain: "padops"> Pad_18 (u, p, f, a) => (v) { v = Identity (u) }"""
    padops.register_schemas()
    assert onnx.defs.has("Pad_18", "padops")
    (instance,) = bodies.instances(model(call))
    assert instance.call.op_type == "Pad_18"
    (region,) = prove(model(call), model(call)).regions
    assert region.verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("kind, dims", [("int64", (3,)), ("float", None)])
def test_a_range_of_floats_is_as_long_as_its_runtime_says(kind: str, dims: tuple[int] | None) -> None:
    """The quotient is rounded in the type of the floats, or in a wider one."""
    text = (
        f"(float[1] x) => ({kind}[] y) <{kind} a = {{0}}, {kind} b = {{3}}, {kind} c = {{1}}> {{ y = Range (a, b, c) }}"
    )
    kept = believing.infer(model(text)).graph.output[0].type
    assert facts.dims_of(kept) == dims
    assert kept.tensor_type.elem_type == model(text).graph.output[0].type.tensor_type.elem_type
