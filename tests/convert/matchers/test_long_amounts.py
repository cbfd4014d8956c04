"""Lists of amounts that are too long to be read: the Pad stays, with the reason; 2,000,000 of them took a minute."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper
from small_models import FLOAT, model, pad

import padops
from padops.convert.model.graphs import LARGEST_CONSTANT


def _pad(count: int) -> onnx.ModelProto:
    return model([pad(["x"], pads=[0] * count)], 10, ir_version=5, inputs=[("x", FLOAT, None)])


def _already(count: int) -> onnx.ModelProto:
    node = pad(["x"], domain="padops", pads=[0] * count)
    node.op_type = "Pad_2"
    return model([node], 10, ir_version=5, inputs=[("x", FLOAT, None)], imports=[("padops", 1)])


def _ngraph(count: int) -> onnx.ModelProto:
    node = helper.make_node("Pad", ["x", "v"], ["y"], domain="ngraph", padding_below=[0] * count, padding_above=[0])
    return model([node], 10, ir_version=5, inputs=[("x", FLOAT, None), ("v", FLOAT, [])], imports=[("ngraph", 1)])


@pytest.mark.parametrize("make", [_pad, _already, _ngraph])
def test_longer_lists_are_not_read(make: object) -> None:
    name = "padding_below" if make is _ngraph else "pads"
    said = f"its attribute {name} has {LARGEST_CONSTANT + 2} elements, and padops reads up to {LARGEST_CONSTANT}"
    source = make(LARGEST_CONSTANT + 2)
    for target in ("padops", "onnx"):
        (record,) = padops.convert(source, target=target).records
        assert (record.status, record.reason) == ("unconverted", said)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.why) == ("unknown", said)


def test_a_list_of_the_limit_is_read() -> None:
    (record,) = padops.convert(_pad(LARGEST_CONSTANT), fold=False).records
    assert record.status == "converted"
