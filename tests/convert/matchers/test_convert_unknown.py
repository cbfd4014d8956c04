"""Nodes that may be Pads by their names: named as unknown wherever models are looked at, and left with the reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from onnx import helper
from onnxruntime.capi import onnxruntime_pybind11_state
from small_models import FLOAT, graph, model

import padops

UNKNOWN: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("", "PadPacked", {}, "ai.onnx::PadPacked", "padops does not know PadPacked of the domain ai.onnx"),
    ("custom", "ZeroPadding2D", {}, "custom::ZeroPadding2D", "padops does not know ZeroPadding2D of the domain custom"),
    ("org.openvinotoolkit", "Pad", {}, "org.openvinotoolkit::Pad", "does not know the domain org.openvinotoolkit"),
    ("TFL", "MIRROR_PAD", {}, "TFL::MIRROR_PAD", "padops does not know MIRROR_PAD of the domain TFL"),
    ("mmdeploy", "TRTReflectionPad2d", {}, "mmdeploy::TRTReflectionPad2d", "does not know TRTReflectionPad2d"),
    ("org.pytorch.aten", "ATen", {"operator": "pad_sequence"}, "org.pytorch.aten::ATen of pad_sequence",
     "it calls PyTorch's pad_sequence, which padops does not know"),
    ("org.pytorch.aten", "reflection_pad2d_backward", {}, "org.pytorch.aten::reflection_pad2d_backward",
     "does not know reflection_pad2d_backward"),
    ("any", "Call", {"operator": "my_pad"}, "any::Call of my_pad", "padops does not know my_pad of the domain any"),
]  # fmt: skip
NO_PADS: list[tuple[str, str, dict[str, Any]]] = [
    ("com.microsoft", "RemovePadding", {}),
    ("com.microsoft", "RestorePadding", {}),
    ("com.microsoft", "ConvTransposeWithDynamicPads", {}),
    ("org.pytorch.aten", "ATen", {"operator": "sspaddmm"}),
    ("org.pytorch.aten", "ATen", {"operator": "_pack_padded_sequence"}),
    ("any", "Call", {"operator": 3}),
    ("any", "Call", {"mode": "pad"}),
]


def of(domain: str, op_type: str, attributes: dict[str, Any]):
    node = helper.make_node(op_type, ["x"], ["y"], "node", domain=domain, **attributes)
    return model([node], 18, inputs=[("x", FLOAT, [2, 3])], imports=[(domain, 1)] if domain else [])


@pytest.mark.parametrize(
    ("domain", "op_type", "attributes", "form", "why"), UNKNOWN, ids=[f"{row[0]}::{row[1]}" for row in UNKNOWN]
)
def test_named_as_unknown(domain: str, op_type: str, attributes: dict[str, Any], form: str, why: str) -> None:
    source = of(domain, op_type, attributes)
    found = padops.inspect(source)
    assert found.summary() == "1 Pad: 1 unknown"
    (pad,) = found.pads
    assert (pad.form, pad.verdict) == (form, "unknown")
    assert why in pad.why
    (row,) = json.loads(json.dumps(found.to_json()))["pads"]
    assert (row["form"], row["verdict"], row["why"]) == (form, "unknown", pad.why)
    conversion = padops.convert(source)
    (record,) = conversion.records
    assert (record.status, record.reason) == ("unconverted", pad.why)
    assert conversion.proto().SerializeToString() == source.SerializeToString()
    with pytest.raises(padops.PadsLeftError, match="1 of 1 Pad stays unconverted"):
        padops.convert(source, strict=True)


@pytest.mark.parametrize(("domain", "op_type", "attributes"), NO_PADS, ids=[str(row[1:]) for row in NO_PADS])
def test_no_false_alarm(domain: str, op_type: str, attributes: dict[str, Any]) -> None:
    assert padops.inspect(of(domain, op_type, attributes)).pads == ()


def test_a_function_of_the_model_is_looked_into() -> None:
    body = helper.make_function(
        "local", "ZeroPad", ["x"], ["y"], [helper.make_node("Identity", ["x"], ["y"])], [helper.make_opsetid("", 18)]
    )
    source = model(
        [helper.make_node("ZeroPad", ["x"], ["y"], domain="local")], 18, functions=[body], imports=[("local", 1)]
    )
    assert padops.inspect(source).pads == ()


def test_in_a_branch() -> None:
    branch = graph([helper.make_node("MyPad", ["x"], ["b"], domain="any")], inputs=[], outputs=[("b", FLOAT, None)])
    node = helper.make_node("If", ["c"], ["y"], "choice", then_branch=branch, else_branch=branch)
    source = model([node], 18, inputs=[("x", FLOAT, [2]), ("c", 9, [])], imports=[("any", 1)])
    assert [pad.form for pad in padops.inspect(source).pads] == ["any::MyPad", "any::MyPad"]


def test_every_operator_of_onnxruntime_is_told_apart() -> None:
    """Those with the letters in their names are Pads that padops knows, or are known to be none."""
    schemas = onnxruntime_pybind11_state.get_all_operator_schema()
    named = {(row.domain, row.name) for row in schemas if "pad" in row.name.lower()}
    known = {("", "Pad"), ("", "CenterCropPad")}  # of these a node has to have its inputs, and others test them
    assert named > known and ("com.microsoft", "RemovePadding") in named
    for domain, op_type in named - known:
        assert not any("by its name" in pad.why for pad in padops.inspect(of(domain, op_type, {})).pads), op_type
