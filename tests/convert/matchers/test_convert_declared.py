"""What a converted model says of the shapes behind its Pads, which ONNX Runtime cannot infer by itself."""

from __future__ import annotations

import native
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import padops

FLOAT = onnx.TensorProto.FLOAT


def held(name: str, values, dtype: type = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, dtype), name)


def model(dims, amounts: list[onnx.NodeProto], body: list[onnx.NodeProto], tensors) -> onnx.ModelProto:
    """A Pad of x by "pads", which ``amounts`` or ``tensors`` give, and what reads the padded data as "p"."""
    nodes = [*amounts, helper.make_node("Pad", ["x", "pads"], ["p"], mode="edge"), *body]
    inputs = [helper.make_tensor_value_info("x", FLOAT, dims)]
    outputs = [helper.make_tensor_value_info(body[-1].output[0] if body else "p", FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def declared(message: onnx.GraphProto) -> dict[str, list]:
    return {
        info.name: [dim.dim_value if dim.HasField("dim_value") else None for dim in info.type.tensor_type.shape.dim]
        for info in message.value_info
    }


RELU = [helper.make_node("Relu", ["p"], ["y"])]


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
    body = [helper.make_node("Pad", ["v", "amounts"], ["p"], mode="edge"), helper.make_node("Shape", ["p"], ["y"])]
    body.insert(0, helper.make_node("Neg", ["x"], ["v"]))
    shape = helper.make_tensor_value_info("y", onnx.TensorProto.INT64, None)
    stated, pads = [helper.make_tensor_value_info("v", FLOAT, false)], [held("amounts", [1, 0, 0, 2])]
    graph = helper.make_graph(body, "g", [], [shape], pads, value_info=stated)
    if inner:
        branches = {"then_branch": graph, "else_branch": graph}
        condition = [held("always", True, np.bool_)]
        graph = helper.make_graph([helper.make_node("If", ["always"], ["y"], **branches)], "g", [], [shape], condition)
    graph.input.append(helper.make_tensor_value_info("x", FLOAT, dims))
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
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
    source = model([2, 3], [], RELU, [held("pads", [1, 0, 0, 2])])
    source.ir_version = ir_version
    source.graph.input.append(helper.make_tensor_value_info("pads", onnx.TensorProto.INT64, [4]))
    graph = padops.convert(source, fallback=False).proto().graph
    assert declared(graph) == {"p": [3, 5] if ir_version == 3 else [None, None]}
