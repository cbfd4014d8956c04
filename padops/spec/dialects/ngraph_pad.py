"""nGraph Pad, version 0: amounts in attributes, interior padding included (P6)."""

from __future__ import annotations

from collections.abc import Sequence

from padops.plural import plural
from padops.spec.dialects.node import Attribute, Input, Node, Op
from padops.spec.dtypes import types_of
from padops.spec.plan import Amounts, Crop, Limit


def _padding_attributes(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """nGraph Pad: three attributes; interior may be absent."""
    rank = len(shape)
    names = ("padding_below", "padding_above", "padding_interior")
    lists = [*map(node.attribute, names[:2]), node.list_or(names[2], rank, 0)]
    for name, values in zip(names, lists):
        if len(values) != rank:
            raise node.error("P8", f"{name} has {plural(len(values), 'value')}, expected {rank} (1 per axis)")
    return [Amounts(*values) for values in zip(*lists)]


def op() -> Op:
    """The row of nGraph Pad, version 0."""
    return Op(
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
