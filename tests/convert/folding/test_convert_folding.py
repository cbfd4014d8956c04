"""Folding: Pads that change nothing, in every form; what is told of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from folding_models import ZEROS, fold, operators, outcomes, padded, relu
from onnx import helper
from small_models import FLOAT, graph, info, model, pad, tensor

from padops.cli import main

MS = "com.microsoft"


def node(op: str, inputs: list[str], **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, ["p"], name="pad", domain="padops", **attributes)


# --- forms ------------------------------------------------------------------------------------------------------------

Z2 = tensor("z", [0, 0])
FORMS = {
    "Pad-1": (1, pad(["x"], "p", name="pad", paddings=[0] * 4), [], []),
    "Pad-2": (10, pad(["x"], "p", name="pad", pads=[0] * 4, mode="edge"), [], []),
    "Pad-2 under 13": (13, pad(["x"], "p", name="pad", pads=[0] * 4), [], []),
    "Pad-13": (17, pad(["x", "z"], "p", name="pad", mode="reflect"), [ZEROS], []),
    "Pad-18 with axes": (18, pad(["x", "z", "", "a"], "p", name="pad"), [Z2, tensor("a", [-1])], []),
    "Pad-19 wrap": (19, pad(["x", "z"], "p", name="pad", mode="wrap"), [ZEROS], []),
    "com.microsoft": (17, pad(["x", "z"], "p", name="pad", domain=MS), [ZEROS], [(MS, 1)]),
    "padops Pad_2": (17, node("Pad_2", ["x"], pads=[0] * 4), [], [("padops", 1)]),
    "padops Pad_18": (17, node("Pad_18", ["x", "z"]), [ZEROS], [("padops", 1)]),
    "padops OpenVINOPad_12": (17, node("OpenVINOPad_12", ["x", "z", "z"], pad_mode="symmetric"), [Z2], [("padops", 1)]),
    "padops NGraphPad_0": (
        17, node("NGraphPad_0", ["x", "f"], padding_below=[0, 0], padding_above=[0, 0]),
        [tensor("f", 7, np.float32)], [("padops", 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("amounts", "axes"), [([0], [-1]), ([0, 0, 0, 0], [0]), ([0, 0, 0, 0], [1, 1])])
def test_amounts_of_nothing_that_break_a_rule_stay(amounts: list[int], axes: list[int]) -> None:
    """P8, of data whose rank nothing tells."""
    held = [tensor("n", amounts), tensor("axes", axes)]
    source = model([pad(["x", "n", "", "axes"], "y", name="pad")], 18, inputs=[("x", FLOAT, None)], tensors=held)
    assert [record.status for record in fold(source).records] == ["unconverted"]


@pytest.mark.parametrize(("form", "declared"), [(form, ([2, 3], [None, "w"], None)[i % 3]) for i, form in
                                                enumerate(FORMS)])  # fmt: skip
def test_nothing_is_left_of_a_pad_that_changes_nothing(form: str, declared: Any) -> None:
    opset, made, tensors, imports = FORMS[form]
    version = 3 if opset < 7 else 8
    source = model([made, relu()], opset, ir_version=version, inputs=[("x", FLOAT, declared)], tensors=tensors,
                   imports=imports)  # fmt: skip
    if version == 8:
        source.graph.value_info.append(info(("p", FLOAT, declared)))
    conversion = fold(source, verify=opset != 1, run=opset != 1)  # ONNX Runtime has nothing of opset 1
    message = conversion.proto()
    assert outcomes(conversion) == [("pad", "folded", ())]
    assert conversion.records[0].notes == ("it changes nothing",)
    assert operators(message) == ["Relu"] and list(message.graph.node[0].input) == ["x"]
    assert not message.graph.initializer and not message.graph.value_info and not message.functions
    assert "padops" not in {row.domain for row in message.opset_import}
    if opset != 1:
        assert conversion.verification.outcome == ("runs" if form == "Pad-2 under 13" else "equal")
    again = fold(message)
    assert again.proto() == message and again.records == () and again.notes == ("the model has no Pad",)


def test_a_square_that_pads_nothing() -> None:
    """SamePad_1 depends on the shape, but not where there is nothing around a window of one element."""
    for attributes, shape, gone in [
        ({"kernel_shape": [3], "auto_pad": "VALID"}, ["n", "c", "w"], True),
        ({"kernel_shape": [3], "auto_pad": "VALID"}, None, True),
        ({"kernel_shape": [1]}, [1, 2, 8], True),
        ({"kernel_shape": [3]}, [1, 2, 8], False),
        ({"kernel_shape": [3], "strides": [8]}, [1, 2, "w"], False),
    ]:
        source = model([node("SamePad_1", ["x"], **attributes), relu()], inputs=[("x", FLOAT, shape)],
                       imports=[("padops", 1)])  # fmt: skip
        assert ("padops::SamePad_1" not in operators(fold(source).proto())) == gone


# --- outputs and types ------------------------------------------------------------------------------------------------


def test_outputs_keep_their_names_and_their_order() -> None:
    """A Pad whose output is one of the graph becomes Identity; a value may be several outputs' data."""
    nodes = [relu("x", "r"), pad(["r", "z"], "b", name="one"), pad(["x", "z"], "a", name="two"),
             helper.make_node("Relu", ["b"], ["c"], name="last")]  # fmt: skip
    source = model(nodes, outputs=[("a", FLOAT, None), ("b", FLOAT, None), ("c", FLOAT, None), ("r", FLOAT, None)],
                   tensors=[ZEROS])  # fmt: skip
    conversion = fold(source, verify=True, run=True)
    message = conversion.proto()
    assert message.graph.output == source.graph.output
    assert operators(message) == ["Relu", "Identity", "Identity", "Relu"]
    assert [n.name for n in message.graph.node] == ["relu", "one", "two", "last"]
    assert [record.notes for record in conversion.records] == [("it changes nothing",)] * 2
    assert conversion.verification.outcome == "equal"
    assert fold(message).proto() == message


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, output, report = tmp_path / "in.onnx", tmp_path / "out.onnx", tmp_path / "report.json"
    weights = {"w": np.ones((2, 1, 3), np.float32)}
    onnx.save(padded([0, 0, 1, 0, 0, 1], "Conv", others=weights), source)
    assert main(["convert", str(source), "-o", str(output), "--verify", "--run", "--report", str(report)]) == 0
    told = capsys.readouterr().out
    assert (
        "in graph/node" in told and "pads [1, 1]" in told and "1 Pad: 1 folded; wrote" in told and "bit-equal" in told
    )
    data = json.loads(report.read_text())
    assert data["counts"]["folded"] == 1 and data["pads"][0]["into"] == ["graph/node"]
    assert data["pads"][0]["status"] == "folded" and data["pads"][0]["op_type"] is None
    assert operators(onnx.load(output)) == ["Conv"]
    assert main(["convert", str(source), "-o", str(output), "--no-fold", "--no-fallback"]) == 0
    assert "padops::Pad_13" in capsys.readouterr().out
    assert operators(onnx.load(output)) == ["padops::Pad_13", "Conv"]
    assert main(["convert", str(output), "--in-place", "--verify", "--run"]) == 0
    assert "1 folded" in capsys.readouterr().out and operators(onnx.load(output)) == ["Conv"]


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
    convolution = helper.make_node("Conv", ["p", "x"], ["t"])
    then = graph([helper.make_node("Relu", ["c2"], ["x"]), convolution], inputs=[], outputs=[("t", FLOAT, None)])
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=then)
    dims = [("x", FLOAT, [1, 1, 5]), ("c", 9, []), ("c2", FLOAT, [1, 1, 3])]
    source = model([pad(["x", "z"], "p"), chosen], inputs=dims, tensors=[tensor("z", [0, 0, 1, 0, 0, 1])])
    assert [status for _, status, _ in outcomes(fold(source))] == ["converted"]


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
