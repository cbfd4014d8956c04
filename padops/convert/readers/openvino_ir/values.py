"""The types, shapes and constants of a model that was read from an IR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.readers.limits import static_dims
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

    @staticmethod
    def of(message: onnx.ModelProto) -> Values:
        """The values of a model whose constants are Constant nodes, and all of whose values are declared."""
        declared = {value.name: value.type.tensor_type for value in (*message.graph.input, *message.graph.value_info)}
        return Values(
            {name: tensor.elem_type for name, tensor in declared.items()},
            {name: dims_of(tensor) for name, tensor in declared.items()},
            {node.output[0]: node.attribute[0].t for node in message.graph.node if node.op_type == "Constant"},
        )

    def constant(self, name: str) -> np.ndarray | None:
        """The elements of a small constant, or None."""
        tensor = self.tensors.get(name)
        return None if tensor is None or len(tensor.raw_data) > SMALL else numpy_helper.to_array(tensor)

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
            raise Unreadable(f"pads_begin has {len(begin)} values, pads_end {len(end)}")
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
        raise Unreadable(f"strides or dilations have {len(wrong[0])} values, expected {len(kernel)}")
    try:
        axes = zip(sizes, kernel, strides, dilations)
        return [same_padding(size, extent, stride, dilation, mode.upper()) for size, extent, stride, dilation in axes]
    except PadError as error:
        raise Unreadable(error.detail) from None
