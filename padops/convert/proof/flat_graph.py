"""A graph without branches and loops: which node computes a value, and what is known of the value."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import helper, numpy_helper

from padops.convert.proof.believing import infer


class FlatGraph:
    """A graph without branches and loops, with one data input."""

    def __init__(self, model: onnx.ModelProto, data: onnx.ValueInfoProto) -> None:
        self.data = data.name  # the name of the data input
        # Its dims; None for a dynamic one
        self.dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in data.type.tensor_type.shape.dim]
        # The values of nodes that rules have matched: they can go if nothing reads them any more
        self.passed: set[str] = set()
        self._nodes = {name: node for node in model.graph.node for name in node.output}
        self._known = {row.name: numpy_helper.to_array(row) for row in model.graph.initializer}
        for node in model.graph.node:
            if (array := constant_of(node)) is not None:
                self._known[node.output[0]] = array
        inferred = infer(model).graph
        rows = [*inferred.input, *inferred.value_info]
        self._vectors = {row.name for row in rows if _rank(row) == 1}
        self._vectors |= {name for name, array in self._known.items() if array.ndim == 1}

    def source(self, name: str) -> str:
        """The value that a value is a copy of, through Identity nodes."""
        while name in self._nodes and self._nodes[name].op_type == "Identity" and not self._nodes[name].domain:
            name = self._nodes[name].input[0]
        return name

    def plain(self, name: str, op_type: str) -> onnx.NodeProto | None:
        """The ONNX node that computes a value, if its op_type is this; the node counts as matched (``passed``)."""
        node = self._nodes.get(self.source(name))
        if node is None or node.domain or node.op_type != op_type:
            return None
        self.passed.update(node.output)
        return node

    def known(self, name: str) -> np.ndarray | None:
        """The elements of a constant; else None."""
        return self._known.get(self.source(name))

    def is_vector(self, name: str) -> bool:
        """Whether a value surely has one axis."""
        return self.source(name) in self._vectors

    def is_flat(self, name: str) -> bool:
        """Whether a value is the flattened data."""
        node = self.plain(name, "Reshape")
        shape = None if node is None else self.known(node.input[1])
        if node is None or shape is None or shape.tolist() != [-1]:
            return False
        return self.source(node.input[0]) == self.data

    def is_shape(self, name: str) -> bool:
        """Whether a value is the shape of the data."""
        array = self.known(name)
        if array is not None:
            return bool(array.tolist() == self.dims)
        node = self.plain(name, "Shape")
        return node is not None and not node.attribute and self.source(node.input[0]) == self.data

    def is_dim(self, name: str, axis: int) -> bool:
        """Whether a value is the data's dim along an axis."""
        number = self.known(name)
        if number is not None:
            return number.size == 1 and number.ndim <= 1 and number.item() == self.dims[axis]
        node = self.plain(name, "Gather")
        which = None if node is None or attribute(node, "axis", 0) else self.known(node.input[1])
        if node is None or which is None or which.shape != () or which.item() not in (axis, axis - len(self.dims)):
            return False
        return self.is_shape(node.input[0])

    def is_every_position(self, name: str) -> bool:
        """Whether a value is the flat position of each element, in the data's shape."""
        array = self.known(name)
        if array is not None:
            return list(array.shape) == self.dims and array.reshape(-1).tolist() == list(range(array.size))
        shaped = self.plain(name, "Reshape")
        if shaped is None or not attribute(shaped, "allowzero", 0) or not self.is_shape(shaped.input[1]):
            return False
        numbers = self.plain(shaped.input[0], "Range")
        if numbers is None:
            return False
        first, limit, step = (self.known(one) for one in numbers.input)
        if first is None or step is None or (first.item(), step.item()) != (0, 1):
            return False
        if limit is not None:
            dims = [dim for dim in self.dims if dim is not None]
            return len(dims) == len(self.dims) and limit.item() == math.prod(dims)
        size = self.plain(numbers.input[1], "ReduceProd")
        is_whole = size is not None and len(size.input) == 1 and not any(row.name == "axes" for row in size.attribute)
        return is_whole and size is not None and self.is_shape(size.input[0])

    def axes(self, node: onnx.NodeProto) -> list[int] | None:
        """The axes of an Unsqueeze: an input since opset 13, an attribute before; None if unknown."""
        if len(node.input) > 1:
            given = self.known(node.input[1])
            return None if given is None else [int(axis) for axis in given.reshape(-1)]
        return next((list(row.ints) for row in node.attribute if row.name == "axes"), None)


def attribute(node: onnx.NodeProto, name: str, default: int) -> int:
    """An integer attribute of a node, or the default."""
    return next((int(row.i) for row in node.attribute if row.name == name), default)


def constant_of(node: onnx.NodeProto) -> np.ndarray | None:
    """The elements of a Constant; None for another node, external data or a sparse tensor."""
    if node.domain or node.op_type != "Constant" or len(node.attribute) != 1:
        return None
    row = node.attribute[0]
    if row.name == "value":
        return None if row.t.data_location == onnx.TensorProto.EXTERNAL else numpy_helper.to_array(row.t)
    kind = {"value_int": np.int64, "value_float": np.float32, "value_string": object}.get(row.name.removesuffix("s"))
    return None if kind is None else np.array(onnx.helper.get_attribute_value(row), kind)


def int64_constant(name: str, value: int | list[int] | np.ndarray) -> onnx.NodeProto:
    """A Constant of int64."""
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, np.int64)))


def identity(name: str, output: str) -> onnx.NodeProto:
    """An Identity, which copies a value."""
    return helper.make_node("Identity", [name], [output])


def _rank(value: onnx.ValueInfoProto) -> int | None:
    tensor = value.type.tensor_type
    return len(tensor.shape.dim) if tensor.HasField("shape") else None
