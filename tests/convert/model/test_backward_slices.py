"""A backward Slice to the largest integer has an unknown result, since ONNX and ONNX Runtime disagree.

ONNX gives nothing, and ONNX Runtime gives everything before the start.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser
from onnx.reference import ReferenceEvaluator

import padops
from padops.convert.model.inference import ENDLESS, NOWHERE, is_unsure, open_backward_slices
from padops.convert.verify.inference import inferred
from padops.convert.verify.proof import prove

ENDS = (*ENDLESS, 2**31 - 2, 2**31, 2**63 - 2, -(2**31), -(2**63), -(2**63) + 1)


def sliced(end: int, step: int) -> onnx.ModelProto:
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[3] x) => (float[n] y) '
        f"<int64[1] s = {{1}}, int64[1] e = {{{end}}}, int64[1] a = {{0}}, int64[1] t = {{{step}}}> "
        f"{{ b = Slice (x, s, e, a, t)  y = Identity (b) }}"
    )
    return parser.parse_model(text)


def outputs(model: onnx.ModelProto, x: np.ndarray) -> list[float]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0].tolist()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("step", [1, -1, -2])
def test_what_is_unsure_is_what_they_disagree_on(end: int, step: int) -> None:
    model, x = sliced(end, step), np.array([1, 2, 3], np.float32)
    agree = outputs(model, x) == ReferenceEvaluator(model).run(None, {"x": x})[0].tolist()
    assert is_unsure(np.array([end]), np.array([step])) is not agree


def dim(graph: onnx.GraphProto) -> onnx.TensorShapeProto.Dimension:
    return next(row for row in graph.value_info if row.name == "b").type.tensor_type.shape.dim[0]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("step", [1, -1])
def test_dims_are_inferred_of_no_other(end: int, step: int) -> None:
    """The converter's inference and the prover's."""
    model, unsure = sliced(end, step), end in ENDLESS and step < 0
    opened = onnx.ModelProto.FromString(model.SerializeToString())
    open_backward_slices(opened)
    for found in (onnx.shape_inference.infer_shapes(opened).graph, inferred(model)[0]):
        assert dim(found).HasField("dim_value") is not unsure


def test_a_wrap_behind_one_keeps_its_bits() -> None:
    """A Slice taken for a wrap of 2 elements has 3 in onnxruntime; the conversion loses none."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 12]> g (float[1] x) => (float[n] y) '
        f"<int64[2] twice = {{0, 0}}, int64[1] zero = {{0}}, int64[1] end = {{{ENDLESS[1]}}}, int64[1] one = {{1}}, "
        f"int64[1] three = {{3}}, int64[1] minus = {{-1}}, int64[1] least = {{{-ENDLESS[1]}}}> "
        "{ a = Gather <axis = 0> (x, twice)  b = Slice (x, zero, end, zero, minus)  c = Concat <axis = 0> (a, b) "
        "d = Slice (c, one, three, zero)  e = Slice (d, minus, least, zero, minus)  y = Concat <axis = 0> (e, c) }"
    )
    x = np.array([7], np.float32)
    session = padops.InferenceSession(padops.convert(model).proto().SerializeToString())
    assert session.run(None, {"x": x})[0].tolist() == outputs(model, x) == [7] * 5


@pytest.mark.parametrize("steps", ["t", "u"])
def test_amounts_behind_one_are_not_known(steps: str) -> None:
    """The reference counts no elements, and onnxruntime two; also where the steps are computed."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[3] x) => (float[n] y) '
        f"<int64[2] p = {{1, 2}}, int64[1] s = {{1}}, int64[1] e = {{{ENDLESS[1]}}}, "
        f"int64[1] a = {{0}}, int64[1] t = {{-1}}> "
        f"{{ u = Identity (t)  b = Slice (p, s, e, a, {steps})  n = Size (b)  m = Unsqueeze (n, a)  "
        "q = Concat <axis = 0> (m, m)  y = Pad (x, q) }"
    )
    x = np.array([1, 2, 3], np.float32)
    for target in ("padops", "onnx"):
        session = padops.InferenceSession(padops.convert(model, target=target).proto().SerializeToString())
        assert session.run(None, {"x": x})[0].tolist() == outputs(model, x) == [0, 0, 1, 2, 3, 0, 0]


@pytest.mark.parametrize("constant", [False, True])
def test_a_name_of_two_graphs(constant: bool) -> None:
    """Steps that go forward in one graph and backward in another are not known to go forward."""
    model = sliced(ENDLESS[1], -1)
    body = parser.parse_graph("b () => (int64[1] t) <int64[1] t = {1}> { }")
    model.graph.node.append(onnx.helper.make_node("If", ["c"], ["z"], then_branch=body, else_branch=body))
    if constant:  # as lists of integers
        for name in ("e", "t"):
            row = next(tensor for tensor in model.graph.initializer if tensor.name == name)
            numbers = onnx.numpy_helper.to_array(row).tolist()
            model.graph.node.insert(0, onnx.helper.make_node("Constant", [], [name], value_ints=numbers))
            model.graph.initializer.remove(row)
    open_backward_slices(model)
    (there,) = (node for node in model.graph.node if node.op_type == "Slice")
    assert there.input[2] == NOWHERE


@pytest.mark.parametrize("dims", ["3", "n"])
def test_nothing_is_proved_of_one(dims: str) -> None:
    """With dims that are known on positions, else with formulas: a Slice that gives nothing, by ONNX's words."""
    models = [sliced(end, -1) for end in (ENDLESS[1], 1)]
    for model in models:
        model.graph.input[0].type.tensor_type.shape.dim[0].CopyFrom(
            onnx.TensorShapeProto.Dimension(**{"dim_value": 3} if dims == "3" else {"dim_param": "n"})
        )
    assert prove(*models).verdict.value != "proved"
    assert outputs(models[0], np.ones(3, np.float32)) != outputs(models[1], np.ones(3, np.float32))
