"""ONNX Pad 1 to 25: amounts in an attribute, then in an input, then for the axes that another input lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from padops.plural import plural
from padops.spec.dialects.node import Attribute, Input, Node, Op
from padops.spec.dtypes import types_of
from padops.spec.plan import Amounts, Crop, PadError

VERSIONS = (1, 2, 11, 13, 18, 19, 21, 23, 24, 25)


def _pair_up(node: Node, name: str, values: Sequence[int], axes: Sequence[int], where: str, rank: int) -> list[Amounts]:
    """``[begin…, end…]`` of the listed axes as amounts of every axis (P8)."""
    count = len(axes)
    if len(values) != 2 * count:
        raise node.error("P8", f"{name} has {plural(len(values), 'value')}, expected {2 * count} (2 per axis, {where})")
    amounts = [Amounts(0, 0)] * rank
    for i, axis in enumerate(axes):
        amounts[axis] = Amounts(values[i], values[count + i])
    return amounts


def _pads_attribute(name: str) -> Callable[[Node, Sequence[int]], list[Amounts]]:
    """ONNX Pad 1 and 2: the amounts stand in an attribute."""

    def amounts(node: Node, shape: Sequence[int]) -> list[Amounts]:
        rank = len(shape)
        return _pair_up(node, name, node.attribute(name), range(rank), f"rank {rank}", rank)

    return amounts


def axis_positions(array: np.ndarray, rank: int, error: Callable[[str, str], PadError] = PadError) -> list[int]:
    """The elements of the axes input as positions from 0 on.

    Args:
        array: The axes, integers from -rank to rank - 1.
        rank: The number of the data's dims.
        error: Makes the error of a rule and a detail.

    Raises:
        PadError: P8 does not hold.
    """
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


def _pads_input(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """ONNX Pad 11 and later: the amounts are an input, from 18 on for the axes that another input lists."""
    rank = len(shape)
    pads = node.required_integers("pads")
    listed = node.integers("axes") if node.op.input_index("axes") is not None else None
    axes: Sequence[int] = range(rank) if listed is None else axis_positions(listed, rank, node.error)
    if pads.ndim != 1 and not (pads.ndim == 2 and pads.shape[0] == 1):
        raise node.error("P8", f"pads has shape {list(pads.shape)}, expected [{2 * len(axes)}]")
    where = f"rank {rank}" if listed is None else f"axes={listed.tolist()}"
    return _pair_up(node, "pads", pads.reshape(-1).tolist(), axes, where, rank)


def _attribute_pad(version: int, name: str) -> Op:
    """The row of ONNX Pad 1 or 2, whose amounts stand in the attribute ``name``."""
    mode = Attribute("mode", "string", default="constant")
    pads = Attribute(name, "ints", required=True)
    return Op(
        name=f"Pad_{version}",
        inputs=(Input("data", "T"),),
        attributes=(mode, pads, Attribute("value", "float", default=0.0)),
        mode="mode",
        modes=("constant", "reflect", "edge"),
        types=types_of(version),
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
        mode="mode",
        modes=("constant", "reflect", "edge") + (("wrap",) if version >= 19 else ()),
        types=types_of(version),
        crop=Crop.CROP,
        fill="constant_value",
        amounts=_pads_input,
    )


def ops() -> list[Op]:
    """One row for each version of ONNX Pad."""
    return [_attribute_pad(1, "paddings"), _attribute_pad(2, "pads"), *map(_input_pad, VERSIONS[2:])]


def onnx_op(opset: int) -> str:
    """The operator that mirrors the ONNX Pad of an ``ai.onnx`` opset, for example ``"Pad_13"`` for opset 17."""
    return f"Pad_{max(version for version in VERSIONS if version <= opset)}"
