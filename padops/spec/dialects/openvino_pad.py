"""OpenVINO Pad-1 and Pad-12: begin and end amounts in two inputs, negative ones by FULL (P3), limits by P4."""

from __future__ import annotations

from collections.abc import Sequence

from padops.plural import plural
from padops.spec.dialects.node import Attribute, Input, Node, Op
from padops.spec.dtypes import types_of
from padops.spec.plan import Amounts, Crop, Limit

_INT64_MAX = 2**63 - 1


def _one_per_axis(node: Node, name: str, rank: int) -> list[int]:
    """An integer input of OpenVINO's Pad: one value for each axis (P8)."""
    array = node.required_integers(name)
    if array.ndim != 1:
        raise node.error("P8", f"{name} has shape {list(array.shape)}, expected [{rank}]")
    if array.size != rank:
        raise node.error("P8", f"{name} has {plural(array.size, 'value')}, expected {rank} (1 per axis)")
    return [min(value, _INT64_MAX) for value in array.tolist()]


def _begin_and_end_inputs(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """OpenVINO Pad 1 and 12: two inputs, which may be of two integer types."""
    rank = len(shape)
    begins, ends = _one_per_axis(node, "pads_begin", rank), _one_per_axis(node, "pads_end", rank)
    return [Amounts(begin, end) for begin, end in zip(begins, ends)]


def op(version: int) -> Op:
    """The row of OpenVINO Pad 1 or 12; they differ in what a negative output dim is (P1)."""
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
