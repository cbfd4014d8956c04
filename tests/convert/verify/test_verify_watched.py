"""Which values ``verify`` compares where Pads and nodes stand in one of the models alone, or draw random numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper
from small_models import FLOAT, INT64, model, pad, tensor

import padops

PADS = tensor("pads", [0, 1, 0, 1])
NODE = helper.make_node


def shapes_of(
    nodes: Sequence[onnx.NodeProto], values: str, tensors: Sequence[onnx.TensorProto] = ()
) -> onnx.ModelProto:
    """A model that gives the dims of some values, and nothing of what they are."""
    hiding = [NODE("Shape", [name], [f"dims of {name}"]) for name in values]
    outputs = [(f"dims of {name}", INT64, [2]) for name in values]
    return model([*nodes, *hiding], inputs=[("x", FLOAT, [2, 3])], outputs=outputs, tensors=[PADS, *tensors])


def test_a_pad_of_which_one_of_two_values_is_compared_elsewhere() -> None:
    """What is behind the converted model's Pad is ``u``, which the original's Pad has for itself, and ``v``."""
    edge = tensor("edge", [0, 0, 1, 2, 2])
    original = [pad(output="p", mode="reflect"), NODE("Relu", ["p"], ["u"]),
                NODE("Gather", ["x", "edge"], ["w"], axis=1), NODE("Neg", ["w"], ["v"])]  # fmt: skip
    converted = [pad(output="q", mode="reflect"), NODE("Relu", ["q"], ["u"]), NODE("Neg", ["q"], ["v"])]
    verification = padops.verify(shapes_of(original, "uv", [edge]), shapes_of(converted, "uv"), run=True)
    assert all(output.equal for output in verification.outputs)
    assert (verification.outcome, [pad.compared for pad in verification.pads]) == ("different", [("u",), ("u", "v")])
    assert verification.pads[0].equal and verification.pads[1].detail.startswith("v: 4 of 10 elements")


def test_a_convolution_that_reads_something_else_is_compared() -> None:
    """Its attributes are the same; what it gives shows in no output."""
    weights = tensor("w", np.ones((1, 1, 3, 3)), np.float32)
    given, outputs = [("x", FLOAT, [1, 1, 4, 4])], [("y", INT64, [4])]
    read = [NODE("Conv", [name, "w"], ["c"], name="conv", pads=[1] * 4) for name in ("x", "n")]
    size, negated = NODE("Shape", ["c"], ["y"]), NODE("Neg", ["x"], ["n"])
    original = model([read[0], size], inputs=given, outputs=outputs, tensors=[weights])
    verification = padops.verify(
        original, model([negated, read[1], size], inputs=given, outputs=outputs, tensors=[weights]), run=True
    )
    assert all(output.equal for output in verification.outputs) and verification.outcome == "different"
    assert [(one.path, one.equal) for one in verification.pads] == [("graph/conv", False)]


def test_a_pad_of_random_numbers_is_no_difference() -> None:
    """ONNX Runtime draws them by the position of the node, which the node in front of it moves."""
    random = [NODE("RandomNormalLike", ["x"], ["r"]), pad(["r", "pads"], "p", name="pad")]
    nodes = [NODE("Identity", ["x"], ["i"]), *random, NODE("Neg", ["i"], ["n"])]
    verification = padops.verify(
        shapes_of([*random, NODE("Neg", ["x"], ["n"])], "pn"), shapes_of(nodes, "pn"), run=True
    )
    (one,) = verification.pads
    assert (verification.outcome, one.path, one.exercise, one.equal) == ("equal", "graph/pad", "exercised", True)
