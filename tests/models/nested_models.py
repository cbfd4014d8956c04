"""Models with Pads in branches and functions, and what the tests of them ask of a conversion."""

from __future__ import annotations

import onnx
from onnx import helper
from small_models import (
    BOOL,
    FLOAT,
    INT64,
    graph,
    model,
    pad,
    tensor,
)

import padops

PADS = tensor("pads", [0, 1, 0, 1])


def checked(conversion: padops.Conversion) -> onnx.ModelProto:
    """The converted model, once onnx's checker has found nothing against it, inference included."""
    padops.register_schemas()
    proto = conversion.proto()
    onnx.checker.check_model(proto, full_check=True)
    return proto


def paths(conversion: padops.Conversion) -> list[str]:
    return [record.path for record in conversion.records]


def branch(output: str, nodes: list[onnx.NodeProto], tensors: list[onnx.TensorProto] | None = None) -> onnx.GraphProto:
    return graph(nodes, [], [(output, FLOAT, [None, None])], tensors or [], name=f"{output}_branch")


def nested(depth: int) -> onnx.ModelProto:
    """An If in an If in an If, each with a Pad in either branch, and a Scan in a Loop in the innermost."""
    level = branch("last", [pad(["x", "pads"], "last", name="p")])
    for i in range(depth):
        inner = helper.make_node("If", ["c"], [f"i{i}"], then_branch=level, else_branch=branch("e", [pad(output="e")]))
        level = branch(f"o{i}", [inner, pad([f"i{i}", "pads"], f"o{i}", name="p")])
    scan_body = graph([pad(["row", "one"], "wide")], [("row", FLOAT, [3])], [("wide", FLOAT, [None])],
                      [tensor("one", [1, 0])], "scan_body")  # fmt: skip
    loop_body = graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Scan", ["x"], ["scanned"], name="scan", num_scan_inputs=1, body=scan_body),
            pad(["state", "pads"], "next", name="in_loop", mode="edge"),
        ],
        [("n", INT64, []), ("go", BOOL, []), ("state", FLOAT, [None, None])],
        [("on", BOOL, []), ("next", FLOAT, [None, None]), ("scanned", FLOAT, [None, None])],
        name="loop_body",
    )
    nodes = [
        helper.make_node(
            "If", ["c"], ["y0"], name="outer", then_branch=level, else_branch=branch("e", [pad(output="e")])
        ),
        helper.make_node("Loop", ["turns", "", "y0"], ["y", "rows"], name="loop", body=loop_body),
    ]
    inputs = [("x", FLOAT, [2, 3]), ("c", BOOL, []), ("turns", INT64, [])]
    outputs = [("y", FLOAT, [None, None]), ("rows", FLOAT, [None, None, None])]
    return model(nodes, 17, inputs=inputs, outputs=outputs, tensors=[PADS])  # fmt: skip


def function(
    opset: int, nodes: list[onnx.NodeProto], attributes: tuple[str, ...] = (), **defaults: str
) -> onnx.FunctionProto:
    protos = [helper.make_attribute(name, value) for name, value in defaults.items()]
    return helper.make_function(
        "custom", "Block", ["a"], ["r"], nodes, [helper.make_opsetid("", opset)], list(attributes), protos
    )


def reference(name: str, kind: int, to: str) -> onnx.AttributeProto:
    return onnx.AttributeProto(name=name, type=kind, ref_attr_name=to)
