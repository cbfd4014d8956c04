"""The types, shapes and constants of a model that was read from an IR."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.limits import static_dims
from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES

SMALL = 1024  # bytes of a constant that is worth looking into: amounts, axes, shapes

Dims = list[int | None] | None  # None for each dynamic dim, and where not even the rank is known


@dataclass(frozen=True)
class Values:
    """Types and shapes of all values, and the tensors of those that are constant, by name."""

    types: dict[str, int]
    dims: dict[str, Dims]
    tensors: dict[str, onnx.TensorProto]
    casts: dict[str, tuple[str, int]]  # what Convert layers give: the value that they take, and the type

    @staticmethod
    def of(message: onnx.ModelProto) -> Values:
        """The values of a model whose constants are initializers, and all of whose values are declared."""
        values = Values({}, {}, {}, {})
        for value in (*message.graph.input, *message.graph.value_info):
            values.types[value.name] = value.type.tensor_type.elem_type
            values.dims[value.name] = dims_of(value.type.tensor_type)
        for tensor in message.graph.initializer:
            values.add(tensor)
        for node in message.graph.node:
            if node.domain == DOMAIN and node.op_type == "Convert" and node.input and node.output:
                type = ELEMENT_TYPES.get(attributes_of(node).get("destination_type", ""), 0)
                values.casts[node.output[0]] = node.input[0], type
        return values

    def add(self, tensor: onnx.TensorProto) -> None:
        """Adds a constant."""
        self.tensors[tensor.name] = tensor
        self.types[tensor.name], self.dims[tensor.name] = tensor.data_type, list(tensor.dims)

    def fresh(self, wanted: str) -> str:
        """A name that no value has, which is taken from now on."""
        while wanted in self.types:
            wanted += "_"
        self.types[wanted] = TensorProto.UNDEFINED
        return wanted

    def constant(self, name: str) -> np.ndarray | None:
        """The elements of a small constant, or None."""
        return self.array(name, SMALL)

    def array(self, name: str, most: float = math.inf) -> np.ndarray | None:
        """The elements of a constant of up to ``most`` bytes, or None. Weights may be constants behind a Convert."""
        casts = []
        while name in self.casts:
            name, type = self.casts[name]
            casts.append(type)
        if name not in self.tensors or self.size(name) > most:
            return None
        array = numpy_helper.to_array(self.tensors[name])
        for type in reversed(casts):
            if type in (TensorProto.UNDEFINED, TensorProto.STRING):
                return None
            before = array
            with np.errstate(all="ignore"):
                array = before.astype(helper.tensor_dtype_to_np_dtype(type))
                if array.astype(before.dtype).tobytes() != before.tobytes():
                    return None  # OpenVINO's devices differ in how they round
        return array

    def size(self, name: str) -> float:
        """Bytes of a value, as the IR declares it; infinite for a dynamic one."""
        dims = self.static(name)
        if dims is None:
            return math.inf
        return math.prod(dims) * helper.tensor_dtype_to_np_dtype(self.types[name]).itemsize

    def static(self, name: str) -> list[int] | None:
        """The dims of a value, if all are known."""
        return static_dims(self.dims.get(name))


def dims_of(tensor: onnx.TypeProto.Tensor) -> Dims:
    """The dims of a declaration."""
    if not tensor.HasField("shape"):
        return None
    return [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]


def attributes_of(node: onnx.NodeProto) -> dict[str, str]:
    """The attributes of a layer, which are all strings."""
    return {attribute.name: attribute.s.decode() for attribute in node.attribute}
