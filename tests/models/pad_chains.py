"""Models of as many Pads as a test asks for, in a row or side by side, and the options that they are converted with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from small_models import BOOL, FLOAT, HALF, INT64, Value, graph, model, pad, tensor

FLAT: Value = ("x", FLOAT, [2, 5])
IMAGE: Value = ("x", FLOAT, [1, 1, 8, 8])
CONDITION: Value = ("condition", BOOL, [])
PADS = tensor("pads", [0, 1, 0, 1])
ONES = tensor("kernel", np.ones((1, 1, 3, 3)), np.float32)

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "no-fold": {"fold": False},
    "no-fallback": {"fallback": False},
    "onnx": {"target": "onnx"},
    "pyop": {"target": "pyop"},
    "needed": {"select": "needed"},
    "explicit": {"auto_pad": "explicit"},
}


def _row(count: int, start: str, end: str, links: Callable[[int, str, str], Sequence[onnx.NodeProto]]) -> list:
    """``count`` links in a row: the i-th reads what the one before gives."""
    names = [start, *(f"{end}_{i}" for i in range(count - 1)), end]
    return [node for i in range(count) for node in links(i, names[i], names[i + 1])]


def _pads(count: int, end: str = "y", **attributes: Any) -> list[onnx.NodeProto]:
    return _row(count, "x", end, lambda i, x, y: [pad([x, "pads"], y, name=f"{end}_pad_{i}", **attributes)])


def in_a_row(count: int, mode: str = "constant", opset: int = 17) -> onnx.ModelProto:
    """Pads of one mode; those that only add constants, or repeat the edge, become one."""
    return model(_pads(count, mode=mode), opset, inputs=[FLAT], tensors=[PADS])


def reflecting(count: int) -> onnx.ModelProto:
    """Pads that stay."""
    return in_a_row(count, "reflect")


def with_amounts_of_their_own(count: int) -> onnx.ModelProto:
    """Each of the Pads has an initializer."""
    nodes = _pads(count)
    for i, node in enumerate(nodes):
        node.input[1] = f"pads_{i}"
    return model(nodes, inputs=[FLAT], tensors=[tensor(f"pads_{i}", [0, 1, 0, 1]) for i in range(count)])


def with_relu(count: int) -> onnx.ModelProto:
    """Pad, Relu, Pad, Relu: nothing folds."""
    nodes = _row(count, "x", "y", lambda i, x, y: [pad([x, "pads"], f"p{i}"), helper.make_node("Relu", [f"p{i}"], [y])])
    return model(nodes, inputs=[FLAT], tensors=[PADS])


def with_conv(count: int) -> onnx.ModelProto:
    """Pad, Conv, Pad, Conv: every Pad folds into its convolution."""

    def links(i: int, x: str, y: str) -> list[onnx.NodeProto]:
        return [pad([x, "pads"], f"p{i}"), helper.make_node("Conv", [f"p{i}", "kernel"], [y])]

    pads = tensor("pads", [0, 0, 1, 1, 0, 0, 1, 1])
    return model(_row(count, "x", "y", links), inputs=[IMAGE], tensors=[pads, ONES])


def between_casts(count: int) -> onnx.ModelProto:
    """Cast, Pad, Cast, as older exporters wrote float16."""

    def links(i: int, x: str, y: str) -> list[onnx.NodeProto]:
        wide, back = (
            helper.make_node("Cast", [a], [b], to=to) for a, b, to in ((x, f"w{i}", FLOAT), (f"p{i}", y, HALF))
        )
        return [wide, pad([f"w{i}", "pads"], f"p{i}", mode="reflect"), back]

    inputs, outputs = [("x", HALF, [2, 5])], [("y", HALF, None)]
    return model(_row(count, "x", "y", links), inputs=inputs, outputs=outputs, tensors=[PADS])


def side_by_side(count: int) -> onnx.ModelProto:
    """Pads that all read the same data and the same amounts."""
    nodes = [pad(output=f"p{i}", mode="reflect") for i in range(count)]
    return model(
        [*nodes, helper.make_node("Sum", [f"p{i}" for i in range(count)], ["y"])], inputs=[FLAT], tensors=[PADS]
    )


def in_branches(count: int) -> onnx.ModelProto:
    """Half of the Pads in a row in each branch of an If."""
    bodies = {
        f"{name}_branch": graph(_pads(count // 2, name, mode="reflect"), [], [(name, FLOAT, None)], name=name)
        for name in ("then", "else")
    }
    return model([helper.make_node("If", ["condition"], ["y"], **bodies)], inputs=[FLAT, CONDITION], tensors=[PADS])


def read_inside(count: int) -> onnx.ModelProto:
    """Pads that change nothing, each of them read by a graph further inside."""
    nodes = []
    for i in range(count):
        body = {
            f"{name}_branch": graph(
                [helper.make_node("Relu", [f"p{i}"], [f"{name}{i}"])], [], [(f"{name}{i}", FLOAT, None)], name=name
            )
            for name in ("then", "else")
        }
        nodes += [pad(output=f"p{i}"), helper.make_node("If", ["condition"], [f"y{i}"], **body)]
    nodes.append(helper.make_node("Sum", [f"y{i}" for i in range(count)], ["y"]))
    return model(nodes, inputs=[FLAT, CONDITION], tensors=[tensor("pads", [0, 0, 0, 0])])


def in_a_function(count: int) -> onnx.ModelProto:
    """The Pads in a row in a function."""
    imports = [helper.make_opsetid("", 17)]
    body = helper.make_function("of.test", "Row", ["x", "pads"], ["y"], _pads(count, mode="reflect"), imports)
    nodes = [helper.make_node("Row", ["x", "pads"], ["y"], domain="of.test")]
    return model(nodes, functions=[body], imports=[("of.test", 1)], inputs=[FLAT], tensors=[PADS])


def in_functions(count: int) -> onnx.ModelProto:
    """Each of the Pads in a function of its own, whose caller says in which mode."""
    functions = []
    for i in range(count):
        node = pad()
        node.attribute.add(name="mode", ref_attr_name="mode", type=onnx.AttributeProto.STRING)
        imports = [helper.make_opsetid("", 17)]
        functions.append(helper.make_function("of.test", f"Pad{i}", ["x", "pads"], ["y"], [node], imports, ["mode"]))

    def links(i: int, x: str, y: str) -> list[onnx.NodeProto]:
        return [helper.make_node(f"Pad{i}", [x, "pads"], [y], domain="of.test", mode="reflect")]

    nodes = _row(count, "x", "y", links)
    return model(nodes, functions=functions, imports=[("of.test", 1)], inputs=[FLAT], tensors=[PADS])


def with_computed_amounts(count: int) -> onnx.ModelProto:
    """The amounts of each Pad are made by two Concats."""

    def links(i: int, x: str, y: str) -> list[onnx.NodeProto]:
        pair = helper.make_node("Concat", ["zero", "one"], [f"a{i}"], axis=0)
        both = helper.make_node("Concat", [f"a{i}", f"a{i}"], [f"b{i}"], axis=0)
        return [pair, both, pad([x, f"b{i}"], y, mode="reflect")]

    return model(_row(count, "x", "y", links), inputs=[FLAT], tensors=[tensor("zero", [0]), tensor("one", [1])])


def with_amounts_at_run_time(count: int) -> onnx.ModelProto:
    """The amounts of all Pads are an input of the model."""
    return model(_pads(count, mode="reflect"), inputs=[FLAT, ("pads", INT64, [4])])


def of_padops(count: int) -> onnx.ModelProto:
    """Operators of padops, as an earlier conversion left them."""
    nodes = _pads(count, mode="reflect")
    for node in nodes:
        node.domain, node.op_type = "padops", "Pad_13"
    return model(nodes, imports=[("padops", 1)], inputs=[FLAT], tensors=[PADS])


MODELS: Mapping[str, Callable[[int], onnx.ModelProto]] = {
    made.__name__: made
    for made in (
        in_a_row,
        reflecting,
        with_amounts_of_their_own,
        with_relu,
        with_conv,
        between_casts,
        side_by_side,
        in_branches,
        read_inside,
        in_a_function,
        in_functions,
        with_computed_amounts,
        with_amounts_at_run_time,
        of_padops,
    )
}
