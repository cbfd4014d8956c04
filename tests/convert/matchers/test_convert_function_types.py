"""What a function without a fallback gives: its type is declared, so that ONNX Runtime loads the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from folding_models import run

import padops


def in_a_function(depth: int, dims: Sequence[Any] | None = (2, 3), place: str = "graph") -> onnx.ModelProto:
    """Return a model with a Pad inside ``depth`` nested functions; the call's output is no output of the model."""
    body = '<domain: "d", opset_import: ["": 17, "d": 1]>'
    functions = [f'{body} F0 (x, pads) => (y) {{ y = Pad <mode = "reflect"> (x, pads) }}']
    functions += [f"{body} F{i} (x, pads) => (y) {{ y = d.F{i - 1} (x, pads) }}" for i in range(1, depth)]
    nodes = "p = d.F{0} (x, pads) {1} = Relu (p)"
    made, condition = nodes.format(depth - 1, "y"), ""
    if place == "branch":
        one, other = (f"{i} () => (float[] {i}) {{ {nodes.format(depth - 1, i)} }}" for i in ("t", "e"))
        made, condition = f"z = If (c) <then_branch = {one}, else_branch = {other}> y = Abs (z)", ", bool c"
    shape = "" if dims is None else ", ".join(map(str, dims))
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 17, "d": 1]> g (float[{shape}] x{condition}) => (float[a, b] y)
        <int64[4] pads = {{0, 2, 0, 1}}> {{ {made} }} {" ".join(functions)}
    """)


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
