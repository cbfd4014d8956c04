"""Folding: Pads that change nothing, in every form; what is told of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from folding_models import fold, operators, outcomes, padded
from onnx import parser

from padops.cli import main

Z4, Z2, NONE = "int64[4] z = {0, 0, 0, 0}", "int64[2] z = {0, 0}", "[0, 0, 0, 0]"


def parsed(
    nodes: str,
    tensors: str = Z4,
    opset: int = 17,
    x: str = "float[2, 3] x",
    y: str = "float[] y",
    ir_version: int = 8,
    functions: str = "",
) -> onnx.ModelProto:
    imports = f'"": {opset}, "com.microsoft": 1, "padops": 1, "mine": 1'
    return parser.parse_model(f"""<ir_version: {ir_version}, opset_import: [{imports}]>
        g ({x}) => ({y}) <{tensors}> {{ {nodes} }} {functions}""")


# --- forms ------------------------------------------------------------------------------------------------------------

FORMS = {
    "Pad-1": (1, f"Pad <paddings = {NONE}> (x)", ""),
    "Pad-2": (10, f'Pad <pads = {NONE}, mode = "edge"> (x)', ""),
    "Pad-2 under 13": (13, f"Pad <pads = {NONE}> (x)", ""),
    "Pad-13": (17, 'Pad <mode = "reflect"> (x, z)', Z4),
    "Pad-18 with axes": (18, "Pad (x, z, , a)", f"{Z2}, int64[1] a = {{-1}}"),
    "Pad-19 wrap": (19, 'Pad <mode = "wrap"> (x, z)', Z4),
    "com.microsoft": (17, "com.microsoft.Pad (x, z)", Z4),
    "padops Pad_2": (17, f"padops.Pad_2 <pads = {NONE}> (x)", ""),
    "padops Pad_18": (17, "padops.Pad_18 (x, z)", Z4),
    "padops OpenVINOPad_12": (17, 'padops.OpenVINOPad_12 <pad_mode = "symmetric"> (x, z, z)', Z2),
    "padops NGraphPad_0": (17, "padops.NGraphPad_0 <padding_below = [0, 0], padding_above = [0, 0]> (x, f)",
                           "float f = {7}"),
}  # fmt: skip


@pytest.mark.parametrize(("amounts", "axes"), [([0], [-1]), ([0, 0, 0, 0], [0]), ([0, 0, 0, 0], [1, 1])])
def test_amounts_of_nothing_that_break_a_rule_stay(amounts: list[int], axes: list[int]) -> None:
    """P8, of data whose rank nothing tells."""
    held = ", ".join(f"int64[{len(row)}] {n} = {{{str(row)[1:-1]}}}" for n, row in (("n", amounts), ("a", axes)))
    source = parsed("y = Pad (x, n, , a)", held, 18, "float[] x")
    assert [record.status for record in fold(source).records] == ["unconverted"]


@pytest.mark.parametrize(("form", "dims"), [(form, ("[2, 3]", "[?, w]", "[]")[i % 3]) for i, form in enumerate(FORMS)])
def test_nothing_is_left_of_a_pad_that_changes_nothing(form: str, dims: str) -> None:
    opset, made, tensors = FORMS[form]
    runs = opset != 1  # ONNX Runtime has nothing of opset 1
    held = ", ".join(filter(None, [tensors, f"float{dims} p" if runs else ""]))
    source = parsed(f"[pad] p = {made} y = Relu (p)", held, opset, f"float{dims} x", ir_version=8 if runs else 3)
    conversion = fold(source, verify=runs, run=runs)
    message = conversion.proto()
    assert outcomes(conversion) == [("pad", "folded", ())]
    assert conversion.records[0].notes == ("it changes nothing",)
    assert operators(message) == ["Relu"] and list(message.graph.node[0].input) == ["x"]
    assert not message.graph.initializer and not message.graph.value_info and not message.functions
    assert "padops" not in {row.domain for row in message.opset_import}
    assert not runs or conversion.verification.outcome == ("runs" if form == "Pad-2 under 13" else "equal")
    again = fold(message)
    assert again.proto() == message and again.records == () and again.notes == ("the model has no Pad",)


def test_a_square_that_pads_nothing() -> None:
    """SamePad_1 depends on the shape, but not where there is nothing around a window of one element."""
    for attributes, dims, gone in [
        ('kernel_shape = [3], auto_pad = "VALID"', "n, c, w", True),
        ('kernel_shape = [3], auto_pad = "VALID"', "", True),
        ("kernel_shape = [1]", "1, 2, 8", True),
        ("kernel_shape = [3]", "1, 2, 8", False),
        ("kernel_shape = [3], strides = [8]", "1, 2, w", False),
    ]:
        source = parsed(f"p = padops.SamePad_1 <{attributes}> (x) y = Relu (p)", "", x=f"float[{dims}] x")
        assert ("padops::SamePad_1" not in operators(fold(source).proto())) == gone


# --- outputs and types ------------------------------------------------------------------------------------------------


def test_outputs_keep_their_names_and_their_order() -> None:
    """A Pad whose output is one of the graph becomes Identity; a value may be several outputs' data."""
    nodes = "[relu] r = Relu (x) [one] b = Pad (r, z) [two] a = Pad (x, z) [last] c = Relu (b)"
    source = parsed(nodes, y="float[] a, float[] b, float[] c, float[] r")
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
    given = "float[2, 3] x, bool c, float[2, 3] c2"
    then, other = "then () => (float[] t) { x = Relu (c2) t = Add (p, x) }", "else () => (float[] e) { e = Neg (p) }"
    nodes = f"[pad] p = Pad (x, z) y = If (c) <then_branch = {then}, else_branch = {other}>"
    assert operators(fold(parsed(nodes, x=given)).proto()) == ["Identity", "If"]
    given = "float[1, 1, 5] x, bool c, float[1, 1, 3] c2"
    then = then.replace("Add", "Conv")
    nodes = f"p = Pad (x, z) y = If (c) <then_branch = {then}, else_branch = {then}>"
    conversion = fold(parsed(nodes, "int64[6] z = {0, 0, 1, 0, 0, 1}", x=given))
    assert [status for _, status, _ in outcomes(conversion)] == ["converted"]


def test_functions() -> None:
    """Behind a node; where the output of the function is the Pad's, an Identity stays."""
    block = """<domain: "mine", opset_import: ["": 17]> Block (i) => (o)
        { z = Constant <value = int64[4] {0, 0, 0, 0}> () [one] p = Pad (i, z) q = Relu (p) [two] o = Pad (q, z) }"""
    conversion = fold(parsed("y = mine.Block (x)", functions=block), verify=True, run=True)
    assert operators(conversion.proto().functions[0]) == ["Relu", "Identity"]
    assert [record.path for record in conversion.records] == ["function mine::Block/one", "function mine::Block/two"]
    assert conversion.verification.outcome == "equal"
