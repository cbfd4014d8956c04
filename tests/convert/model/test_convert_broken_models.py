"""Models that are none: each is refused, on every road, by a message that names the part and the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
from command_lines import save
from external_data import refusal
from mutation.onnx_changes import deep
from onnx import TensorProto, helper, parser
from small_models import FLOAT, INT64, convert, graph, model, one_pad, pad, tensor

import padops
from padops.convert import PadopsError
from padops.convert.inputs.pads import labelled_nodes
from padops.convert.model.checks import check_calls
from padops.convert.model.graphs import walk

ATTRIBUTE = "node 'p' (graph.node[0], Pad): the attribute 'mode'"


def text(message: str, functions: str = "") -> onnx.ModelProto:
    imports = '<ir_version: 8, opset_import: ["": 17, "local": 1]>'
    return parser.parse_model(
        f"{imports} g (float[2] x, bool c, int64[2] p) => (float[N] y) {{ {message} }} {functions}"
    )


def local(name: str, inputs: str, outputs: str, body: str) -> str:
    return f'<domain: "local", opset_import: ["": 17, "local": 1]> {name} ({inputs}) => ({outputs}) {{ {body} }}\n'


def of_tensor(dims: list[int], type: int = INT64, **parts: Any) -> onnx.ModelProto:
    made = one_pad()
    made.graph.initializer[0].CopyFrom(TensorProto(name="pads", data_type=type, dims=dims, **parts))
    return made


def changed(change: Callable[[onnx.ModelProto], Any], made: onnx.ModelProto | None = None) -> onnx.ModelProto:
    made = one_pad() if made is None else made
    change(made)
    return made


def with_attribute(**parts: Any) -> onnx.ModelProto:
    return changed(lambda made: made.graph.node[0].attribute.add(**{"name": "mode", **parts}))


PADS = "initializer 'pads' (graph.initializer[0]): "
TENSORS = [
    (of_tensor([3], int64_data=[1, 0, 2, 0]), "4 values in int64_data; int64 of dims [3] needs 3"),
    (of_tensor([4], raw_data=b"\0" * 7), "7 bytes in raw_data; int64 of dims [4] needs 32"),
    (of_tensor([4], raw_data=b""), "0 bytes in raw_data; int64 of dims [4] needs 32"),
    (of_tensor([4], FLOAT, int64_data=[1, 0, 2, 0]), "0 values in float_data; float of dims [4] needs 4"),
    (of_tensor([4], TensorProto.COMPLEX64, float_data=[1] * 4),
     "4 values in float_data; complex64 of dims [4] needs 8"),
    (of_tensor([5], TensorProto.INT4, int32_data=[1, 0]), "2 values in int32_data; int4 of dims [5] needs 3"),
    (of_tensor([2], TensorProto.STRING, raw_data=b"ab"), "0 values in string_data; string of dims [2] needs 2"),
    (of_tensor([4]), "0 values in int64_data; int64 of dims [4] needs 4"),
    (of_tensor([-4], int64_data=[1, 0, 2, 0]), "dims [-4] have the negative size -4"),
    (of_tensor([2**62, 4]), f"0 values in int64_data; int64 of dims [{2**62}, 4] needs {2**64}"),
    (of_tensor([1] * 20), f"0 values in int64_data; int64 of dims {[1] * 20} needs 1"),
    *((of_tensor([4], type), f"onnx {onnx.__version__} knows no element type {type}") for type in (0, 99)),
]  # fmt: skip

ATTRIBUTES = [
    (with_attribute(s=b"edge"), f"{ATTRIBUTE} has the type 0, which ONNX does not define"),
    (with_attribute(type=2, s=b"edge"), f"{ATTRIBUTE} is of type INT, but has a value in 's'"),
    (with_attribute(type=3, s=b"edge", i=1), f"{ATTRIBUTE} is of type STRING, but has a value in 'i'"),
    (with_attribute(type=3, ref_attr_name="m"),
     f"{ATTRIBUTE} refers to 'm' of a function, but is in no function"),
    (with_attribute(type=4), f"{ATTRIBUTE} is of type TENSOR, but has no value"),
    (with_attribute(type=5), f"{ATTRIBUTE} is of type GRAPH, but has no value"),
    (with_attribute(type=4, t=TensorProto(name="t", data_type=1, dims=[2], float_data=[1])),
     f"{ATTRIBUTE}, tensor 't': 1 value in float_data; float of dims [2] needs 2"),
    (with_attribute(name="", type=3), "node 'p' (graph.node[0], Pad): an attribute has no name"),
    (changed(lambda made: made.graph.node[0].attribute.extend([helper.make_attribute("mode", "edge")] * 2)),
     "node 'p' (graph.node[0], Pad): two attributes have the name 'mode'"),
]  # fmt: skip


LABEL = "node '' (graph.node[{}], {})".format
IF = "y = If (c) <then_branch = t () => (float[N] a) {{ {} }}, else_branch = e () => (float[N] b) {{ {} }}>".format
CYCLE = "graph has a cycle of {} nodes, each of which reads an output of the next one: {}".format
NOTHING = "reads {!r}, which is no input, no initializer and no output of a node".format
NAMES = [
    (text("a = Add (x, b) b = Pad (a, p) y = Neg (b)"), CYCLE(2, f"{LABEL(0, 'Add')}, {LABEL(1, 'Pad')}")),
    (text("a = Neg (b) b = Neg (d) d = Neg (e) e = Neg (f) f = Neg (g) g = Neg (h) h = Neg (a) y = Pad (x, p)"),
     CYCLE(7, ", ".join(LABEL(i, "Neg") for i in range(6)) + ", …")),
    (text(IF("a = Neg (y)", "b = Pad (x, p)")), CYCLE(1, LABEL(0, "If"))),
    (text(IF("a = Neg (d) d = Neg (x)", "b = Pad (x, p)")),
     "node '' (graph.node[0].then_branch.node[0], Neg) reads 'd' before node '' (graph.node[0].then_branch.node[1], "
     "Neg) makes it"),
    (text("y = local.f (x)", local("f", "x", "y", "y = Neg (a) a = Neg (x)")),
     "node '' (functions[0].node[0], Neg) reads 'a' before node '' (functions[0].node[1], Neg) makes it"),
    (text("y = Pad (x, nothing)"), f"{LABEL(0, 'Pad')} {NOTHING('nothing')}"),
    (text("z = Pad (x, p)"), f"the output of graph {NOTHING('y')}"),
    (text("y = Neg (x) y = Pad (x, p)"), f"{LABEL(1, 'Pad')} makes 'y', and so does {LABEL(0, 'Neg')}"),
    (text("x = Neg (x) y = Pad (x, p)"), f"{LABEL(0, 'Neg')} makes 'x', which is an input or an initializer of graph"),
    (one_pad(inputs=[("x", FLOAT, [2, 3])] * 2), "graph has two inputs with the name 'x'"),
    (one_pad(inputs=[("x", FLOAT, [2, 3]), ("", FLOAT, [2, 3])]), "graph.input[1] has no name"),
    (changed(lambda made: made.graph.node[0].ClearField("op_type")),
     "node 'p' (graph.node[0], of no operator): it has no op_type"),
    (changed(lambda made: made.graph.node[0].attribute.append(made.graph.node[0].attribute[0]),
             text(IF("a = Neg (x)", "b = Abs (x)"))),
     "node '' (graph.node[0], If): two attributes have the name 'then_branch'"),
]  # fmt: skip


def growing(count: int) -> onnx.ModelProto:
    bodies = ["y = Pad (x, p)", *(f"a = local.f{i} (x, p) y = local.f{i} (a, p)" for i in range(count - 1))]
    functions = "".join(local(f"f{i}", "x, p", "y", body) for i, body in enumerate(bodies))
    return text(f"y = local.f{count - 1} (x, p)", functions)


CALLS = [
    (text("y = local.f (x)", local("f", "x", "y", "y = local.f (x)")),
     "function 'local::f' calls function 'local::f': a function cannot call itself"),
    (text("y = Pad (x, p)", local("f", "x", "y", "y = local.g (x)") + local("g", "x", "y", "y = local.f (x)")),
     "function 'local::f' calls function 'local::g' calls function 'local::f': a function cannot call itself"),
    (text("y = Pad (x, p)", "".join(local(f"f{i}", "x", "y", f"y = local.f{(i + 1) % 8} (x)") for i in range(8))),
     "".join(f"function 'local::f{i}' calls " for i in range(6))
     + "… (of 8 functions) calls function 'local::f0': a function cannot call itself"),
    (text("y = local.f (x, p)", local("f", "x", "y", "y = Neg (x)")),
     "node '' (graph.node[0], f) has 2 inputs; function 'local::f' has at most 1"),
    (text("y, z = local.f (x)", local("f", "x", "y", "y = Neg (x)")),
     "node '' (graph.node[0], f) has 2 outputs; function 'local::f' has at most 1"),
    (growing(100),
     "the function calls of the model expand to more than 65536 nodes, most of them from "
     "function 'local::f99'; padops accepts at most 65536"),
]  # fmt: skip

COUNTS = [
    (text("a = Cast <to = 1> () y = Pad (a, p)"),
     f"{LABEL(0, 'Cast')} has 0 inputs; Cast of version 17 has at least 1"),
    (text("a = Neg (x, x) y = Pad (a, p)"), f"{LABEL(0, 'Neg')} has 2 inputs; Neg of version 17 has at most 1"),
    (text("a, b = Neg (x) y = Pad (a, p)"), f"{LABEL(0, 'Neg')} has 2 outputs; Neg of version 17 has at most 1"),
    (text("y = local.f (x, p)", local("f", "x, p", "y", "a = Conv (x) y = Pad (a, p)")),
     "node '' (functions[0].node[0], Conv) has 1 input; Conv of version 17 has at least 2"),
]  # fmt: skip

IMPORTS = [
    (changed(lambda made, version=version: setattr(made.opset_import[0], "version", version)),
     f"the model imports version {version} of the domain ''; versions are 1 to 2147483647") for version in (0, 2**31)
]  # fmt: skip

BROKEN = [*((made, PADS + said) for made, said in TENSORS), *ATTRIBUTES, *NAMES, *CALLS, *COUNTS, *IMPORTS]


@pytest.mark.parametrize(("source", "said"), BROKEN, ids=[said[:70] for _, said in BROKEN])
def test_what_is_no_model_is_refused(source: onnx.ModelProto, said: str, tmp_path: Path) -> None:
    assert refusal(source) == said
    path = save(tmp_path / "m.onnx", source)
    for options in ({}, {"target": "onnx"}):
        assert refusal(path, output=tmp_path / "out.onnx", **options) == said
    assert [file.name for file in tmp_path.iterdir()] == ["m.onnx"]


@pytest.mark.parametrize(("domain", "refused"), [("own", True), ("padops", False)])
def test_calls_of_fallbacks_are_never_too_many(domain: str, refused: bool) -> None:
    """Nobody writes them out: a conversion of 1,100 Pads is read again."""
    body = [helper.make_node("Neg", ["x"], ["y"])] * 100
    function = helper.make_function(domain, "Pad_18", ["x"], ["y"], body, [helper.make_opsetid("", 18)])
    calls = [helper.make_node("Pad_18", ["x"], [f"y{i}"], domain=domain) for i in range(1100)]
    made = onnx.ModelProto(functions=[function], graph=onnx.GraphProto(node=calls))
    with pytest.raises(PadopsError, match="expand to more than 65536 nodes") if refused else nullcontext():
        check_calls(made)


@pytest.mark.parametrize(("name", "part"), [
    (b"pads", "graph.node[0] (NodeProto)"),
    (b"ai.none", "opset_import[1] (OperatorSetIdProto)"),
], ids=["node", "domain"])  # fmt: skip
def test_a_name_that_is_not_utf8(name: bytes, part: str, tmp_path: Path) -> None:
    content = model([pad()], imports=[("ai.none", 1)], tensors=[tensor("pads", [0] * 4)]).SerializeToString()
    wrong = b"\xff" + name[1:]
    (tmp_path / "m.onnx").write_bytes(content.replace(name, wrong))
    assert refusal(tmp_path / "m.onnx") == f"{part} has a text that is not UTF-8: {wrong!r}"


@pytest.mark.parametrize(("levels", "said"), [(30, None), (32, "nested"), (1000, "nested")])
def test_graphs_deep_inside_each_other(levels: int, said: str | None, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(deep(one_pad().SerializeToString(), levels))
    if said is None:
        assert padops.convert(path, fold=False).records
    else:
        assert said in refusal(path)


OPERATOR = [
    ([], "Pad_18", {}, "it has no data"),
    (["x"], "Pad_18", {}, "it has no pads"),
    (["x", "pads", "", "", "x"], "Pad_18", {}, "it has 5 inputs; Pad_18 has 4"),
    (["x", "pads"], "Pad_18", {"mode": 1}, "its attribute mode is of type INT, expected STRING"),
    (["x", "pads"], "Pad_18", {"other": 1}, "Pad_18 has no attribute other"),
]


@pytest.mark.parametrize(("inputs", "op_type", "attributes", "reason"), OPERATOR)
@pytest.mark.parametrize("target", ["padops", "onnx", "pyop"])
def test_an_operator_of_padops_that_is_not_as_it_should_be(
    inputs: Sequence[str], op_type: str, attributes: dict[str, Any], reason: str, target: str
) -> None:
    node = helper.make_node(op_type, inputs, ["a"], domain="padops", **attributes)
    body = graph([node, pad(["a", "pads"])], tensors=[tensor("pads", [0, 0, 1, 1])])
    conversion = padops.convert(model(body, 18, imports=[("padops", 1)]), target=target)
    assert [record.reason for record in conversion.records][0] == reason


@pytest.mark.parametrize("target", ["padops", "onnx"])
def test_amounts_of_another_type_in_an_operator_of_padops(target: str) -> None:
    made = padops.convert(one_pad(), fallback=False).proto()
    made.graph.initializer[0].CopyFrom(tensor("pads", [0.5] * 4, np.float32))
    conversion = padops.convert(made, target=target)
    said = "its input pads is of type float, expected integers"
    assert said in (conversion.records[0].reason if target == "onnx" else conversion.no_fallback["Pad_13"])


def test_a_part_of_a_node_that_onnx_ir_cannot_write() -> None:
    source = changed(lambda made: made.graph.node[0].device_configurations.add())
    assert refusal(source).startswith("node 'p' (Pad_13) cannot be written: ")


HOLD = """h = f.H <one = b () => (float[2] f) { f = Constant <value_floats = [1.0, 2.0]> () },
    other = b () => (float[2] d) { [deep] d = f.Deep <body = b () => (float[2] e) { e = Neg (x) }> () }> ()"""
IMPORTED = 'opset_import: ["": 18, "f": 1]>'


def test_the_paths_of_messages_are_those_of_graphs() -> None:
    """In the main graph, in functions, in graphs, also where two nodes have a name."""
    source = onnx.parser.parse_model(
        f"<ir_version: 10, {IMPORTED} g (float[2] x) => (float[2] h) {{ [same] a = Neg (x) [same] b = Neg (a) {HOLD}}}"
        f'<domain: "f", {IMPORTED} F (x) => (h) {{ {HOLD} }}'
    )
    paths = [path for path, _ in labelled_nodes(source)]
    assert sorted(paths) == sorted(site.path for site in walk(onnx_ir.from_proto(source)))
    assert {"graph/same[1]", "function f::F/H_0.other/deep.body/Neg_0"} <= set(paths)


def test_a_function_whose_caller_gives_the_graphs() -> None:
    """A reference to a graph is an attribute of that type without one: the Pad behind it is converted, and runs."""
    one = "b () => (float[2] o) { o = Constant <value_floats = [1.0, 2.0]> () }"
    source = onnx.parser.parse_model(
        f"<ir_version: 9, {IMPORTED} g (bool c) => (float[4] y) {{ y = f.F <then = {one}, other = {one}> (c) }}"
        f'<domain: "f", {IMPORTED} F <then, other> (c) => (y) {{ pads = Constant <value_ints = [1, 1]> () '
        'z = If <then_branch: graph = @then, else_branch: graph = @other> (c) [pad] y = Pad <mode = "wrap"> (z, pads) }'
    )
    result = convert(source)
    assert [(record.path, record.status) for record in result.records] == [("function f::F/pad", "converted")]
    (converted,) = [row for row in result.proto().functions if row.name == "F"]
    assert [node.op_type for node in converted.node] == ["Constant", "If", "Pad_19"]
    assert converted.node[1] == source.functions[0].node[1]
