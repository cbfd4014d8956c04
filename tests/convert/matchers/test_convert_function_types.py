"""What a function without a fallback gives: its type is declared, so that ONNX Runtime loads the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from folding_models import run
from onnx import helper
from small_models import BOOL, FLOAT, info, model, pad, tensor

import padops


def in_a_function(depth: int, dims: Sequence[Any] | None = (2, 3), place: str = "graph") -> onnx.ModelProto:
    """Return a model with a Pad inside ``depth`` nested functions; the call's output is no output of the model."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
    bodies = [helper.make_function("d", "F0", ["x", "pads"], ["y"], [pad(mode="reflect")], imports)]
    for i in range(1, depth):
        call = helper.make_node(f"F{i - 1}", ["x", "pads"], ["y"], domain="d")
        bodies.append(helper.make_function("d", f"F{i}", ["x", "pads"], ["y"], [call], imports))
    call = helper.make_node(f"F{depth - 1}", ["x", "pads"], ["p"], domain="d")
    nodes = [call, helper.make_node("Relu", ["p"], ["y"])]
    inputs = [("x", FLOAT, dims)]
    if place == "branch":
        nodes[1].output[0] = "inner"
        graphs = {f"{name}_branch": helper.make_graph(nodes, name, [], [info(("inner", FLOAT, None))])
                  for name in ("then", "else")}  # fmt: skip
        nodes = [helper.make_node("If", ["c"], ["z"], **graphs), helper.make_node("Abs", ["z"], ["y"])]
        inputs.append(("c", BOOL, []))
    return model(nodes, functions=bodies, imports=[("d", 1)], inputs=inputs, tensors=[tensor("pads", [0, 2, 0, 1])])


@pytest.mark.parametrize("level", ["DISABLE_ALL", "ENABLE_ALL"])
@pytest.mark.parametrize("place", ["graph", "branch"])
@pytest.mark.parametrize("dims", [[2, 3], ["n", 3], None])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_call_of_a_function_without_fallback_loads(depth: int, dims: Any, place: str, level: str) -> None:
    source = in_a_function(depth, dims, place)
    message = padops.convert(source, fallback=False).proto()
    assert len(message.functions) == depth
    feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    if place == "branch":
        feeds["c"] = np.array(True)
    assert run(message, feeds, level) == run(source, feeds, level)
    again = padops.convert(message, fallback=False)
    assert again.proto() == message
