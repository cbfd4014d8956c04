"""The operators of the domain ``padops``: one row each, and a function that turns a node into a plan.

A dialect defines how a specification writes a Pad: which inputs and attributes hold the amounts, which modes exist,
and what negative amounts do. It knows nothing of element types beyond their names, and nothing of ONNX Runtime. The
native library holds the same table in ``csrc/core/dialects.cpp``; ``tests/csrc/test_describe.py`` compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from padops.plural import plural
from padops.spec.dtypes import types_of
from padops.spec.plan import LARGEST, Amounts, Crop, Limit, Mode, PadError, Plan, make_plan

DOMAIN = "padops"
VERSION = 1

# The allowed element types of an integer input, by the kind of the input.
INTEGER_KINDS = {
    "int64": ("int64",),
    "index": ("int32", "int64"),
    "integer": ("uint8", "int8", "uint16", "int16", "int32", "int64", "uint32", "uint64"),
}

# For each attribute type: the rule that requires it, its description, and its types in Python. An integer is no float.
_ATTRIBUTE_TYPES: dict[str, tuple[str, str, Any]] = {
    "ints": ("P8", "a list of integers", (list, tuple)),
    "float": ("P7", "a float", (float, np.floating)),
    "string": ("P9", "a string", (str,)),
}


@dataclass(frozen=True)
class Input:
    """One input of an operator; ``kind`` is ``"T"`` (the type of the data) or a key of ``INTEGER_KINDS``."""

    name: str
    kind: str
    optional: bool = False


@dataclass(frozen=True)
class Attribute:
    name: str  # as the specification spells it
    type: str  # ``"ints"``, ``"float"`` or ``"string"``
    required: bool = False  # whether the node must have it
    default: Any = None  # the value of an absent attribute; ``[]`` stands for a neutral value per axis
    choices: tuple[str, ...] = ()  # the allowed values of a string other than the mode


@dataclass(frozen=True)
class Op:
    name: str  # the ``op_type``
    inputs: tuple[Input, ...]  # in order; the data comes first
    attributes: tuple[Attribute, ...]  # in alphabetical order of their names
    mode: str  # the name of the mode attribute
    modes: tuple[str, ...]  # the allowed modes, in the specification's spelling
    types: tuple[str, ...]  # names of the element types of ``T``
    crop: Crop  # the effect of negative pads (P3)
    fill: str  # the name of the input or attribute that holds the fill
    amounts: Callable[[Node, Sequence[int]], list[Amounts]]  # ``(node, shape) -> Amounts of each axis``
    limit: Limit = Limit.NONE  # how far a mode may reach (P4)
    clamp: bool = False  # whether a negative output dim is 0 (P1)

    @property
    def is_onnx(self) -> bool:
        """Whether the operator is a version of ONNX's Pad."""
        return self.name.startswith("Pad_")

    def input_index(self, name: str) -> int | None:
        return next((i for i, row in enumerate(self.inputs) if row.name == name), None)


@dataclass
class Node:
    """A node as a dialect sees it: the attributes and the integer inputs."""

    op: Op
    name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)  # the given attributes; absent ones have defaults
    # One entry for each of ``op.inputs``, None where the input is absent. Only integer inputs are read.
    inputs: Sequence[np.ndarray | None] = ()

    def error(self, rule: str, detail: str) -> PadError:
        return PadError(rule, detail, self.op.name, self.name)

    def attribute(self, name: str) -> Any:
        """Return an attribute's value, or its default; check presence and type (P7, P8, P9), and value (S1)."""
        row = next(row for row in self.op.attributes if row.name == name)
        value = self._typed(row)
        if row.choices and value not in row.choices:
            raise self.error("S1", f"{name} '{value}' is not one of {', '.join(row.choices)}")
        return value

    def _typed(self, row: Attribute) -> Any:
        """Check the presence and type of an attribute; return its value."""
        rule, words, types = _ATTRIBUTE_TYPES[row.type]
        if row.name not in self.attributes:
            if row.required:
                raise self.error(rule, f"attribute {row.name} is required")
            return row.default
        value: Any = self.attributes[row.name]
        numbers = value if row.type == "ints" and isinstance(value, types) else []
        if not isinstance(value, types) or not all(isinstance(one, (int, np.integer)) for one in numbers):
            raise self.error(rule, f"attribute {row.name} is not {words}")
        return [int(one) for one in value] if row.type == "ints" else value

    def list_or(self, name: str, count: int, neutral: int) -> Sequence[int]:
        """Return an optional list attribute; if absent, ``count`` copies of ``neutral``, which changes nothing."""
        values: Sequence[int] = self.attribute(name) if name in self.attributes else [neutral] * count
        return values

    def integers(self, name: str) -> Any:
        """Return an integer input, or None for an absent optional input; check presence and element type (P8)."""
        position = self.op.input_index(name)
        assert position is not None, f"{self.op.name} has no input {name}"
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
        """Return the mode; check all attributes (P7, P8, P9), the mode (P9), then the other strings (S1)."""
        for row in self.op.attributes:
            self._typed(row)
        text = self.attribute(self.op.mode)
        if text not in self.op.modes:
            raise self.error("P9", f"{self.op.mode} '{text}' is not one of {', '.join(self.op.modes)}")
        for row in self.op.attributes:
            self.attribute(row.name)
        return Mode(text.lower())


def make_node_plan(node: Node, shape: Sequence[int]) -> Plan:
    """Return the plan of ``node`` for data of ``shape``; a PadError names the operator, the node and the rule."""
    op, mode = node.op, node.mode()
    try:
        return make_plan(shape, op.amounts(node, shape), mode, op.crop, op.limit, op.clamp)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None


# ---- ONNX Pad 1 to 25: amounts in an attribute, then in an input, then for the axes that another input lists

VERSIONS = (1, 2, 11, 13, 18, 19, 21, 23, 24, 25)


def _check_count(node: Node, rule: str, name: str, count: int, expected: int, why: str) -> None:
    """Raise PadError for a list of another length than ``expected``."""
    if count != expected:
        raise node.error(rule, f"{name} has {plural(count, 'value')}, expected {expected} ({why})")


def axis_positions(array: np.ndarray, rank: int, error: Callable[[str, str], PadError] = PadError) -> list[int]:
    """Convert the elements of the axes input to positions from 0 on; check P8."""
    if array.ndim != 1:
        raise error("P8", f"axes has shape {list(array.shape)}, expected one dim")
    axes: list[int] = []
    for value in array.tolist():
        if not -rank <= value < rank:
            raise error("P8", f"axes={array.tolist()} has {value}, outside -{rank}..{rank - 1} for rank {rank}")
        axis = value % rank
        if axis in axes:
            raise error("P8", f"axes={array.tolist()} names axis {axis} twice")
        axes.append(axis)
    return axes


def _pads(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """Return the amounts of an ONNX Pad, ``[begin…, end…]`` (P8); from Pad-18 on, an input may list their axes."""
    rank, name = len(shape), "pads"
    axes: Sequence[int] = range(rank)
    where = f"rank {rank}"
    if node.op.input_index(name) is None:
        name = node.op.attributes[1].name
        values = node.attribute(name)
    else:
        pads = node.integers(name)
        if node.op.input_index("axes") is not None and (listed := node.integers("axes")) is not None:
            axes, where = axis_positions(listed, rank, node.error), f"axes={listed.tolist()}"
        if pads.ndim != 1 and not (pads.ndim == 2 and pads.shape[0] == 1):
            raise node.error("P8", f"pads has shape {list(pads.shape)}, expected [{2 * len(axes)}]")
        values = pads.reshape(-1).tolist()
    count = len(axes)
    _check_count(node, "P8", name, len(values), 2 * count, f"2 per axis, {where}")
    amounts = [Amounts(0, 0)] * rank
    for axis, begin, end in zip(axes, values, values[count:]):
        amounts[axis] = Amounts(begin, end)
    return amounts


def _onnx_op(version: int) -> Op:
    inputs, attributes = [Input("data", "T")], [Attribute("mode", "string", default="constant")]
    if version < 11:
        attributes.append(Attribute("paddings" if version == 1 else "pads", "ints", required=True))
        attributes.append(Attribute("value", "float", default=0.0))
    else:
        inputs += [Input("pads", "int64"), Input("constant_value", "T", optional=True)]
    if version >= 18:
        inputs.append(Input("axes", "index", optional=True))
    return Op(
        name=f"Pad_{version}",
        inputs=tuple(inputs),
        attributes=tuple(attributes),
        mode="mode",
        modes=("constant", "reflect", "edge") + (("wrap",) if version >= 19 else ()),
        types=types_of(version),
        crop=Crop.CROP,
        fill="value" if version < 11 else "constant_value",
        amounts=_pads,
    )


def onnx_op(opset: int) -> str:
    """Return the operator that mirrors the ONNX Pad of an ``ai.onnx`` opset, for example ``"Pad_13"`` for opset 17."""
    return f"Pad_{max(version for version in VERSIONS if version <= opset)}"


# ---- OpenVINO Pad-1 and Pad-12: amounts in two inputs, negative amounts by FULL (P3), limits by P4


def _begin_and_end_inputs(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """Return the amounts of OpenVINO Pad 1 and 12, from two inputs, which may have different integer types."""
    rank, lists = len(shape), []
    for name in ("pads_begin", "pads_end"):
        array = node.integers(name)
        if array.ndim != 1:
            raise node.error("P8", f"{name} has shape {list(array.shape)}, expected [{rank}]")
        _check_count(node, "P8", name, array.size, rank, "1 per axis")
        lists.append([min(value, 2**63 - 1) for value in array.tolist()])
    return [Amounts(*values) for values in zip(*lists)]


def _openvino_op(version: int) -> Op:
    """Return the row of OpenVINO Pad 1 or 12; only Pad 12 turns a negative output dim into 0 (P1)."""
    return Op(
        name=f"OpenVINOPad_{version}",
        inputs=(
            Input("data", "T"),
            Input("pads_begin", "integer"),
            Input("pads_end", "integer"),
            Input("pad_value", "T", optional=True),
        ),
        attributes=(Attribute("pad_mode", "string", required=True),),
        mode="pad_mode",
        modes=("constant", "edge", "reflect", "symmetric"),
        types=types_of(25),
        crop=Crop.FULL,
        fill="pad_value",
        amounts=_begin_and_end_inputs,
        limit=Limit.OPENVINO,
        clamp=version == 12,
    )


# ---- nGraph Pad, version 0: amounts in attributes, interior padding included (P6)


def _padding_attributes(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """Return the amounts of nGraph Pad, from three attributes; interior may be absent."""
    rank = len(shape)
    names = ("padding_below", "padding_above", "padding_interior")
    lists = [*map(node.attribute, names[:2]), node.list_or(names[2], rank, 0)]
    for name, values in zip(names, lists):
        _check_count(node, "P8", name, len(values), rank, "1 per axis")
    return [Amounts(*values) for values in zip(*lists)]


NGRAPH_OP = Op(
    name="NGraphPad_0",
    inputs=(Input("arg", "T"), Input("arg_pad_value", "T")),
    attributes=(
        Attribute("pad_mode", "string", default="CONSTANT"),
        Attribute("padding_above", "ints", required=True),
        Attribute("padding_below", "ints", required=True),
        Attribute("padding_interior", "ints", default=[]),
    ),
    mode="pad_mode",
    modes=("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC"),
    types=types_of(25),
    crop=Crop.FULL,
    fill="arg_pad_value",
    amounts=_padding_attributes,
    limit=Limit.NGRAPH,
)


# ---- SAME padding: amounts that follow from the shape, as TensorFlow's SAME and ONNX's auto_pad define them (S1)

AUTO_PADS = ("SAME_UPPER", "SAME_LOWER", "VALID")
# Only the position of the channels matters; kernel_shape has one entry for each spatial axis.
DATA_FORMATS = ("NCHW", "NHWC", "NCW", "NWC", "NCDHW", "NDHWC")


def _same_attributes(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """Return the amounts of SAME padding of the spatial axes, from the shape (S1)."""
    kernel = node.attribute("kernel_shape")
    spatial, rank = len(kernel), len(shape)
    if rank != spatial + 2:
        raise node.error(
            "S1", f"data has rank {rank}, expected {spatial + 2} for a kernel_shape of {plural(spatial, 'value')}"
        )
    lists = {"kernel_shape": kernel} | {name: node.list_or(name, spatial, 1) for name in ("strides", "dilations")}
    for name, values in lists.items():
        _check_count(node, "S1", name, len(values), spatial, "1 per spatial axis")
        for value in values:
            if not 1 <= value <= LARGEST:
                raise node.error("S1", f"{name} has {value}, expected 1 to {LARGEST}")
    first = 2 if node.attribute("data_format").startswith("NC") else 1
    amounts = [Amounts(0, 0)] * rank
    for axis, (extent, stride, dilation) in enumerate(zip(*lists.values()), first):
        amounts[axis] = Amounts(*same_padding(shape[axis], extent, stride, dilation, node.attribute("auto_pad")))
    return amounts


def same_padding(
    input: int, kernel: int, stride: int = 1, dilation: int = 1, mode: str = "SAME_UPPER"
) -> tuple[int, int]:
    """Return the amounts by which TensorFlow and ONNX pad one spatial axis (S1).

    Args:
        input: Elements of the axis, n.
        kernel: Elements of the kernel along this axis, k.
        stride: The stride, s.
        dilation: The dilation, d.
        mode: ``"SAME_UPPER"`` (TensorFlow's SAME: the odd element at the end), ``"SAME_LOWER"`` (at the beginning) or
            ``"VALID"``; ``"SAME"`` is ``"SAME_UPPER"``.

    Returns:
        Elements to add before and after: the halves of max((o-1)s + (k-1)d + 1 - n, 0), where o = ceil(n/s).

    Raises:
        PadError: S1 if the mode is unknown, or a size is too small or not an integer. P10 if the dilated kernel is
            larger than any tensor.
    """
    if mode not in (*AUTO_PADS, "SAME"):
        raise PadError("S1", f"auto_pad '{mode}' is not one of {', '.join(AUTO_PADS)}", "SamePad_1")
    sizes = {"input": input, "kernel": kernel, "stride": stride, "dilation": dilation}
    for name, value in sizes.items():
        least = 0 if name == "input" else 1
        if not isinstance(value, (int, np.integer)) or value < least:
            raise PadError("S1", f"{name} is {value!r}, expected an integer of {least} or more", "SamePad_1")
    if (kernel - 1) * dilation > LARGEST:
        raise PadError("P10", f"a kernel of {kernel} with dilation {dilation} is beyond {LARGEST}", "SamePad_1")
    if mode == "VALID":
        return 0, 0
    outputs = -(-input // stride)
    total = max((outputs - 1) * stride + (kernel - 1) * dilation + 1 - input, 0)
    small, large = total // 2, total - total // 2
    return (large, small) if mode == "SAME_LOWER" else (small, large)


# Neither ONNX nor TensorFlow has SAME padding as an operator of its own.
SAME_OP = Op(
    name="SamePad_1",
    inputs=(Input("data", "T"), Input("pad_value", "T", optional=True)),
    attributes=(
        Attribute("auto_pad", "string", default=AUTO_PADS[0], choices=AUTO_PADS),
        Attribute("data_format", "string", default="NCHW", choices=DATA_FORMATS),
        Attribute("dilations", "ints", default=[]),
        Attribute("kernel_shape", "ints", required=True),
        Attribute("mode", "string", default="constant"),
        Attribute("strides", "ints", default=[]),
    ),
    mode="mode",
    modes=("constant", "edge", "reflect", "symmetric", "wrap"),
    types=types_of(25),
    crop=Crop.FULL,
    fill="pad_value",
    amounts=_same_attributes,
)


_ROWS = (*map(_onnx_op, VERSIONS), _openvino_op(1), _openvino_op(12), NGRAPH_OP, SAME_OP)
OPS: dict[str, Op] = {op.name: op for op in _ROWS}
