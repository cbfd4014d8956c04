"""The walker of a message reaches all graphs: in attributes, in lists, in functions and in each other."""

from __future__ import annotations

import re

import onnx
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, convert, info

import padops
from padops.convert.inputs.pads import bodies
from padops.convert.model.nesting import graphs_in, graphs_of, nodes_of

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


def test_every_graph_and_every_node() -> None:
    node = nested()
    assert [(name, graph.name) for name, graph in graphs_in(node.attribute)] == [
        ("many[0]", "second"),
        ("many[1]", "third"),
        ("one", "first"),
    ]
    graph = helper.make_graph([constant("c", 1), node], "main", [], [])
    assert [inner.name for inner in graphs_of(graph)] == ["main", "second", "third", "deepest", "first"]
    assert [(place, found.output[0]) for place, found in nodes_of(graph.node, "graph")] == [
        ("graph.node[0]", "c"),
        ("graph.node[1]", "h"),
        ("graph.node[1].many[0].node[0]", "second"),
        ("graph.node[1].many[1].node[0]", "d"),
        ("graph.node[1].many[1].node[0].body.node[0]", "deepest"),
        ("graph.node[1].many[1].node[1]", "third"),
        ("graph.node[1].one.node[0]", "first"),
    ]


def test_the_main_graph_and_functions_alike() -> None:
    function = helper.make_function(DOMAIN, "F", [], ["h"], [nested()], [helper.make_opsetid(DOMAIN, 1)])
    graph = helper.make_graph([nested()], "main", [], [info(("h", FLOAT, None))])
    model = helper.make_model(graph, functions=[function], opset_imports=[helper.make_opsetid("", 18)])
    inner = ["", ".many[0]", ".many[1]", ".many[1]/deep.body", ".one"]
    expected = [
        f"{first}{f'/holder{rest}' if rest else ''}" for first in ("graph", f"function {DOMAIN}::F") for rest in inner
    ]
    assert [located.path for located in bodies(model)] == expected


def test_a_broken_call_in_a_list_of_graphs_is_named() -> None:
    """Which of the graphs it stands in is said, too."""
    function = helper.make_function(DOMAIN, "F", ["x"], ["y"], [helper.make_node("Relu", ["x"], ["y"])], IMPORTS)
    call = helper.make_node("F", ["c", "c"], ["f"], "call", domain=DOMAIN)
    inner = helper.make_graph([constant("c", 1), call], "inner", [], [])
    holder = helper.make_node("Holder", [], ["h"], domain=DOMAIN, many=[body("first"), inner])
    graph = helper.make_graph([holder], "main", [], [info(("h", FLOAT, None))])
    model = helper.make_model(graph, functions=[function], opset_imports=IMPORTS)
    place = "node 'call' (graph.node[0].many[1].node[1], F)"
    with pytest.raises(
        padops.PadopsError, match=re.escape(f"{place} calls function '{DOMAIN}::F' with 2 inputs; it has 1")
    ):
        padops.convert(model)


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
