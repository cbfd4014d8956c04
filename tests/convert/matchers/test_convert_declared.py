"""What a converted model says of the shapes behind its Pads, which ONNX Runtime cannot infer by itself."""

from __future__ import annotations

import native
import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import FLOAT, INT64, graph, info, model, pad, tensor

import padops


def declared(message: onnx.GraphProto) -> dict[str, list]:
    return {
        info.name: [dim.dim_value if dim.HasField("dim_value") else None for dim in info.type.tensor_type.shape.dim]
        for info in message.value_info
    }


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize(
    ("dims", "false", "expected"),
    [
        ([2, 3], [1, 3], [3, 5]),
        ([2, 3], ["n", 9], [3, 5]),
        ([2, 3], [2, 3, 1], [3, 5]),
        (["n", None], [], [None, None]),
        (["n", 3], [1, 3], [None, 5]),
    ],
)
def test_a_false_shape_that_the_model_states(dims, false, expected, inner: bool) -> None:
    """As where only the inputs were changed to another batch size: ONNX Runtime makes constants of known shapes."""
    nodes = [helper.make_node("Neg", ["x"], ["v"]), pad(["v", "amounts"], "p", mode="edge"),
             helper.make_node("Shape", ["p"], ["y"])]  # fmt: skip
    made = graph(nodes, [], [("y", INT64, None)], [tensor("amounts", [1, 0, 0, 2])])
    made.value_info.append(info(("v", FLOAT, false)))
    if inner:
        node = helper.make_node("If", ["always"], ["y"], then_branch=made, else_branch=made)
        made = graph([node], [], [("y", INT64, None)], [tensor("always", True, np.bool_)])
    made.input.append(info(("x", FLOAT, dims)))
    source = model(made, 13)
    converted = padops.convert(source).proto()
    told = converted.graph.node[0].attribute[0].g if inner else converted.graph
    known = [None if false[:1] == ["n"] or not isinstance(dim, int) else dim for dim in dims[:1]] + dims[1:]
    assert declared(told) == {"v": known, "p": expected}
    if expected == [3, 5]:
        for made in (source, converted):
            assert native.session(made).run(None, {"x": np.zeros((2, 3), np.float32)})[0].tolist() == [3, 5]


@pytest.mark.parametrize("ir_version", [3, 8])
def test_a_default_that_the_caller_may_override(ir_version: int) -> None:
    """Up to IR version 3 an initializer is constant though it is an input, too."""
    nodes = [pad(output="p", mode="edge"), helper.make_node("Relu", ["p"], ["y"])]
    source = model(nodes, 13, ir_version=ir_version, inputs=[("x", FLOAT, [2, 3]), ("pads", INT64, [4])],
                   tensors=[tensor("pads", [1, 0, 0, 2])])  # fmt: skip
    made = padops.convert(source, fallback=False).proto().graph
    assert declared(made) == {"p": [3, 5] if ir_version == 3 else [None, None]}
