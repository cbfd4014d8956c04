"""A node with ``auto_pad``, read: its axes, its fill, and what keeps it from being changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Unconvertible, string_attribute, string_values
from padops.convert.pads.operands import all_known
from padops.convert.pads.window_operators import WindowOperator
from padops.convert.sources.auto_pad.amounts import Axis
from padops.spec.dtypes import by_name
from padops.spec.plan import LARGEST

SAME = ("SAME_UPPER", "SAME_LOWER")
OTHERS = ("", "NOTSET", "VALID")


@dataclass(frozen=True)
class SameWindow:
    """A node with ``auto_pad``.

    Attributes:
        node: The node.
        operator: Its row in the table of window operators.
        mode: SAME_UPPER or SAME_LOWER.
        axes: Its spatial axes.
        first: The position of the first spatial axis in the data.
        output_padding: A transposed convolution's attribute of this name, for each spatial axis; else zeros.
        unpadded: Why its data cannot be padded, as the end of a sentence; empty if they can.
        fill: The fill for its data; None for 0, SamePad_1's default.
        opset: The opset of the default domain.
    """

    node: ir.Node
    operator: WindowOperator
    mode: str
    axes: tuple[Axis, ...]
    first: int
    output_padding: tuple[int, ...]
    unpadded: str
    fill: ir.Value | np.ndarray | None
    opset: int | None


def read_mode(site: NodeSite) -> str | None:
    """SAME_UPPER or SAME_LOWER; None for a node that pads in another way.

    Raises:
        Unconvertible: The mode is unknown, or ONNX does not have it.
    """
    attribute = site.node.attributes["auto_pad"]
    if attribute.is_ref():
        if not string_values(site, "auto_pad", "").isdisjoint(SAME):
            raise Unconvertible("auto_pad is given by the caller of the function")
        return None
    mode = string_attribute(site.node, "auto_pad", "")
    if mode in OTHERS:
        return None
    if mode not in SAME:
        raise Unconvertible(f"auto_pad is '{mode}', expected one of {', '.join((*SAME, *OTHERS[1:]))}")
    return mode


def read_window(site: NodeSite, operator: WindowOperator, mode: str, types: Types) -> SameWindow:
    """Reads the node's attributes and inputs.

    Raises:
        Unconvertible: They contradict each other, or leave too much open.
    """
    node = site.node
    if operator.no_auto_pad is not None:
        raise Unconvertible(operator.no_auto_pad)
    if "pads" in node.attributes:
        raise Unconvertible("auto_pad and pads are given together, and ONNX has no meaning for that")
    if not node.inputs or node.inputs[0] is None:
        raise Unconvertible("it has no data")
    if operator.transposed and "output_shape" in node.attributes:
        raise Unconvertible("its amounts follow from output_shape; auto_pad only says how to halve them")
    last = operator.channels_last
    if isinstance(last, str):
        last = bool(_number(node, last, 0))
    kernel = _kernel(node, operator, last, types)
    strides = _ints(node, "strides", len(kernel)) or [1] * len(kernel)
    dilations = _ints(node, "dilations", len(kernel)) or [1] * len(kernel)
    more = (_ints(node, "output_padding", len(kernel)) if operator.transposed else None) or [0] * len(kernel)
    first = 1 if last else 2
    sizes = _sizes(node, first, len(kernel), types)
    type_name = types.name(node.inputs[0], *node.outputs[:1]) if operator.outside == "lowest" else None
    return SameWindow(
        node=node,
        operator=operator,
        mode=mode,
        axes=tuple(map(Axis, sizes, kernel, strides, dilations)),
        first=first,
        output_padding=tuple(more),
        unpadded=_unpadded(node, operator, type_name),
        fill=_fill(node, operator, type_name),
        opset=site.scope.opset,
    )


def _kernel(node: ir.Node, operator: WindowOperator, channels_last: bool, types: Types) -> list[int]:
    """The kernel's size: an attribute, else the shape of the weights."""
    kernel = _ints(node, "kernel_shape")
    if kernel is not None:
        return kernel
    if operator.weight is None or channels_last:
        raise Unconvertible("it has no kernel_shape")
    weight = node.inputs[operator.weight] if operator.weight < len(node.inputs) else None
    shape = types.shape(weight)
    spatial = None if shape is None else shape[2:]
    if not spatial or not all_known(spatial):
        raise Unconvertible("it has no kernel_shape, and the shape of its weights is not known")
    return list(spatial)


def _sizes(node: ir.Node, first: int, count: int, types: Types) -> list[int | None]:
    """The spatial dims of the data, None for each that is not known."""
    shape = types.shape(node.inputs[0])
    if shape is None:
        return [None] * count
    if len(shape) != count + 2:
        raise Unconvertible(
            f"its data have rank {len(shape)}, expected {count + 2} for a kernel of {count} values [S1]"
        )
    return [dim if dim is not None and dim > 0 else None for dim in shape[first : first + count]]


def _fill(node: ir.Node, operator: WindowOperator, type_name: str | None) -> ir.Value | np.ndarray | None:
    """The value that the operator reads outside the data; None for 0."""
    if operator.outside == "lowest":
        if type_name is None:
            return None
        dtype = by_name(type_name).numpy
        return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)
    position = operator.zero_point
    return node.inputs[position] if position is not None and position < len(node.inputs) else None


def _unpadded(node: ir.Node, operator: WindowOperator, type_name: str | None) -> str:
    if operator.outside == "not counted" and not _number(node, "count_include_pad", 0):
        return "counts only data"
    if operator.outside == "lowest" and len(node.outputs) > 1 and node.outputs[1].name:
        return "gives indices into the data"
    if operator.outside == "lowest" and type_name is None:
        return "has data of a type that is not known"
    if operator.outside == "lowest" and type_name == "double":
        return "has data of double, of which ONNX Runtime keeps a NaN only at the beginning of a window"
    return ""


def _number(node: ir.Node, name: str, default: int) -> int:
    value: int = _value(node, name, ir.AttributeType.INT, default)
    return value


def _ints(node: ir.Node, name: str, count: int | None = None) -> list[int] | None:
    """A list of sizes, checked by S1; None if absent or empty."""
    values, smallest = list(_value(node, name, ir.AttributeType.INTS, ())), 0 if name == "output_padding" else 1
    if values and count is not None and len(values) != count:
        raise Unconvertible(f"{name} has {len(values)} values, expected {count} (1 per spatial axis) [S1]")
    if wrong := [value for value in values if not smallest <= value <= LARGEST]:
        raise Unconvertible(f"{name} has {wrong[0]}, expected {smallest} to {LARGEST} [S1]")
    return values or None


def _value(node: ir.Node, name: str, kind: ir.AttributeType, absent: Any) -> Any:
    attribute = node.attributes.get(name)
    if attribute is None:
        return absent
    if attribute.is_ref() or attribute.type != kind:
        what = "given by the caller of the function" if attribute.is_ref() else f"of type {attribute.type.name}"
        raise Unconvertible(f"its attribute {name} is {what}")
    return attribute.value
