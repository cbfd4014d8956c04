"""The operators that have ``auto_pad``: one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from padops.convert.sources.microsoft import DOMAIN as MICROSOFT

# What the elements are that the operator reads beside its data.
Outside = Literal["zero", "zero point", "lowest", "not counted"]


@dataclass(frozen=True)
class Operator:
    """How an operator pads.

    Attributes:
        outside: What it pads with. A pooling by averages leaves the outside out of its counts, unless told otherwise.
        pooling: Whether ONNX Runtime takes only amounts smaller than the kernel for it, and never a dilation with SAME.
        weight: The input whose shape gives the kernel where the attribute is absent.
        zero_point: The input with the zero point of the data.
        channels_last: Where the channels stand, or the name of the attribute that says it.
        transposed: Whether the amounts are cropped from the output.
        reason: Why such a node is left as it is.
    """

    outside: Outside = "zero"
    pooling: bool = False
    weight: int | None = None
    zero_point: int | None = None
    channels_last: bool | Literal["channels_last"] = False
    transposed: bool = False
    reason: str | None = None


BLOCKED = Operator(reason="the domain com.microsoft.nchwc is ONNX Runtime's own; convert the model it was made from")

OPERATORS: dict[tuple[str, str], Operator] = {
    ("", "Conv"): Operator(weight=1),
    ("", "ConvInteger"): Operator("zero point", weight=1, zero_point=2),
    ("", "QLinearConv"): Operator("zero point", weight=3, zero_point=2),
    ("", "ConvTranspose"): Operator(weight=1, transposed=True),
    ("", "MaxPool"): Operator("lowest", pooling=True),
    ("", "AveragePool"): Operator("not counted", pooling=True),
    ("", "LpPool"): Operator(pooling=True),
    (MICROSOFT, "FusedConv"): Operator(weight=1),
    (MICROSOFT, "NhwcConv"): Operator(channels_last=True),
    (MICROSOFT, "NhwcFusedConv"): Operator(channels_last=True),
    (MICROSOFT, "NhwcMaxPool"): Operator("lowest", pooling=True, channels_last=True),
    (MICROSOFT, "QLinearAveragePool"): Operator(
        "not counted", pooling=True, zero_point=2, channels_last="channels_last"
    ),
    (MICROSOFT, "QLinearConv"): Operator("zero point", weight=3, zero_point=2, channels_last="channels_last"),
    (MICROSOFT, "MaxpoolWithMask"): Operator(reason="its mask would have to be padded with the data"),
    (MICROSOFT, "ConvTransposeWithDynamicPads"): Operator(reason="its amounts are an input"),
    ("com.microsoft.nchwc", "Conv"): BLOCKED,
    ("com.microsoft.nchwc", "MaxPool"): BLOCKED,
    ("com.microsoft.nchwc", "AveragePool"): BLOCKED,
}
