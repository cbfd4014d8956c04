"""Types where the graph states none, and declared shapes of inner values, which decide nothing."""

from __future__ import annotations

from typing import Any

import native
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from inspected_models import stock
from onnx import helper, numpy_helper, parser
from small_models import FLOAT, convert, graph, info, model, pad, parsed, tensor

import padops
from padops.convert import PadopsError, PadsLeftError
from padops.convert.inspection import inspect
from padops.convert.model.inference import ENDLESS, NOWHERE, arrange, infer, open_backward_slices, order_of
from padops.convert.records import PadFacts
from padops.convert.verify.proof import prove

node = helper.make_node
PADS = tensor("pads", [1, 0, 2, 1])


def found(source: onnx.ModelProto | ir.Model) -> PadFacts:
    (pad_facts,) = inspect(source).pads
    return pad_facts


PADS_OF_D = """<domain: "d", opset_import: ["": 18]> Pads (x, pads) => (y) { y = Pad <mode = "reflect"> (x, pads) }
    <domain: "d", opset_import: ["": 18, "d": 1]> Outer (x, pads) => (y) { y = d.Pads (x, pads) }"""
CASTS_OF_D = """<domain: "d", opset_import: ["": 18]> Casts <kind> (x, pads) => (y) {
    c = Cast <to: int = @kind> (x) y = Pad (c, pads) }"""
TWO = "y = d.Outer (x, pads) w = d.Pads (z, pads)"
BRANCH = "{0} () => (int16[] {0}) {{ {0} = d.Pads (x, pads) }}".format
OTHER = "else_branch = e () => (int16[] e) { e = Identity (x) }>"
INNER = f"If (c) <then_branch = b () => (int16[] b) {{ r = Identity (x) b = Pad (r, pads) }}, {OTHER}"
# Nodes, the second input, and what is known of the Pad in a function or a branch.
CALLS = [
    (TWO, "int16[3, 4]", "int16", (3, 4)),
    (TWO, "int16[3, 5]", "int16", (3, None)),
    (TWO, "int16[3]", "int16", None),
    (TWO, "float[3, 4]", None, None),
    ("y = d.Casts <kind = 1> (x, pads)", "bool", "float", (3, 4)),
    ("y = d.Casts <kind = 1> (x, pads) w = d.Casts <kind = 7> (x, pads)", "bool", None, None),
    (f"y = If (c) <then_branch = {BRANCH('t')}, else_branch = {BRANCH('e')}>", "bool", "int16", (3, 4)),
    (f"y = If (c) <then_branch = a () => (int16[] a) {{ a = {INNER} }}, {OTHER}", "bool", "int16", (3, 4)),
]


@pytest.mark.parametrize(("nodes", "other", "type", "shape"), CALLS)
def test_calls_give_what_they_agree_on(nodes: str, other: str, type: str | None, shape: tuple | None) -> None:
    functions = CASTS_OF_D if "Casts" in nodes else PADS_OF_D if "d." in nodes else ""
    source = parser.parse_model(f"""<ir_version: 8, opset_import: ["": 18, "d": 1]> g (int16[3, 4] x, {other} z, bool c)
        => (int16[] y) <int64[4] pads = {{1, 0, 2, 1}}> {{ {nodes} }} {functions}""")
    facts = found(source)
    assert (facts.type, facts.input_shape) == (type, shape)


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
        choice = node("If", ["c"], ["y"], then_branch=held, else_branch=held)
        source = model([choice], 18, tensors=[tensor("c", True, bool)])
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
    values, places = tensor("s", [1.0], np.float32), tensor("i", index if isinstance(index, list) else [index])
    source.graph.sparse_initializer.append(onnx.SparseTensorProto(dims=dims, values=values, indices=places))
    with pytest.raises(PadopsError, match="sparse initializer 's'"):
        inspect(source)


def sliced(end: int, step: int, dims: str = "3", constant: bool = False) -> onnx.ModelProto:
    nodes, held = f"e = Constant <value_ints = [{end}]> () t = Constant <value_ints = [{step}]> ()", ""
    if not constant:
        nodes, held = "", f", int64[1] e = {{{end}}}, int64[1] t = {{{step}}}"
    return parsed(f"""(float[{dims}] x) => (float[m] y) <int64[1] s = {{1}}, int64[1] a = {{0}}{held}>
        {{ {nodes} b = Slice (x, s, e, a, t) y = Identity (b) }}""")


@pytest.mark.parametrize("steps", ["t", "u"])
def test_amounts_behind_one_are_not_known(steps: str) -> None:
    """The reference counts no elements, and onnxruntime two; also where the steps are computed."""
    model = parsed(f"""(float[3] x) => (float[m] y) <int64[1] s = {{1}}, int64[1] a = {{0}}, int64[2] p = {{1, 2}},
        int64[1] e = {{{ENDLESS[1]}}}, int64[1] t = {{-1}}> {{ u = Identity (t) b = Slice (p, s, e, a, {steps})
        n = Size (b) m = Unsqueeze (n, a) q = Concat <axis = 0> (m, m) y = Pad (x, q) }}""")
    x = np.array([1, 2, 3], np.float32)
    for target in ("padops", "onnx"):
        session = padops.InferenceSession(padops.convert(model, target=target).proto().SerializeToString())
        assert session.run(None, {"x": x})[0].tolist() == stock(model, {"x": x})[0].tolist() == [0, 0, 1, 2, 3, 0, 0]


@pytest.mark.parametrize("constant", [False, True])
def test_a_name_of_two_graphs(constant: bool) -> None:
    """Steps that go forward in one graph and backward in another are not known to go forward."""
    model = sliced(ENDLESS[1], -1, constant=constant)
    body = parser.parse_graph("b () => (int64[1] t) <int64[1] t = {1}> { }")
    model.graph.node.append(onnx.helper.make_node("If", ["c"], ["z"], then_branch=body, else_branch=body))
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
    one, other = (stock(model, {"x": np.ones(3, np.float32)})[0].tolist() for model in models)
    assert one != other


ONES = "b () => (float[] b) { b = Constant <value = float[1, 3] {1, 1, 1}> () }"
EITHER = f"c = If (w) <then_branch = r () => (float[] a) {{ a = Relu (x) }}, else_branch = {ONES}>"
# The opset, the dims of x, nodes, and the dims that are known of their output.
BEHIND = [
    # onnx takes axes that it does not know for all axes in their order.
    (18, "2, 3", "y = Pad (x, pads, , held)", [6, 3]),
    (18, "2, 3", "y = Pad (x, pads, , axes)", [0, 0]),
    (18, "2, 3", "y = If (w) <then_branch = a () => (float[] a) { a = Pad (x, pads, , axes) }, "
     "else_branch = b () => (float[] b) { b = Pad (x, pads, , axes) }>", [0, 0]),
    # The dims of both branches, also of an If in a branch, whose dims are known first.
    (7, "n, 3", f"v = If (w) <then_branch = o () => (float[] c) {{ {EITHER} }}, else_branch = {ONES}> y = Relu (v)",
     [0, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("opset", "given", "nodes", "dims"), BEHIND)
def test_the_dims_behind_a_pad_with_axes_and_behind_an_if(opset: int, given: str, nodes: str, dims: list[int]) -> None:
    source = parsed(f"(float[{given}] x, int64[2] axes, bool w) => (float[] y) <int64[2] held = {{1, 0}}, "
                    f"int64[4] pads = {{0, 1, 0, 3}}> {{ {nodes} }}", opset, 8)  # fmt: skip
    (info,) = infer(source)[0].output
    assert [dim.dim_value for dim in info.type.tensor_type.shape.dim] == dims


def test_an_if_has_the_type_of_the_branch_whose_type_is_known() -> None:
    source = parsed("""(float[2] x, bool w) => (float[] y) { v = If (w) <then_branch = a () => (float[] a) {
        a = d.Any (x) }, else_branch = b () => (float[] b) { b = Relu (x) }> y = Relu (v) }""", 10)  # fmt: skip
    source.graph.node[0].attribute[0].g.output[0].ClearField("type")
    assert [row.type.tensor_type.elem_type for row in infer(source)[0].value_info if row.name == "v"] == [FLOAT]


X = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
OLD, OLD_PADDED = "float[1, 1, 4, 4]", "float[1, 1, 4, 7]"
AMOUNTS = "int64[8] pads = {0, 0, -1, 0, 0, 0, 1, 3}"
PAD = 'q = Pad <mode = "reflect"> (r, pads)'
STRAIGHT = f"n = Neg (x) r = Relu (n) {PAD} y = Abs (q)"
IN_A_BRANCH = f"b () => ({OLD_PADDED} q) <{AMOUNTS}, {OLD} r> {{ r = Relu (x) {PAD} }}"
# Values of the size that the declared one has, whose memory is free by then.
REUSED = f"a = Sin (z) b = Exp (a) c = Cos (b) s = ReduceSum <keepdims = 0> (c) r = Add (x, s) {PAD} "
REUSED += "d = Sin (q) e = Exp (d) f = Cos (e) y = Neg (f)"
# Nodes by name, each with declarations of inner values, inputs beside x, and outputs beside y.
CASES: dict[str, tuple[str, ...]] = {
    "data": (STRAIGHT, f"{OLD} r"),
    "before": (STRAIGHT, f"{OLD} n"),
    "rank": (STRAIGHT, "float[4, 4] r"),
    "behind": (STRAIGHT, f"{OLD} r, {OLD_PADDED} q"),
    "reused": (REUSED, f"{OLD_PADDED} q", f", {OLD_PADDED} z"),
    "behind an operator that onnx does not know": (f"r = com.microsoft.Gelu (x) {PAD} y = Abs (q)", f"{OLD} r"),
    "an output that the Pad reads": (f"r = Relu (x) {PAD} y = Abs (q)", "", "", f", {OLD} r"),
    "branch": (f"v = If (c) <then_branch = {IN_A_BRANCH}, else_branch = {IN_A_BRANCH}> "
               'y = Pad <mode = "edge"> (v, pads)', "", ", bool c"),
    "loop": (f"y = Loop (count, , x) <body = b (int64 i, bool go, {OLD} r) => (bool on, {OLD_PADDED} q) "
             f"{{ on = Identity (go) {PAD} }}>", "int64 count = {2}"),
    "scan": ("y = Scan <num_scan_inputs = 1, body = b (float[1, 4, 4] r) => (float[1, 4, 7] q) "
             f"<int64[6] pads = {{0, -1, 0, 0, 1, 3}}> {{ {PAD} }}> (x)", ""),
    "function": ("v = d.F (x, pads) y = Abs (v)", f"{OLD_PADDED} v"),
}  # fmt: skip
FEEDS = {"x": X, "z": X[..., :4, :7], "c": np.array(True)}
ROADS: dict[str, dict[str, Any]] = {
    "padops": {"fallback": True},
    "onnx": {"target": "onnx"},
    "without_pad": {"target": "onnx", "without_pad": True},
    "webgpu": {"target": "onnx", "provider": "webgpu"},
}


def built(nodes: str, declared: str = "", inputs: str = "", outputs: str = "", x: str = "1, 1, h, w") -> Any:
    source = parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 18, "d": 1, "com.microsoft": 1]> g (float[{x}] x{inputs}) => (float[] y'
        f'{outputs}) <{", ".join(filter(None, (AMOUNTS, declared)))}> {{ {nodes} }} <domain: "d", opset_import: '
        f'["": 18]> F (x, pads) => (q) {{ r = Relu (x) {PAD} }}'
    )  # fmt: skip
    shapes = (("r", FLOAT, [1, 1, 4, 4]), ("q", FLOAT, [1, 1, 4, 7]))
    source.functions[0].value_info.extend(map(info, shapes))  # in IR version 10, functions declare values, too
    return source


@pytest.mark.parametrize(
    ("case", "road"), [(case, road) for case in CASES for road in ROADS if case == "data" or road in ("padops", "onnx")]
)
def test_a_shape_of_other_inputs_changes_no_result(case: str, road: str) -> None:
    source, silent = built(*CASES[case]), built(*CASES[case])
    for body in (silent.graph, *(row.g for one in silent.graph.node for row in one.attribute if row.HasField("g"))):
        del body.value_info[:]
        for value in (*body.output, *(body.input if body is not silent.graph else ())):
            for dim in value.type.tensor_type.shape.dim:
                dim.Clear()
    feeds = {value.name: FEEDS[value.name] for value in source.graph.input}
    stock = native.onnxruntime.SessionOptions()
    stock.log_severity_level = 4
    expected = native.session(silent, stock).run(None, feeds)
    made = convert(source, **ROADS[road]).proto()
    for options in (native.session_options(), stock):
        for one, other in zip(native.session(made, options).run(None, feeds), expected, strict=True):
            assert one.shape == other.shape and one.tobytes() == other.tobytes()


def test_what_is_confirmed_stays() -> None:
    """And what nothing reads of the graph's outputs: callers may rely on it. A model that stays as it is keeps all."""
    declared = "float[1, 1, 8, w] n, float[1, 1, 8, 4] r, float[1, 1, 4, 7] q"
    source = built(STRAIGHT, declared, x="1, 1, 8, w")
    source.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, [1, 1, 4, 7]))
    made = convert(source).proto().graph
    shapes = {row.name: [dim.dim_value or dim.dim_param or None for dim in row.type.tensor_type.shape.dim]
              for row in (*made.value_info, *made.output)}  # fmt: skip
    assert shapes == {"n": [1, 1, 8, "w"], "r": [1, 1, 8, None], "q": [1, 1, 8, None], "y": [1, 1, 4, 7]}
    source.graph.node[2].attribute[0].s = b"edge"
    source.graph.initializer[0].CopyFrom(tensor("pads", [0, 0, 1, 0, 0, 0, 1, 3]))
    assert convert(source, select="needed").proto() == source


@pytest.mark.parametrize("declared", ["float[64] r", "float[1, 1, 0, 8] r"])
def test_a_declared_shape_that_is_wrong_is_replaced(declared: str) -> None:
    made = convert(built(STRAIGHT, declared, x="1, 1, 8, 8")).proto()
    (declared,) = (row for row in made.graph.value_info if row.name == "r")
    assert [dim.dim_value for dim in declared.type.tensor_type.shape.dim] == [1, 1, 8, 8]


def test_arranged_nodes_are_the_same_nodes() -> None:
    made = helper.make_graph(
        [helper.make_node("Neg", [one], [other]) for one, other in ("bc", "xa", "ab")], "g", [], []
    )
    arrange(made, order_of(made.node))
    assert [node.output[0] for node in made.node] == ["a", "b", "c"]
    assert order_of(made.node) == []
