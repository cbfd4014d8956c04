"""nGraph's Pads as nodes of ONNX, in a domain that the user names."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from native import bits, run_session, session
from onnx import helper
from small_models import FLOAT, model

import padops

EXAMPLE = {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]}  # the document's, 3x3 to 7x9
X = np.arange(1, 10, dtype=np.float32).reshape(3, 3)
FILL = np.array(42, np.float32)


def node_model(domain: str, attributes: dict, inputs: int = 2) -> onnx.ModelProto:
    node = helper.make_node("Pad", ["x", "v"][:inputs], ["y"], name="pad", domain=domain, **attributes)
    given = [("x", FLOAT, None), ("v", FLOAT, [])][:inputs]
    return model([node], inputs=given, outputs=[("y", FLOAT, None)], imports=[(domain, 1)])


@pytest.mark.parametrize(
    "attributes",
    [
        EXAMPLE,
        {"padding_below": [-1, 2], "padding_above": [3, -2]},
        {"padding_below": [1, 0], "padding_above": [2, 4], "pad_mode": "EDGE"},
        {"padding_below": [4, 2], "padding_above": [2, 9], "pad_mode": "reflect"},
        {"padding_below": [3, -1], "padding_above": [0, 3], "pad_mode": 3},
    ],
)
def test_a_node_in_a_domain_that_the_user_names(attributes):
    converted = padops.convert(node_model("my.frontend", attributes), custom_domains=["my.frontend"])
    (record,) = converted.records
    assert (record.status, record.op_type) == ("converted", "NGraphPad_0")
    assert record.form == "nGraph Pad in the domain 'my.frontend'"
    mode = attributes.get("pad_mode", "CONSTANT")
    by_mode = {**attributes, "pad_mode": "SYMMETRIC" if mode == 3 else mode.upper()}
    found = run_session(session(converted.proto()), {"x": X, "v": FILL})
    assert bits(found) == bits(padops.run_reference("NGraphPad_0", by_mode, [X, FILL]))


def test_a_domain_that_nobody_named_is_left_with_the_reason():
    (record,) = padops.convert(node_model("my.frontend", EXAMPLE)).records
    assert (record.status, record.facts.verdict) == ("unconverted", "refuses")
    assert record.reason == (
        "padops does not know the domain my.frontend, but this Pad looks like nGraph's; to convert it, name its "
        "domain: --custom-domain my.frontend (in Python custom_domains=['my.frontend'])"
    )


@pytest.mark.parametrize(
    ("attributes", "inputs", "reason"),
    [
        ({"padding_below": [1, 2]}, 2, "it has no attribute padding_above"),
        ({**EXAMPLE, "other": 1}, 2, "its attribute other is unknown"),
        ({**EXAMPLE, "padding_above": 1}, 2, "its attribute padding_above is of type INT, expected INTS"),
        ({**EXAMPLE, "pad_mode": "WRAP"}, 2, "pad_mode 'WRAP' is not one of CONSTANT, EDGE, REFLECT, SYMMETRIC [P9]"),
        ({**EXAMPLE, "pad_mode": 4}, 2, "pad_mode 4 is not one of"),
        (EXAMPLE, 1, "it has 1 input, expected 2"),
    ],
)
def test_a_node_that_is_not_as_ngraph_has_it_is_left_with_the_reason(attributes, inputs, reason):
    (record,) = padops.convert(node_model("d", attributes, inputs), custom_domains=["d"]).records
    assert record.status == "unconverted" and record.reason.startswith(reason)
