"""What a model declares of inner shapes decides nothing: somebody may have changed the inputs alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import native
import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, INT64, convert, graph, info, model, pad, tensor

node = helper.make_node
X = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
OPEN, OLD, OLD_PADDED = [1, 1, "h", "w"], [1, 1, 4, 4], [1, 1, 4, 7]
PADS = tensor("pads", [0, 0, -1, 0, 0, 0, 1, 3])
REFLECT = pad(("r", "pads"), "q", mode="reflect")
Made = tuple[onnx.ModelProto, dict[str, np.ndarray]]


def declare(body: onnx.GraphProto, **shapes: Any) -> onnx.GraphProto:
    body.value_info.extend(info((name, FLOAT, dims)) for name, dims in shapes.items())
    return body


def straight(dims: Any = OPEN, **shapes: Any) -> Made:
    nodes = [node("Neg", ["x"], ["n"]), node("Relu", ["n"], ["r"]), REFLECT, node("Abs", ["q"], ["y"])]
    return model(declare(graph(nodes, [("x", FLOAT, dims)], tensors=[PADS]), **shapes), 18), {"x": X}


def reused() -> Made:
    """Values of the size that the declared one has, whose memory is free by then."""
    nodes = [node("Sin", ["z"], ["a"]), node("Exp", ["a"], ["b"]), node("Cos", ["b"], ["c"])]
    nodes += [node("ReduceSum", ["c"], ["s"], keepdims=0), node("Add", ["x", "s"], ["r"]), REFLECT]
    nodes += [
        node("Sin", ["q"], ["d"]),
        node("Exp", ["d"], ["e"]),
        node("Cos", ["e"], ["f"]),
        node("Neg", ["f"], ["y"]),
    ]
    inputs = [("x", FLOAT, [1, 1, 8, 8]), ("z", FLOAT, OLD_PADDED)]
    return model(declare(graph(nodes, inputs, tensors=[PADS]), q=OLD_PADDED), 18), {"x": X, "z": X[..., :4, :7]}


def foreign() -> Made:
    """Behind an operator that onnx does not know."""
    nodes = [node("Gelu", ["x"], ["r"], domain="com.microsoft"), REFLECT, node("Abs", ["q"], ["y"])]
    body = declare(graph(nodes, [("x", FLOAT, OPEN)], tensors=[PADS]), r=OLD)
    return model(body, 18, imports=[("com.microsoft", 1)]), {"x": X}


def output() -> Made:
    """An output of the graph that the Pad reads, too."""
    outputs = [("y", FLOAT, None), ("r", FLOAT, OLD)]
    nodes = [node("Relu", ["x"], ["r"]), REFLECT, node("Abs", ["q"], ["y"])]
    return model(graph(nodes, [("x", FLOAT, OPEN)], outputs, [PADS]), 18), {"x": X}


def branch() -> Made:
    inner = graph([node("Relu", ["x"], ["r"]), REFLECT], [], [("q", FLOAT, OLD_PADDED)], [PADS])
    nodes = [node("If", ["c"], ["v"], then_branch=declare(inner, r=OLD), else_branch=inner)]
    nodes += [pad(("v", "pads"), "y", mode="edge")]
    inputs = [("x", FLOAT, OPEN), ("c", BOOL, [])]
    return model(graph(nodes, inputs, tensors=[PADS]), 18), {"x": X, "c": np.array(True)}


def loop() -> Made:
    inputs = [("i", INT64, []), ("go", BOOL, []), ("r", FLOAT, OLD)]
    body = graph([node("Identity", ["go"], ["on"]), REFLECT], inputs, [("on", BOOL, []), ("q", FLOAT, OLD_PADDED)])
    nodes = [node("Loop", ["count", "", "x"], ["y"], body=body)]
    made = graph(nodes, [("x", FLOAT, OPEN)], tensors=[PADS, tensor("count", 2)])
    return model(made, 18), {"x": X}


def scan() -> Made:
    body = graph([REFLECT], [("r", FLOAT, OLD[1:])], [("q", FLOAT, OLD_PADDED[1:])])
    tensors = [tensor("pads", [0, -1, 0, 0, 1, 3])]
    nodes = [node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)]
    return model(graph(nodes, [("x", FLOAT, OPEN)], tensors=tensors), 18), {"x": X}


def function() -> Made:
    """In IR version 10, functions declare values, too."""
    imports = [helper.make_opsetid("", 18)]
    body = helper.make_function("d", "F", ["x", "pads"], ["q"], [node("Relu", ["x"], ["r"]), REFLECT], imports)
    body.value_info.extend([info(("r", FLOAT, OLD)), info(("q", FLOAT, OLD_PADDED))])
    nodes = [node("F", ["x", "pads"], ["v"], domain="d"), node("Abs", ["v"], ["y"])]
    body_of_main = declare(graph(nodes, [("x", FLOAT, OPEN)], tensors=[PADS]), v=OLD_PADDED)
    return model(body_of_main, 18, ir_version=10, functions=[body], imports=[("d", 1)]), {"x": X}


CASES: dict[str, Callable[[], Made]] = {
    "data": lambda: straight(r=OLD),
    "before": lambda: straight(n=OLD),
    "rank": lambda: straight(r=[4, 4]),
    "behind": lambda: straight([1, 1, 8, 8], r=OLD, q=OLD_PADDED),
    **{made.__name__: made for made in (reused, foreign, output, branch, loop, scan, function)},
}
ROADS: dict[str, dict[str, Any]] = {
    "padops": {"fallback": True},
    "onnx": {"target": "onnx"},
    "without_pad": {"target": "onnx", "without_pad": True},
    "webgpu": {"target": "onnx", "provider": "webgpu"},
}


def silent(source: onnx.ModelProto) -> onnx.ModelProto:
    """The model without what it declares of inner values."""
    copy = onnx.ModelProto.FromString(source.SerializeToString())
    bodies = [copy.graph, *(row.g for one in copy.graph.node for row in one.attribute if row.HasField("g"))]
    for body in bodies:
        del body.value_info[:]
        for value in (*body.output, *(body.input if body is not copy.graph else ())):
            for dim in value.type.tensor_type.shape.dim:
                dim.Clear()
    return copy


@pytest.mark.parametrize(
    ("case", "road"), [(case, road) for case in CASES for road in ROADS if case == "data" or road in ("padops", "onnx")]
)
def test_a_shape_of_other_inputs_changes_no_result(case: str, road: str) -> None:
    source, feeds = CASES[case]()
    stock = native.onnxruntime.SessionOptions()
    stock.log_severity_level = 4
    expected = native.session(silent(source), stock).run(None, feeds)
    made = convert(source, **ROADS[road]).proto()
    for options in (native.session_options(), stock):
        for one, other in zip(native.session(made, options).run(None, feeds), expected, strict=True):
            assert one.shape == other.shape and one.tobytes() == other.tobytes()


def test_what_is_confirmed_stays() -> None:
    """And what nothing reads of the graph's outputs: callers may rely on it. A model that stays as it is keeps all."""
    source, _ = straight([1, 1, 8, "w"], n=[1, 1, 8, "w"], r=[1, 1, 8, 4], q=[1, 1, 4, 7])
    source.graph.output[0].CopyFrom(info(("y", FLOAT, OLD_PADDED)))
    made = convert(source).proto().graph
    shapes = {row.name: [dim.dim_value or dim.dim_param or None for dim in row.type.tensor_type.shape.dim]
              for row in (*made.value_info, *made.output)}  # fmt: skip
    assert shapes == {"n": [1, 1, 8, "w"], "r": [1, 1, 8, None], "q": [1, 1, 8, None], "y": OLD_PADDED}
    source.graph.node[2].attribute[0].s = b"edge"
    source.graph.initializer[0].CopyFrom(tensor("pads", [0, 0, 1, 0, 0, 0, 1, 3]))
    assert convert(source, select="needed").proto() == source


def test_a_declared_shape_of_another_rank_is_replaced() -> None:
    made, _ = straight([1, 1, 8, 8], r=[64])
    (declared,) = (row for row in convert(made).proto().graph.value_info if row.name == "r")
    assert [dim.dim_value for dim in declared.type.tensor_type.shape.dim] == [1, 1, 8, 8]
