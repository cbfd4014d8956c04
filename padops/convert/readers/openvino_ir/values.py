"""The types, shapes and constants of a model that was read from an IR."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.limits import static_dims
from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES
from padops.plural import plural
from padops.spec.dialects import same_padding
from padops.spec.plan import LARGEST, PadError

WEIGHTS = {"Convolution": 2, "GroupConvolution": 3}  # dims of the weights before those of the kernel
SMALL = 1024  # bytes of a constant that is worth looking into: amounts, axes, shapes

INTEGER = re.compile("[+-]?[0-9]{1,19}")
LONGEST_TEXT = 100  # characters of an attribute in a message

Dims = list[int | str] | None  # a string for each dynamic dim; None where not even the rank is known


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
        graph = message.graph
        declared = {value.name: value.type.tensor_type for value in (*graph.input, *graph.value_info)}
        return Values(
            {name: tensor.elem_type for name, tensor in declared.items()},
            {name: dims_of(tensor) for name, tensor in declared.items()},
            {tensor.name: tensor for tensor in graph.initializer},
            {
                node.output[0]: (node.input[0], ELEMENT_TYPES.get(attributes_of(node).get("destination_type", ""), 0))
                for node in graph.node
                if node.domain == DOMAIN and node.op_type == "Convert" and node.input and node.output
            },
        )

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
    return [dim.dim_param or dim.dim_value for dim in tensor.shape.dim] if tensor.HasField("shape") else None


def attributes_of(node: onnx.NodeProto) -> dict[str, str]:
    """The attributes of a layer, which are all strings."""
    return {attribute.name: attribute.s.decode() for attribute in node.attribute}


class Unreadable(ValueError):
    """A layer's attribute is missing or invalid; the message is the reason, for the listing."""


def word(attributes: Mapping[str, str], name: str) -> str:
    """An attribute that has to be there.

    Raises:
        Unreadable: It is missing.
    """
    if name not in attributes:
        raise Unreadable(f"it has no {name}")
    return attributes[name]


def integers(attributes: Mapping[str, str], name: str, missing: str | None = None) -> list[int]:
    """The numbers of an attribute such as ``"1, 2"``; ``missing`` stands for an absent one, None: it has to be there.

    Raises:
        Unreadable: It is missing, or not a list of integers.
    """
    text = word(attributes, name) if missing is None else attributes.get(name, missing)
    numbers = []
    for part in text.split(",") if text.strip() else []:
        number = part.strip()
        if not INTEGER.fullmatch(number) or abs(int(number)) > LARGEST:
            raise Unreadable(f"{name}='{text[:LONGEST_TEXT]}' is not a list of integers")
        numbers.append(int(number))
    return numbers


def integer(attributes: Mapping[str, str], name: str) -> int:
    """The number of an attribute that is a whole one.

    Raises:
        Unreadable: It is missing, or no such number.
    """
    numbers = integers(attributes, name)
    if len(numbers) != 1:
        raise Unreadable(f"{name}='{attributes[name][:LONGEST_TEXT]}' is not an integer")
    return numbers[0]


def decimal(attributes: Mapping[str, str], name: str) -> float:
    """The number of an attribute.

    Raises:
        Unreadable: It is missing, or no number.
    """
    text = word(attributes, name)
    try:
        return float(text)
    except ValueError:
        raise Unreadable(f"{name}='{text[:LONGEST_TEXT]}' is not a number") from None


def amounts(node: onnx.NodeProto, values: Values) -> list[tuple[int, int]] | None:
    """Begin and end of each spatial axis of a convolution or pool, None where only a run can tell.

    Raises:
        Unreadable: An attribute that says so is missing or wrong.
    """
    attributes = attributes_of(node)
    mode = attributes.get("auto_pad", "explicit")
    if mode in ("explicit", "notset"):
        begin, end = integers(attributes, "pads_begin"), integers(attributes, "pads_end")
        if len(begin) != len(end):
            raise Unreadable(f"pads_begin has {plural(len(begin), 'value')}, pads_end {len(end)}")
        return list(zip(begin, end))
    if node.op_type in WEIGHTS:
        kernel = (values.static(node.input[1]) or [])[WEIGHTS[node.op_type] :]
    else:
        kernel = integers(attributes, "kernel", missing="")
    sizes = static_dims((values.dims[node.input[0]] or [])[2:])
    if not kernel or sizes is None or len(kernel) != len(sizes):
        return None
    strides = integers(attributes, "strides", missing="") or [1] * len(kernel)
    dilations = integers(attributes, "dilations", missing="") or [1] * len(kernel)
    if wrong := [numbers for numbers in (strides, dilations) if len(numbers) != len(kernel)]:
        raise Unreadable(f"strides or dilations have {plural(len(wrong[0]), 'value')}, expected {len(kernel)}")
    try:
        axes = zip(sizes, kernel, strides, dilations)
        return [same_padding(size, extent, stride, dilation, mode.upper()) for size, extent, stride, dilation in axes]
    except PadError as error:
        raise Unreadable(error.detail) from None
