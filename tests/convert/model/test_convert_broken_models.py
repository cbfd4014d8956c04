"""Models that are none: each is refused, on every road, by a message that names the part and the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from broken_models import BROKEN, LABEL, changed, text
from mutation.onnx_changes import deep
from onnx import TensorProto, helper
from small_models import BOOL, FLOAT, convert, graph, info, model, one_pad, pad, tensor

import padops
from padops.convert import PadopsError
from padops.convert.inputs.pads import labelled_nodes
from padops.convert.model.checks import check_calls
from padops.convert.model.document import LARGEST_PROTO

ROADS: dict[str, dict[str, Any]] = {
    "fold": {},
    "no fold": {"fold": False},
    "onnx": {"target": "onnx"},
    "pyop": {"target": "pyop"},
    "needed": {"select": "needed", "fallback": False},
    "auto pad": {"auto_pad": "explicit"},
    "verify": {"verify": True, "run": True},
}


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(PadopsError) as caught:
        padops.convert(source, **options)
    return str(caught.value)


@pytest.mark.parametrize(("source", "said"), BROKEN, ids=[said[:70] for _, said in BROKEN])
def test_what_is_no_model_is_refused(source: onnx.ModelProto, said: str, tmp_path: Path) -> None:
    assert refusal(source) == said
    path = tmp_path / "m.onnx"
    path.write_bytes(source.SerializeToString())
    for options in ({}, {"fold": False}, {"target": "onnx"}):
        assert refusal(path, output=tmp_path / "out.onnx", **options) == said
    assert [file.name for file in tmp_path.iterdir()] == ["m.onnx"]


CYCLE = text("a = Pad (b, p) b = Pad (a, p) y = Neg (b)")
SAID_OF_CYCLE = (
    f"graph has a cycle of 2 nodes, each of which reads what the next one makes: {LABEL(0, 'Pad')}, {LABEL(1, 'Pad')}"
)


@pytest.mark.parametrize("road", ROADS)
def test_a_cycle_is_refused_on_every_road(road: str) -> None:
    assert refusal(CYCLE, **ROADS[road]) == SAID_OF_CYCLE


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


def test_offsets_and_lengths_of_thousands_of_digits(tmp_path: Path) -> None:
    source = one_pad()
    data = source.graph.initializer[0]
    data.ClearField("raw_data")
    data.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("length", "9" * 5000)):
        data.external_data.add(key=key, value=value)
    (tmp_path / "w.bin").write_bytes(b"\0" * 32)
    onnx.save(source, tmp_path / "m.onnx")
    assert refusal(tmp_path / "m.onnx") == (
        f"tensor 'pads' (graph.initializer[0]): offset '0' and length '{'9' * 39} of its data must be numbers of bytes"
    )


def test_the_largest_message() -> None:
    """The limit is that of protobuf, which refuses one byte more."""
    assert LARGEST_PROTO == 2**31 - 1


DOMAIN = "test.foreign"
IMPORTS = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 1)]


def constant(name: str, *values: float) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value_floats=[float(value) for value in values])


def body(name: str, *inner: onnx.NodeProto) -> onnx.GraphProto:
    return helper.make_graph([*inner, constant(name, 1, 2)], name, [], [info((name, FLOAT, [2]))])


def nested() -> onnx.NodeProto:
    """A node with a graph, a list of two, and in the second of those a node with a graph again."""
    deepest = helper.make_node("Deep", [], ["d"], "deep", domain=DOMAIN, body=body("deepest"))
    graphs = {"one": body("first"), "many": [body("second"), body("third", deepest)]}
    return helper.make_node("Holder", [], ["h"], "holder", domain=DOMAIN, count=3, **graphs)


def test_the_main_graph_and_functions_alike() -> None:
    function = helper.make_function(DOMAIN, "F", [], ["h"], [nested()], [helper.make_opsetid(DOMAIN, 1)])
    graph = helper.make_graph([nested()], "main", [], [info(("h", FLOAT, None))])
    model = helper.make_model(graph, functions=[function], opset_imports=[helper.make_opsetid("", 18)])
    inner = ["", ".many[0]/Constant_0", ".many[1]/deep", ".many[1]/Constant_1", ".many[1]/deep.body/Constant_0",
             ".one/Constant_0"]  # fmt: skip
    expected = [f"{first}/holder{rest}" for first in ("graph", f"function {DOMAIN}::F") for rest in inner]
    assert [path for path, _ in labelled_nodes(model)] == expected


def test_a_function_whose_caller_gives_the_graphs() -> None:
    """A reference to a graph is an attribute of that type without one: the Pad behind it is converted, and runs."""
    choice = helper.make_node("If", ["c"], ["z"])
    for name, given in (("then_branch", "then"), ("else_branch", "other")):
        choice.attribute.add(name=name, ref_attr_name=given, type=onnx.AttributeProto.GRAPH)
    pads = helper.make_node("Constant", [], ["pads"], value_ints=[1, 1])
    pad = helper.make_node("Pad", ["z", "pads"], ["y"], "pad", mode="wrap")
    function = helper.make_function(DOMAIN, "F", ["c"], ["y"], [pads, choice, pad], IMPORTS, ["then", "other"])
    call = helper.make_node("F", ["c"], ["y"], domain=DOMAIN, then=body("one"), other=body("two"))
    graph = helper.make_graph([call], "main", [info(("c", BOOL, []))], [info(("y", FLOAT, [4]))])
    model = helper.make_model(graph, functions=[function], opset_imports=IMPORTS, ir_version=9)
    result = convert(model)
    assert [(record.path, record.status) for record in result.records] == [(f"function {DOMAIN}::F/pad", "converted")]
    (converted,) = [row for row in result.proto().functions if row.name == "F"]
    assert [node.op_type for node in converted.node] == ["Constant", "If", "Pad_19"]
    assert converted.node[1] == choice
