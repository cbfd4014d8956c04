"""Types where the graph states none: in functions, under the other name of the default domain, of sparse tensors.

ONNX gives nothing, and ONNX Runtime gives everything before the start.
"""

from __future__ import annotations

from collections.abc import Sequence

import native
import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import helper, numpy_helper, parser
from small_models import BOOL, FLOAT, INT16, INT64, convert, graph, model, pad, tensor

import padops
from padops.convert import PadopsError, PadsLeftError
from padops.convert.inspection import inspect
from padops.convert.model.graphs import Constants
from padops.convert.model.inference import ENDLESS, NOWHERE, infer, open_backward_slices
from padops.convert.records import PadFacts
from padops.convert.verify.proof import prove

node = helper.make_node
HEAD = (
    '<ir_version: 8, opset_import: ["": 17]> g (float[{}] x) => (float[m] y) <int64[1] s = {{1}}, int64[1] a = {{0}}, '
)
PADS = tensor("pads", [1, 0, 2, 1])
IMPORTS = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]


def function(name: str, *nodes: onnx.NodeProto, attributes: Sequence[str] = ()) -> onnx.FunctionProto:
    return helper.make_function("d", name, ["x", "pads"], ["y"], [*nodes], IMPORTS, [*attributes])


def call(name: str, given: str = "x", output: str = "y", **attributes: int) -> onnx.NodeProto:
    return node(name, [given, "pads"], [output], domain="d", **attributes)


def found(source: onnx.ModelProto | ir.Model) -> PadFacts:
    (pad_facts,) = inspect(source).pads
    return pad_facts


CAST = node("Cast", ["x"], ["c"])
CAST.attribute.add(name="to", ref_attr_name="kind", type=onnx.AttributeProto.INT)
CASTS = function("Casts", CAST, pad(("c", "pads")), attributes=["kind"])
PADDING = [function("Pads", pad(mode="reflect")), function("Outer", call("Pads"))]


def calls(
    *nodes: onnx.NodeProto,
    other: Sequence[int] = (3, 4),
    kind: int = INT16,
    functions: Sequence[onnx.FunctionProto] = PADDING,
) -> onnx.ModelProto:
    """A model that calls functions; ``other`` and ``kind`` are of its second input, z."""
    inputs = [("x", INT16, [3, 4]), ("z", kind, other), ("c", BOOL, [])]
    outputs = [(row.output[0], kind if row.output[0] == "w" else INT16, None) for row in nodes]
    return model(graph(nodes, inputs, outputs, [PADS]), 18, functions=functions, imports=[("d", 1)])


@pytest.mark.parametrize(
    ("other", "kind", "expected"),
    [([3, 4], INT16, ("int16", (3, 4))), ([3, 5], INT16, ("int16", (3, None))), ([3], INT16, ("int16", None)),
     ([3, 4], FLOAT, (None, None))],
)  # fmt: skip
def test_several_calls_give_what_they_agree_on(other: list[int], kind: int, expected: tuple) -> None:
    facts = found(calls(call("Outer"), call("Pads", "z", "w"), other=other, kind=kind))
    assert (facts.type, facts.input_shape) == expected


def test_attributes_of_calls_give_types_as_far_as_they_agree() -> None:
    assert found(calls(call("Casts", kind=FLOAT), functions=[CASTS])).type == "float"
    two = (call("Casts", kind=FLOAT), call("Casts", output="w", kind=INT64))
    assert found(calls(*two, functions=[CASTS])).type is None


def test_a_call_in_a_branch() -> None:
    body = graph([call("Pads", output="v")], [], [("v", INT16, None)])
    assert found(calls(node("If", ["c"], ["y"], then_branch=body, else_branch=body))).type == "int16"


def test_a_pad_in_a_branch_of_a_branch() -> None:
    other = "else_branch = e () => (float[] e) { e = Neg (x) }>"
    inner = f"If (c) <then_branch = b () => (float[] b) {{ r = Relu (x) b = Pad (r, p) }}, {other}"
    source = parser.parse_model(
        f"{HEAD.format('2, 3')} int64[4] p = {{1, 0, 2, 1}}, bool c = {{1}}> "
        f"{{ y = If (c) <then_branch = a () => (float[] a) {{ a = {inner} }}, {other} }}"
    )
    assert (found(source).type, found(source).input_shape) == ("float", (2, 3))


@pytest.mark.parametrize("as_graph", [False, True])
def test_the_other_name_of_the_default_domain(as_graph: bool) -> None:
    nodes = [node("Relu", ["x"], ["r"], domain="ai.onnx"), node("Pad", ["r", "pads"], ["y"], domain="ai.onnx")]
    source = model(graph(nodes, tensors=[PADS]), None, imports=[("ai.onnx", 18)])
    given = ir.from_proto(source) if as_graph else source
    facts = found(given)
    assert (facts.type, facts.input_shape, facts.output_shape) == ("float", (2, 3), (5, 4))
    made = convert(given).proto()
    assert {row.domain: row.version for row in made.opset_import} == {"": 18, "padops": 1}


def test_a_pad_of_a_sequence(tmp_path) -> None:
    source = model([node("SplitToSequence", ["x"], ["s"]), pad(("s", "pads"))], 18, tensors=[PADS])
    facts = found(source)
    assert facts.verdict == "refuses" and "sequence" in facts.why
    with pytest.raises(PadsLeftError, match="sequence"):
        convert(source, tmp_path / "converted.onnx")


def sparse(name: str, array: np.ndarray, listed: bool) -> onnx.SparseTensorProto:
    """An array as a sparse tensor, whose indices are positions along each axis if they are ``listed``."""
    values = numpy_helper.from_array(array[array != 0], name)
    places = np.argwhere(array) if listed else np.flatnonzero(array)
    return onnx.SparseTensorProto(dims=array.shape, values=values, indices=numpy_helper.from_array(places))


@pytest.mark.parametrize("place", ["graph", "branch", "constant"])
def test_a_sparse_tensor_is_a_constant(place: str) -> None:
    """It stays as it is, unless nothing reads it any more."""
    amounts, weights = sparse("pads", np.array([1, 0, 2, 1]), False), sparse("w", np.eye(2, 3, dtype=np.float32), True)
    held = graph([node("Add", ["x", "w"], ["a"]), pad(("a", "pads"))])
    held.sparse_initializer.append(weights)
    if place == "constant":
        held.node.insert(0, node("Constant", [], ["pads"], sparse_value=amounts))
    else:
        held.sparse_initializer.append(amounts)
    source = model(held, 18)
    if place == "branch":
        held.ClearField("input")
        source = model(
            [node("If", ["c"], ["y"], then_branch=held, else_branch=held)], 18, tensors=[tensor("c", True, bool)]
        )
    facts = inspect(source).pads[0]
    assert (facts.type, facts.amounts) == ("float", ((1, 2), (0, 1)))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = np.pad(x + np.eye(2, 3, dtype=np.float32), [(1, 2), (0, 1)])
    for options in ({}, {"target": "onnx", "without_pad": True}):
        made = convert(source, **options).proto()
        assert native.session(made).run(None, {"x": x})[0].tolist() == expected.tolist()
        body = made.graph.node[0].attribute[0].g if place == "branch" else made.graph
        names = [row.values.name for row in body.sparse_initializer]
        assert names == (["w"] if options or place == "constant" else ["w", "pads"])


@pytest.mark.parametrize(("index", "dims"), [(4, [4]), (-1, [4]), ([[0, 0]], [4]), (0, [1 << 40])])
def test_a_sparse_tensor_that_cannot_be_read_is_refused(index, dims) -> None:
    source = model([pad()], 18, tensors=[PADS])
    places = numpy_helper.from_array(np.array(index if isinstance(index, list) else [index]))
    source.graph.sparse_initializer.append(
        onnx.SparseTensorProto(dims=dims, values=tensor("s", [1.0], np.float32), indices=places)
    )
    with pytest.raises(PadopsError, match="sparse initializer 's'"):
        inspect(source)


def sliced(end: int, step: int, dims: str = "3") -> onnx.ModelProto:
    given = f"{HEAD.format(dims)} int64[1] e = {{{end}}}, int64[1] t = {{{step}}}>"
    return parser.parse_model(f"{given} {{ b = Slice (x, s, e, a, t)  y = Identity (b) }}")


def outputs(model: onnx.ModelProto, x: np.ndarray) -> list[float]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0].tolist()


@pytest.mark.parametrize("steps", ["t", "u"])
def test_amounts_behind_one_are_not_known(steps: str) -> None:
    """The reference counts no elements, and onnxruntime two; also where the steps are computed."""
    model = parser.parse_model(
        f"{HEAD.format(3)} int64[2] p = {{1, 2}}, int64[1] e = {{{ENDLESS[1]}}}, int64[1] t = {{-1}}> "
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
    models = [sliced(end, -1, dims) for end in (ENDLESS[1], 1)]
    (inner,) = (row.type.tensor_type for row in infer(models[0])[0].value_info if row.name == "b")
    assert not inner.shape.dim[0].HasField("dim_value")
    assert prove(*models).verdict != "proved"
    assert outputs(models[0], np.ones(3, np.float32)) != outputs(models[1], np.ones(3, np.float32))


def test_an_if_has_the_dims_of_both_branches() -> None:
    """Also of an If in a branch, whose dims are known first."""
    inner = "b () => (float[] b) { b = Constant <value = float[1, 3] {1, 1, 1}> () }"
    relu = "r () => (float[] a) { a = Relu (x) }"
    outer = f"o () => (float[] c) {{ c = If (w) <then_branch = {relu}, else_branch = {inner}> }}"
    source = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 7]> g (float[n, 3] x, bool w) => (float[] y) '
        f"{{ v = If (w) <then_branch = {outer}, else_branch = {inner}> y = Relu (v) }}"
    )
    (info,) = infer(source)[0].output
    assert [dim.dim_value for dim in info.type.tensor_type.shape.dim] == [0, 3]


def test_many_equal_names_take_one_look_each() -> None:
    class Counted(set):
        looks = 0

        def __contains__(self, name: object) -> bool:
            self.looks += 1
            return super().__contains__(name)

    constants = Constants(ir.serde.deserialize_model(convert(model([pad()], 18, tensors=[PADS])).proto()))
    constants._taken = taken = Counted(constants._taken)
    names = [constants.fresh("name") for _ in range(100)]
    assert names[0] == "name" and len(set(names)) == 100 and taken.looks < 250
