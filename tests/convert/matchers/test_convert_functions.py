"""Pads in functions, with what a caller gives them."""

from __future__ import annotations

import onnx
import pytest
from nested_models import function, reference
from onnx import helper
from small_models import (
    FLOAT,
    INT32,
    X,
    convert,
    model,
    pad,
    same_but_for_the_pads,
    tensor,
)


@pytest.mark.parametrize(
    ("other", "kind", "status"),
    [("constant", FLOAT, "converted"), ("edge", FLOAT, "converted"), ("constant", INT32, "unconverted")],
)
@pytest.mark.parametrize("opset", [10, 18])
def test_a_fill_is_kept_where_a_caller_may_read_it(opset: int, other: str, kind: int, status: str) -> None:
    """A node with wrap has to have inputs, also for the calls that fill; calls of two types give no type to a fill."""
    node = pad(["a"], "r", pads=[0, 1, 0, 1], value=5.0)
    node.attribute.append(reference("mode", onnx.AttributeProto.STRING, "how"))
    calls = [helper.make_node("Block", [x], [how], domain="custom", how=how)
             for how, x in ((other, "x"), ("wrap", "z"))]  # fmt: skip
    source = model(calls, opset, functions=[function(opset, [node], ("how",))], imports=[("custom", 1)], ir_version=9,
                   inputs=[X, ("z", kind, [2, 3])], outputs=[(other, FLOAT, None), ("wrap", kind, None)])  # fmt: skip
    (record,) = convert(
        source, verify=opset == 10 and kind == FLOAT, run=opset == 10 and kind == FLOAT
    ).records  # ONNX Runtime refuses attributes at opset 18
    assert record.status == status
    if status == "unconverted":
        assert record.reason == "the attribute value 5.0 has to become an input, and the type of the data is unknown"


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_a_mode_that_comes_through_two_functions(domain: str) -> None:
    """The call in the first function says nothing of its own; where the second has a default, that is not meant."""
    node = pad(["a", "p"], "r", domain=domain)
    node.attribute.append(reference("mode", onnx.AttributeProto.STRING, "how"))
    constant = helper.make_node("Constant", [], ["p"], value=tensor("", [0, 1, 0, 1]))
    inner = function(13, [constant, node], how="edge")
    passes_on = helper.make_node("Block", ["a"], ["r"], domain="custom")
    passes_on.attribute.append(reference("how", onnx.AttributeProto.STRING, "outer"))
    imports = [helper.make_opsetid(name, 1) for name in ("custom", "com.microsoft")]
    inner.opset_import.append(imports[1])
    outer = helper.make_function("custom", "Outer", ["a"], ["r"], [passes_on], imports, ["outer"])
    calls = [helper.make_node("Outer", ["x"], ["y"], domain="custom", outer="wrap"),
             helper.make_node("Outer", ["x"], ["z"], domain="custom")]  # fmt: skip
    source = model(calls, 13, functions=[inner, outer], imports=[("custom", 1), ("com.microsoft", 1)], ir_version=9,
                   outputs=[("y", FLOAT, None), ("z", FLOAT, None)])  # fmt: skip
    conversion = convert(source, verify=True, run=True)
    assert conversion.records[0].op_type == "Pad_19"
    assert conversion.verification.outcome == "equal"


def test_amounts_that_the_caller_gives() -> None:
    node = pad(["a"], "r")
    node.attribute.append(reference("pads", onnx.AttributeProto.INTS, "by"))
    node.attribute.append(reference("value", onnx.AttributeProto.FLOAT, "with"))
    body = function(17, [node], ("by", "with"))
    call = helper.make_node("Block", ["x"], ["y"], domain="custom", by=[0, 1, 0, 2], **{"with": 4.0})
    source = model([call], 17, functions=[body], imports=[("custom", 1)], ir_version=9)
    conversion = convert(source, verify=True, run=True)
    assert conversion.verification.outcome == "runs"  # onnxruntime refuses the original, and it is not of Pads alone
    assert same_but_for_the_pads(source, conversion.proto())
    body.node[0].attribute.append(helper.make_attribute("mode", "wrap"))
    source = model([call], 17, functions=[body], imports=[("custom", 1)], ir_version=9)
    reason = "pads is given by the caller of the function, but has to become an input"
    assert convert(source).records[0].reason == reason
