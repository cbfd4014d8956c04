"""Models that are none: each is refused, on every road, by a message that names the part and the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
from broken_models import BROKEN, changed
from mutation.onnx_changes import deep
from onnx import helper
from small_models import BOOL, FLOAT, convert, graph, info, model, one_pad, pad, tensor

import padops
from padops.convert import PadopsError
from padops.convert.inputs.pads import labelled_nodes
from padops.convert.model.checks import check_calls
from padops.convert.model.graphs import walk


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(PadopsError) as caught:
        padops.convert(source, **options)
    return str(caught.value)


@pytest.mark.parametrize(("source", "said"), BROKEN, ids=[said[:70] for _, said in BROKEN])
def test_what_is_no_model_is_refused(source: onnx.ModelProto, said: str, tmp_path: Path) -> None:
    assert refusal(source) == said
    path = tmp_path / "m.onnx"
    path.write_bytes(source.SerializeToString())
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
    with pytest.raises(PadopsError, match="stand for more than 65536 nodes") if refused else nullcontext():
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


DEEP = [(30, None), (32, "nested"), (1000, "nested")]


@pytest.mark.parametrize(("levels", "said"), DEEP)
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


DOMAIN = "test.foreign"
IMPORTS = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 1)]


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
    choice = helper.make_node("If", ["c"], ["z"])
    for name, given in (("then_branch", "then"), ("else_branch", "other")):
        choice.attribute.add(name=name, ref_attr_name=given, type=onnx.AttributeProto.GRAPH)
    one = onnx.parser.parse_graph("b () => (float[2] o) { o = Constant <value_floats = [1.0, 2.0]> () }")
    pads = helper.make_node("Constant", [], ["pads"], value_ints=[1, 1])
    pad = helper.make_node("Pad", ["z", "pads"], ["y"], "pad", mode="wrap")
    function = helper.make_function(DOMAIN, "F", ["c"], ["y"], [pads, choice, pad], IMPORTS, ["then", "other"])
    call = helper.make_node("F", ["c"], ["y"], domain=DOMAIN, then=one, other=one)
    graph = helper.make_graph([call], "main", [info(("c", BOOL, []))], [info(("y", FLOAT, [4]))])
    model = helper.make_model(graph, functions=[function], opset_imports=IMPORTS, ir_version=9)
    result = convert(model)
    assert [(record.path, record.status) for record in result.records] == [(f"function {DOMAIN}::F/pad", "converted")]
    (converted,) = [row for row in result.proto().functions if row.name == "F"]
    assert [node.op_type for node in converted.node] == ["Constant", "If", "Pad_19"]
    assert converted.node[1] == choice
