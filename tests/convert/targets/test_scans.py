"""Every converted form of a Scan runs as the original does, though the body states no shape for its Pad's output."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, helper
from small_models import FLOAT, INT64, graph, model, pad, tensor

import padops

X = np.arange(12, dtype=np.float32).reshape(4, 3)
AMOUNTS = np.array([1, 2])


def scan(computed: bool, behind: bool = False) -> ModelProto:
    """Pads each row by one in front and two behind, by constant amounts, or by computed ones."""
    amounts = [helper.make_node("Identity", ["given"], ["amounts"])] if computed else []
    last = [helper.make_node("Identity", ["padded"], ["wide"])] if behind else []
    output = "padded" if behind else "wide"
    body = graph([*amounts, pad(["row", "amounts"], output, mode="edge"), *last], [("row", FLOAT, None)],
                 [("wide", FLOAT, None)], [] if computed else [tensor("amounts", AMOUNTS)], "body")  # fmt: skip
    inner = helper.make_node("Scan", ["x"], ["y"], num_scan_inputs=1, body=body)
    return model([inner], 13, inputs=[("x", FLOAT, ["n", 3]), ("given", INT64, [2])])


def test_the_outputs_of_the_model_stay_as_they_are() -> None:
    """Only what has to be stated is: the outputs of the model say what they said before."""
    converted = padops.convert(scan(computed=False)).proto()
    assert not converted.graph.output[0].type.tensor_type.HasField("shape")
    body = next(row.g for row in converted.graph.node[0].attribute if row.name == "body")
    assert len(body.output[0].type.tensor_type.shape.dim) == 1
    assert body.output[0].type.tensor_type.shape.dim[0].dim_value == 6
