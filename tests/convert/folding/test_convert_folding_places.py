"""Folding Pads that change nothing in branches, loops and functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from folding_models import DATA, ZEROS, fold, operators, outcomes, padded, relu, run
from onnx import helper
from small_models import FLOAT, INT16, graph, model, pad, tensor

import padops


def branching(
    inner: list[onnx.NodeProto], outer: list[onnx.NodeProto] = (), tensors: Any = (ZEROS,)
) -> onnx.ModelProto:
    """An If whose branches are ``inner`` and a Neg of x."""
    then = graph(inner, inputs=[], outputs=[("t", FLOAT, None)], name="then")
    other = graph([helper.make_node("Neg", ["x"], ["e"])], inputs=[], outputs=[("e", FLOAT, None)], name="else")
    chosen = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other)
    return model([*outer, chosen], inputs=[("x", FLOAT, [2, 3]), ("c", 9, [])], tensors=list(tensors))


BRANCHES = {
    "in a branch": branching([pad(["x", "z"], "p", name="pad"), relu("p", "t")]),
    "as its output": branching([pad(["x", "z"], "t", name="pad")]),
    "captured": branching([relu("p", "t")], [pad(["x", "z"], "p", name="pad")]),
    "behind a capture": branching([relu("q", "t")], [relu("x", "r"), pad(["r", "z"], "q", name="pad")]),
}


@pytest.mark.parametrize("where", BRANCHES)
def test_branches(where: str) -> None:
    conversion = fold(BRANCHES[where])
    message = conversion.proto()
    assert [status for _, status, _ in outcomes(conversion)] == ["folded"]
    assert not any(row.domain == "padops" for row in message.opset_import)
    for chosen in (True, False):
        feeds = DATA | {"c": np.array(chosen)}
        for level in ("DISABLE_ALL", "ENABLE_ALL"):
            assert run(message, feeds, level) == run(BRANCHES[where], feeds, level)


def test_a_hidden_name() -> None:
    """In the branch, x is another value than outside it, so that it cannot stand for p there."""
    inner = [helper.make_node("Relu", ["c2"], ["x"]), helper.make_node("Add", ["p", "x"], ["t"])]
    then = graph(inner, inputs=[], outputs=[("t", FLOAT, None)], name="then")
    other = graph([helper.make_node("Neg", ["p"], ["e"])], inputs=[], outputs=[("e", FLOAT, None)], name="else")
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    source = model([pad(["x", "z"], "p", name="pad"), chosen], tensors=[ZEROS],
                   inputs=[("x", FLOAT, [2, 3]), ("c", 9, []), ("c2", FLOAT, [2, 3])])  # fmt: skip
    conversion = fold(source)
    assert operators(conversion.proto()) == ["Identity", "If"]
    assert conversion.records[0].notes[1] == "an Identity stays: another value hides the name of its data"
    convolution = helper.make_node("Conv", ["p", "x"], ["t"])
    then = graph([helper.make_node("Relu", ["c2"], ["x"]), convolution], inputs=[], outputs=[("t", FLOAT, None)])
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=then)
    dims = [("x", FLOAT, [1, 1, 5]), ("c", 9, []), ("c2", FLOAT, [1, 1, 3])]
    source = model([pad(["x", "z"], "p"), chosen], inputs=dims, tensors=[tensor("z", [0, 0, 1, 0, 0, 1])])
    assert [status for _, status, _ in outcomes(fold(source))] == ["converted"]


def loop() -> onnx.ModelProto:
    """A Loop that carries what a Pad gives, with a Pad in its body; the body says things that no pass may lose."""
    body = graph(
        [pad(["s", "z"], "p", name="inner"), relu("p", "t"), helper.make_node("Identity", ["k"], ["l"])],
        inputs=[("i", 7, []), ("k", 9, []), ("s", FLOAT, [2, 3])], outputs=[("l", 9, []), ("t", FLOAT, [2, 3])],
        name="body",
    )  # fmt: skip
    body.doc_string = "kept"
    body.node[2].doc_string = "kept, too"
    made = helper.make_node("Loop", ["n", "", "q"], ["y"], body=body, name="loop")
    return model([pad(["x", "z"], "q", name="outer"), made], tensors=[ZEROS, tensor("n", 3)])


def test_a_loop() -> None:
    conversion = fold(loop(), verify=True, run=True)
    assert [path for path, _, _ in outcomes(conversion)] == ["outer", "inner"]
    (made,) = conversion.proto().graph.node
    assert list(made.input) == ["n", "", "x"] and operators(made.attribute[0].g) == ["Relu", "Identity"]
    assert made.attribute[0].g.doc_string == "kept" and made.attribute[0].g.node[1].doc_string == "kept, too"
    assert conversion.verification.outcome == "equal"


def test_functions() -> None:
    """Behind a node; where the output of the function is the Pad's, an Identity stays."""
    constant = helper.make_node("Constant", [], ["z"], value=ZEROS)
    nodes = [constant, pad(["i", "z"], "p", name="one"), relu("p", "q"), pad(["q", "z"], "o", name="two")]
    function = helper.make_function("mine", "Block", ["i"], ["o"], nodes, [helper.make_opsetid("", 17)])
    call = helper.make_node("Block", ["x"], ["y"], domain="mine")
    conversion = fold(model([call], functions=[function], imports=[("mine", 1)]), verify=True, run=True)
    assert operators(conversion.proto().functions[0]) == ["Relu", "Identity"]
    assert [record.path for record in conversion.records] == ["function mine::Block/one", "function mine::Block/two"]
    assert conversion.verification.outcome == "equal"


def test_fallback_functions_are_left_alone() -> None:
    source = padded([0, 1, 0, 0], kind=INT16, op=helper.make_node("Neg", ["p"], ["y"]), opset=13)
    once = padops.convert(source)
    again = padops.convert(once.proto())
    assert [f.name for f in once.proto().functions] == ["Pad_13"]
    assert again.proto() == once.proto() and again.notes == ("nothing had to be changed",)


def test_paths_are_those_of_the_source() -> None:
    """A Pad without a name is called by its position, also where the one before it is gone."""
    nodes = [pad(["x", "z"], "p"), relu("p", "q"), pad(["q", "o"], "r"), helper.make_node("Neg", ["r"], ["y"])]
    conversion = fold(model(nodes, tensors=[ZEROS, tensor("o", [1, 0, 0, 0])]))
    assert outcomes(conversion) == [("Pad_0", "folded", ()), ("Pad_2", "converted", ())]
