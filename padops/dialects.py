"""The operators of the domain ``padops``: one row each, and a function that turns a node into a plan.

A dialect knows how its specification spells a Pad: which inputs and attributes carry the amounts, which modes it has
and how negative amounts act. It knows nothing of element types beyond their names, and nothing of ONNX Runtime. The
native library holds the same table in ``csrc/dialects.cpp``; ``tests/test_describe.py`` compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from padops.dtypes import DTYPES
from padops.plan import Amounts, Crop, Limit, Mode, PadError, Plan, make_plan

DOMAIN = "padops"
VERSION = 1

# What the elements of an integer input may be, by the kind of the input.
INTEGER_KINDS = {
    "int64": ("int64",),
    "index": ("int32", "int64"),
}


@dataclass(frozen=True)
class Input:
    """One input of an operator; ``kind`` is ``"T"`` (the type of the data) or a key of ``INTEGER_KINDS``."""

    name: str
    kind: str
    optional: bool = False


@dataclass(frozen=True)
class Attribute:
    """One attribute; ``type`` is ``"int"``, ``"ints"``, ``"float"`` or ``"string"``, ``default`` None if there is none."""

    name: str
    type: str
    required: bool = False
    default: Any = None


@dataclass(frozen=True)
class Op:
    """One operator of the domain.

    Attributes:
        name: The ``op_type``.
        inputs: In order; the data comes first.
        attributes: In alphabetical order of their names.
        modes: What the mode attribute may say, in the specification's spelling.
        types: Names of the element types of ``T``.
        crop: What negative pads do (P3).
        fill: The name of the input or attribute that holds the fill.
        amounts: ``(node, shape) -> Amounts of each axis``.
        limit: How far a mode may reach (P4).
        clamp: Whether a negative output dim is 0 (P1).
    """

    name: str
    inputs: tuple[Input, ...]
    attributes: tuple[Attribute, ...]
    modes: tuple[str, ...]
    types: tuple[str, ...]
    crop: Crop
    fill: str
    amounts: Callable[[Node, Sequence[int]], list[Amounts]]
    limit: Limit = Limit.NONE
    clamp: bool = False

    def input_index(self, name: str) -> int | None:
        """The position of the input called ``name``, or None."""
        return next((i for i, row in enumerate(self.inputs) if row.name == name), None)


@dataclass
class Node:
    """A node as a dialect sees it: the attributes and the integer inputs.

    Attributes:
        op: The operator.
        name: The node's name, for error messages.
        attributes: Those given; absent ones read as their defaults.
        inputs: One entry for each of ``op.inputs``, None where the input is absent. Only integer inputs are read.
    """

    op: Op
    name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[np.ndarray | None] = ()

    def error(self, rule: str, detail: str) -> PadError:
        """A PadError that names this node."""
        return PadError(rule, detail, self.op.name, self.name)

    def attribute(self, name: str) -> Any:
        """The value of an attribute: the node's, else the default.

        Raises:
            PadError: P8 if a required one is absent.
        """
        row = next(row for row in self.op.attributes if row.name == name)
        if name in self.attributes:
            return self.attributes[name]
        if row.required:
            raise self.error("P8", f"attribute {name} is required")
        return row.default

    def integers(self, name: str) -> np.ndarray | None:
        """An integer input, or None where it is absent.

        Raises:
            PadError: P8 if a required one is absent or the elements are of another type.
        """
        position = self.op.input_index(name)
        row = self.op.inputs[position]
        array = self.inputs[position] if position < len(self.inputs) else None
        if array is None:
            if row.optional:
                return None
            raise self.error("P8", f"input {name} is required")
        allowed = INTEGER_KINDS[row.kind]
        if array.dtype.name not in allowed:
            raise self.error("P8", f"{name} is {array.dtype.name}, expected {' or '.join(allowed)}")
        return array

    def mode(self) -> Mode:
        """The mode (P9).

        Raises:
            PadError: P9 if this version of the operator does not know it.
        """
        text = self.attribute("mode")
        if text not in self.op.modes:
            raise self.error("P9", f"mode '{text}' is not one of {', '.join(self.op.modes)}")
        return Mode(text.lower())


def make_node_plan(node: Node, shape: Sequence[int]) -> Plan:
    """The plan of ``node`` for data of ``shape``.

    Raises:
        PadError: A rule is broken; the message names the operator, the node, the rule and the numbers.
    """
    mode = node.mode()
    amounts = node.op.amounts(node, shape)
    try:
        return make_plan(shape, amounts, mode, node.op.crop, node.op.limit, node.op.clamp)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None


def _pair_up(node: Node, name: str, values: Sequence[int], axes: Sequence[int], where: str, rank: int) -> list[Amounts]:
    """``[begin…, end…]`` of the listed axes as amounts of every axis (P8)."""
    count = len(axes)
    if len(values) != 2 * count:
        raise node.error("P8", f"{name} has {len(values)} values, expected {2 * count} (2 per axis, {where})")
    amounts = [Amounts(0, 0)] * rank
    for i, axis in enumerate(axes):
        amounts[axis] = Amounts(int(values[i]), int(values[count + i]))
    return amounts


def _pads_attribute(name: str) -> Callable[[Node, Sequence[int]], list[Amounts]]:
    """ONNX Pad 1 and 2: the amounts stand in an attribute."""

    def amounts(node: Node, shape: Sequence[int]) -> list[Amounts]:
        rank = len(shape)
        return _pair_up(node, name, node.attribute(name), range(rank), f"rank {rank}", rank)

    return amounts


def _read_axes(node: Node, rank: int) -> list[int] | None:
    """The axes input as positions from 0 on, or None where it is absent (P8)."""
    array = node.integers("axes")
    if array is None:
        return None
    if array.ndim != 1:
        raise node.error("P8", f"axes has shape {list(array.shape)}, expected one dim")
    axes: list[int] = []
    for value in array.tolist():
        if not -rank <= value < rank:
            raise node.error("P8", f"axes={array.tolist()} has {value}, outside -{rank}..{rank - 1} for rank {rank}")
        axis = value % rank
        if axis in axes:
            raise node.error("P8", f"axes={array.tolist()} names axis {axis} twice")
        axes.append(axis)
    return axes


def _pads_input(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """ONNX Pad 11 and later: the amounts are an input, from 18 on for the axes that another input lists."""
    rank = len(shape)
    pads = node.integers("pads")
    axes = _read_axes(node, rank) if node.op.input_index("axes") is not None else None
    if pads.ndim != 1 and not (pads.ndim == 2 and pads.shape[0] == 1):
        count = 2 * (rank if axes is None else len(axes))
        raise node.error("P8", f"pads has shape {list(pads.shape)}, expected [{count}]")
    where = f"rank {rank}" if axes is None else f"axes={node.integers('axes').tolist()}"
    return _pair_up(node, "pads", pads.reshape(-1).tolist(), range(rank) if axes is None else axes, where, rank)


def _types_of(version: int) -> tuple[str, ...]:
    """The element types of ONNX Pad ``version``, in the order of ``DTYPES``."""
    return tuple(dtype.name for dtype in DTYPES if dtype.pad <= version)


def _attribute_pad(version: int, name: str) -> Op:
    """The row of ONNX Pad 1 or 2, whose amounts stand in the attribute ``name``."""
    mode = Attribute("mode", "string", default="constant")
    pads = Attribute(name, "ints", required=True)
    return Op(
        name=f"Pad_{version}",
        inputs=(Input("data", "T"),),
        attributes=(mode, pads, Attribute("value", "float", default=0.0)),
        modes=("constant", "reflect", "edge"),
        types=_types_of(version),
        crop=Crop.CROP,
        fill="value",
        amounts=_pads_attribute(name),
    )


def _input_pad(version: int) -> Op:
    """The row of ONNX Pad 11 or a later version."""
    inputs = (Input("data", "T"), Input("pads", "int64"), Input("constant_value", "T", optional=True))
    return Op(
        name=f"Pad_{version}",
        inputs=inputs + ((Input("axes", "index", optional=True),) if version >= 18 else ()),
        attributes=(Attribute("mode", "string", default="constant"),),
        modes=("constant", "reflect", "edge") + (("wrap",) if version >= 19 else ()),
        types=_types_of(version),
        crop=Crop.CROP,
        fill="constant_value",
        amounts=_pads_input,
    )


ONNX_VERSIONS = (1, 2, 11, 13, 18, 19, 21, 23, 24, 25)

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        _attribute_pad(1, "paddings"),
        _attribute_pad(2, "pads"),
        *(_input_pad(version) for version in ONNX_VERSIONS[2:]),
    )
}


def onnx_op(opset: int) -> str:
    """The operator that mirrors the ONNX Pad of an ``ai.onnx`` opset, for example ``"Pad_13"`` for opset 17."""
    return f"Pad_{max(version for version in ONNX_VERSIONS if version <= opset)}"
