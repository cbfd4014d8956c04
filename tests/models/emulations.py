"""Models in which Slices, Concats and their kin do what a Pad does, as exporters and people write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from small_models import FLOAT, convert, model, tensor

from padops.spec.dtypes import by_onnx

MOST = 2**63 - 1
SYMMETRIC = "OpenVINOPad_12"


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

    def block(self, values: Any, *shape: int) -> str:
        return self.constant(np.broadcast_to(np.float32(values), shape), np.float32)

    def cut(self, value: str, axis: int, start: int, end: int = MOST, step: int = 1) -> str:
        numbers = (start, end, axis) if step == 1 else (start, end, axis, step)
        return self.node("Slice", [value, *(self.constant([number]) for number in numbers)])

    def flip(self, value: str, axis: int) -> str:
        return self.cut(value, axis, -1, -MOST, -1)

    def join(self, *values: str, axis: int = 2) -> str:
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


Write = Callable[[Nodes], str]


def emulated(write: Write, dims: Sequence[Any], opset: int = 17, kind: int = FLOAT, **parts: Any) -> onnx.ModelProto:
    """A model whose output y is what ``write`` has made of its input x."""
    made = Nodes()
    last = write(made)
    for node in made.nodes:
        node.output[:] = ["y" if value == last else value for value in node.output]
    tensors = [tensor(name, array, array.dtype) for name, array in made.tensors.items()]
    given = {"inputs": [("x", kind, dims)], "outputs": [("y", kind, [None] * len(dims))], "tensors": tensors}
    return model(made.nodes, opset, **given | parts)


def circular_1d(n: Nodes) -> str:
    return n.circular("x", 2, 2, 1)


def circular_2d(n: Nodes) -> str:
    return n.circular(n.circular("x", 2, 1, 3), 3, 2, 1)


def edge_of_one_element(n: Nodes) -> str:
    first = n.node("Unsqueeze", [n.take("x", 0, 2), n.constant([-1])])
    last = n.node("Unsqueeze", [n.take("x", -1, -1), n.constant([2])])
    return n.join(n.expand(first, [1, 1, 2]), "x", n.expand(last, [1, 1, 3]), axis=-1)


def zeros_of_a_shape(n: Nodes) -> str:
    """As exporters write them where the batch is not known."""
    batch = n.cut(n.node("Shape", ["x"]), 0, 0, 1)
    shape = n.join(batch, n.constant([3]), n.constant([2]), axis=0)
    zeros = n.node("ConstantOfShape", [shape], value=tensor("value", [0], np.float32))
    return n.join(zeros, "x", n.node("Expand", [n.constant(0, np.float32), shape]))


# By name: what writes it, the mode, the amounts of the last axis of [1, 3, 8], whether it is a Pad for any size.
OF_AXIS_2: dict[str, tuple[Write, str, int, int, bool]] = {
    "circular 1d": (circular_1d, "wrap", 2, 1, False),
    "circular by hand": (lambda n: n.join(n.cut("x", 2, -2), "x", n.cut("x", 2, 0, 3), axis=-1), "wrap", 2, 3, False),
    "circular, bounds of one size": (lambda n: n.join(n.cut("x", 2, 6, 8), "x", n.cut("x", 2, 0, 3)),
                                     "wrap", 2, 3, False),
    "reflect by flips": (lambda n: n.join(n.flip(n.cut("x", 2, 1, 3), -1), "x", n.flip(n.cut("x", 2, -4, -1), -1)),
                         "reflect", 2, 3, False),
    "reflect by steps": (lambda n: n.join(n.cut("x", 2, 2, 0, -1), "x", n.cut("x", 2, -2, -5, -1)),
                         "reflect", 2, 3, False),
    "symmetric by flips": (lambda n: n.join(n.flip(n.cut("x", 2, 0, 2), 2), "x", n.flip(n.cut("x", 2, -3), 2), axis=-1),
                           "symmetric", 2, 3, False),
    "symmetric of all": (lambda n: n.join(n.flip("x", 2), "x"), "symmetric", 8, 0, False),
    "edge by Expand": (lambda n: n.join(n.expand(n.cut("x", 2, 0, 1), [1, 1, 2]), "x",
                                        n.expand(n.cut("x", 2, -1), [3])), "edge", 2, 3, True),
    "edge by Tile": (lambda n: n.join(n.tile(n.cut("x", 2, 0, 1), [1, 1, 2]), "x",
                                      n.tile(n.cut("x", 2, -1), [1, 1, 3])), "edge", 2, 3, False),
    "edge by Gather and Unsqueeze": (edge_of_one_element, "edge", 2, 3, True),
    "zeros": (lambda n: n.join(n.block(0, 1, 3, 2), "x", n.block(0, 1, 3, 3)), "constant", 2, 3, True),
    "zeros of a shape": (zeros_of_a_shape, "constant", 2, 2, True),
    "another constant": (lambda n: n.join("x", n.block(7, 1, 3, 2)), "constant", 0, 2, True),
    "Gather": (lambda n: n.take("x", [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, -1], 2), "edge", 2, 1, False),
    # It fails where there is no element 2.
    "Gather and Concat": (lambda n: n.join(n.take("x", [2, 1], 2), "x"), "reflect", 2, 0, True),
}  # fmt: skip
# By name: what writes it, the dims of the data, the mode and the amounts of the Pad that it is; whether for any size.
FORMS: dict[str, tuple[Write, list[int], str, list[int], bool]] = {
    "circular 2d": (circular_2d, [1, 3, 8, 9], "wrap", [0, 0, 1, 2, 0, 0, 3, 1], True),
    "circular 3d": (lambda n: n.circular(circular_2d(n), 4, 2, 1), [1, 3, 8, 9, 5], "wrap",
                    [0, 0, 1, 2, 2, 0, 0, 3, 1, 1], True),
    **{name: (write, [1, 3, 8], mode, [0, 0, begin, 0, 0, end], any_size)
       for name, (write, mode, begin, end, any_size) in OF_AXIS_2.items()},
}  # fmt: skip


def data_of(dims: Any) -> np.ndarray:
    return native.random_array(np.random.default_rng(5), by_onnx(FLOAT), tuple(dims))


def runner(message: onnx.ModelProto, stock: bool = False) -> Callable[[np.ndarray], Any]:
    """Runs a model, in one session: the bits of the output, or None where ONNX Runtime refuses the model or data."""
    states = onnxruntime.capi.onnxruntime_pybind11_state
    refusal = (states.Fail, states.InvalidArgument, states.RuntimeException)
    try:
        session = native.session(message, onnxruntime.SessionOptions() if stock else None)
    except refusal:
        return lambda data: None

    def run(data: np.ndarray) -> Any:
        try:
            return native.bits(native.run_session(session, {"x": data}))
        except refusal:
            return None

    return run


def left(message: onnx.ModelProto, **options: Any) -> list[str | None]:
    """Asserts that converting changes nothing; gives the reasons of what was found."""
    conversion = convert(message, **options)
    assert conversion.proto() == message
    assert {record.status for record in conversion.records} <= {"not needed"}
    return [record.reason for record in conversion.records]


def operators(message: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in message.graph.node]
