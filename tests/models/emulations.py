"""Models in which Slices, Concats and their kin do what a Pad does, as exporters and people write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper
from small_models import FLOAT, model, tensor

MOST = 2**63 - 1
Dims = Sequence[int | str | None]


@dataclass
class Nodes:
    """Nodes that work on ``x``, each method adding one and giving the name of its output."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: dict[str, np.ndarray] = field(default_factory=dict)

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [f"{name}_out"], name, **attributes))
        return f"{name}_out"

    def constant(self, array: Any, dtype: Any = np.int64) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors[name] = np.array(array, dtype)
        return name

    def cut(self, value: str, axis: int, start: int, end: int = MOST, step: int = 1) -> str:
        numbers = (start, end, axis) if step == 1 else (start, end, axis, step)
        return self.node("Slice", [value, *(self.constant([number]) for number in numbers)])

    def flip(self, value: str, axis: int) -> str:
        return self.cut(value, axis, -1, -MOST, -1)

    def join(self, *values: str, axis: int) -> str:
        return self.node("Concat", values, axis=axis)

    def expand(self, value: str, shape: Sequence[int]) -> str:
        return self.node("Expand", [value, self.constant(shape)])

    def tile(self, value: str, repeats: Sequence[int]) -> str:
        return self.node("Tile", [value, self.constant(repeats)])

    def take(self, value: str, indices: Any, axis: int) -> str:
        return self.node("Gather", [value, self.constant(indices)], axis=axis)

    def circular(self, value: str, axis: int, begin: int, end: int) -> str:
        """As the TorchScript exporter writes it."""
        before = [self.cut(value, axis, -begin)] if begin else []
        after = [self.cut(value, axis, 0, end)] if end else []
        return self.join(*before, value, *after, axis=axis)

    def initializers(self) -> list[onnx.TensorProto]:
        return [tensor(name, array, array.dtype) for name, array in self.tensors.items()]

    def named(self, last: str, name: str = "y") -> Nodes:
        """The same, with another name for what the last node gives."""
        for node in self.nodes:
            node.output[:] = [name if value == last else value for value in node.output]
            node.input[:] = [name if value == last else value for value in node.input]
        return self


def emulated(
    write: Callable[[Nodes], str], dims: Dims, opset: int = 17, kind: int = FLOAT, **parts: Any
) -> onnx.ModelProto:
    """A model whose output y is what ``write`` has made of its input x."""
    nodes = Nodes()
    nodes.named(write(nodes))
    return model(
        nodes.nodes,
        opset,
        **{
            "inputs": [("x", kind, dims)],
            "outputs": [("y", kind, [None] * len(dims))],
            "tensors": nodes.initializers(),
            **parts,
        },
    )


def circular_1d(n: Nodes) -> str:
    return n.circular("x", 2, 2, 1)


def circular_2d(n: Nodes) -> str:
    return n.circular(n.circular("x", 2, 1, 3), 3, 2, 1)


def reflect_by_flips(n: Nodes) -> str:
    return n.join(n.flip(n.cut("x", 2, 1, 3), -1), "x", n.flip(n.cut("x", 2, -4, -1), -1), axis=2)


def edge_by_expand(n: Nodes) -> str:
    first, last = n.cut("x", 2, 0, 1), n.cut("x", 2, -1)
    return n.join(n.expand(first, [1, 1, 2]), "x", n.expand(last, [3]), axis=2)


def edge_by_tile(n: Nodes) -> str:
    return n.join(n.tile(n.cut("x", 2, 0, 1), [1, 1, 2]), "x", n.tile(n.cut("x", 2, -1), [1, 1, 3]), axis=2)


def edge_of_one_element(n: Nodes) -> str:
    first = n.node("Unsqueeze", [n.take("x", 0, 2), n.constant([-1])])
    last = n.node("Unsqueeze", [n.take("x", -1, -1), n.constant([2])])
    return n.join(n.expand(first, [1, 1, 2]), "x", n.expand(last, [1, 1, 3]), axis=-1)


def block(n: Nodes, value: float, count: int) -> str:
    return n.constant(np.full((1, 3, count), value), np.float32)


def zeros_of_a_shape(n: Nodes) -> str:
    """As exporters write them where the batch is not known."""
    batch = n.cut(n.node("Shape", ["x"]), 0, 0, 1)
    shape = n.node("Concat", [batch, n.constant([3]), n.constant([2])], axis=0)
    zeros = n.node("ConstantOfShape", [shape], value=tensor("value", [0], np.float32))
    expanded = n.node("Expand", [n.constant(0, np.float32), shape])
    return n.join(zeros, "x", expanded, axis=2)


# By name: what writes it, the mode, and the amounts of the last axis of [1, 3, 8].
OF_AXIS_2: dict[str, tuple[Callable[[Nodes], str], str, int, int]] = {
    "circular 1d": (circular_1d, "wrap", 2, 1),
    "circular by hand": (lambda n: n.join(n.cut("x", 2, -2), "x", n.cut("x", 2, 0, 3), axis=-1), "wrap", 2, 3),
    "circular, bounds of one size": (lambda n: n.join(n.cut("x", 2, 6, 8), "x", n.cut("x", 2, 0, 3), axis=2),
                                     "wrap", 2, 3),
    "reflect by flips": (reflect_by_flips, "reflect", 2, 3),
    "reflect by steps": (lambda n: n.join(n.cut("x", 2, 2, 0, -1), "x", n.cut("x", 2, -2, -5, -1), axis=2),
                         "reflect", 2, 3),
    "symmetric by flips": (lambda n: n.join(n.flip(n.cut("x", 2, 0, 2), 2), "x", n.flip(n.cut("x", 2, -3), 2), axis=-1),
                           "symmetric", 2, 3),
    "edge by Expand": (edge_by_expand, "edge", 2, 3),
    "edge by Tile": (edge_by_tile, "edge", 2, 3),
    "edge by Gather and Unsqueeze": (edge_of_one_element, "edge", 2, 3),
    "zeros": (lambda n: n.join(block(n, 0, 2), "x", block(n, 0, 3), axis=2), "constant", 2, 3),
    "zeros of a shape": (zeros_of_a_shape, "constant", 2, 2),
    "another constant": (lambda n: n.join("x", block(n, 7, 2), axis=2), "constant", 0, 2),
    "Gather": (lambda n: n.take("x", [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, -1], 2), "edge", 2, 1),
    "Gather and Concat": (lambda n: n.join(n.take("x", [2, 1], 2), "x", axis=2), "reflect", 2, 0),
}  # fmt: skip
# By name: what writes it, the dims of the data, the mode and the amounts of the Pad that it is.
FORMS: dict[str, tuple[Callable[[Nodes], str], Sequence[int], str, Sequence[int]]] = {
    "circular 2d": (circular_2d, [1, 3, 8, 9], "wrap", [0, 0, 1, 2, 0, 0, 3, 1]),
    "circular 3d": (
        lambda n: n.circular(circular_2d(n), 4, 2, 1),
        [1, 3, 8, 9, 5],
        "wrap",
        [0, 0, 1, 2, 2, 0, 0, 3, 1, 1],
    ),
    **{
        name: (write, [1, 3, 8], mode, [0, 0, *row[:1], 0, 0, *row[1:]])
        for name, (write, mode, *row) in OF_AXIS_2.items()
    },
}

# Those that are a Pad for any number of elements.
OF_ANY_SIZE = (
    "edge by Expand",
    "edge by Gather and Unsqueeze",
    "zeros",
    "zeros of a shape",
    "another constant",
    "Gather and Concat",  # which fails where there is no element 2
)
