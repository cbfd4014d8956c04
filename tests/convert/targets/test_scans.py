"""Every converted form of a Scan runs as the original does, though the body states no shape for its Pad's output."""

from __future__ import annotations

from onnx import helper
from small_models import FLOAT, graph, model, pad, tensor

import padops


def test_the_outputs_of_the_model_stay_as_they_are() -> None:
    """Only what has to be stated is: the outputs of the model say what they said before."""
    amounts = [tensor("amounts", [1, 2])]
    body = graph([pad(["row", "amounts"], "wide", mode="edge")], [("row", FLOAT, None)], [("wide", FLOAT, None)],
                 amounts, "body")  # fmt: skip
    scan = helper.make_node("Scan", ["x"], ["y"], num_scan_inputs=1, body=body)
    converted = padops.convert(model([scan], 13, inputs=[("x", FLOAT, ["n", 3])])).proto()
    assert not converted.graph.output[0].type.tensor_type.HasField("shape")
    body = next(row.g for row in converted.graph.node[0].attribute if row.name == "body")
    assert [dim.dim_value for dim in body.output[0].type.tensor_type.shape.dim] == [6]
