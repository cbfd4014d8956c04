"""The operators that move a window over their data and can pad by themselves: one row each.

The value that such an operator reads outside its data decides which Pad can stand in front of it (``auto_pad``), and
which Pad in front of it can be folded into it (``folding/rules.py``, with the measurements).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from padops.convert.pads.match import MICROSOFT


@dataclass(frozen=True)
class WindowOperator:
    """How an operator pads."""

    # The value that it reads outside its data; "not counted": an average counts only data, by default.
    outside: Literal["zero", "zero point", "lowest", "not counted"] = "zero"
    # Whether ONNX Runtime takes only amounts smaller than the kernel, and ignores dilations with SAME.
    pooling: bool = False
    weight: int | None = None  # the input whose shape gives the kernel if the attribute is absent
    zero_point: int | None = None  # the input with the zero point of the data
    # Whether the channels are the last axis, or the name of the attribute that says so.
    channels_last: bool | Literal["channels_last"] = False
    transposed: bool = False  # whether the amounts are cropped from the output
    no_auto_pad: str | None = None  # why a node with ``auto_pad`` stays
    folds: bool = False  # whether it may take the amounts of a Pad
    no_fold: str | None = None  # why it may not; None if that needs no words
    since: int = 0  # the first opset in which it can read ``outside``


BLOCKED = WindowOperator(
    no_auto_pad="the domain com.microsoft.nchwc is ONNX Runtime's own; convert the model it was made from"
)
NCHWC = "com.microsoft.nchwc"

WINDOW_OPERATORS: dict[tuple[str, str], WindowOperator] = {
    ("", "Conv"): WindowOperator(weight=1, folds=True),
    ("", "ConvInteger"): WindowOperator("zero point", weight=1, zero_point=2, folds=True),
    ("", "QLinearConv"): WindowOperator("zero point", weight=3, zero_point=2, folds=True),
    ("", "ConvTranspose"): WindowOperator(weight=1, transposed=True, no_fold="its pads crop the output"),
    ("", "MaxPool"): WindowOperator("lowest", pooling=True, folds=True),
    ("", "AveragePool"): WindowOperator("not counted", pooling=True, folds=True, since=7),  # count_include_pad
    ("", "LpPool"): WindowOperator(pooling=True),
    (MICROSOFT, "FusedConv"): WindowOperator(weight=1),
    (MICROSOFT, "NhwcConv"): WindowOperator(channels_last=True),
    (MICROSOFT, "NhwcFusedConv"): WindowOperator(channels_last=True),
    (MICROSOFT, "NhwcMaxPool"): WindowOperator("lowest", pooling=True, channels_last=True),
    (MICROSOFT, "QLinearAveragePool"): WindowOperator(
        "not counted", pooling=True, zero_point=2, channels_last="channels_last"
    ),
    (MICROSOFT, "QLinearConv"): WindowOperator("zero point", weight=3, zero_point=2, channels_last="channels_last"),
    (MICROSOFT, "MaxpoolWithMask"): WindowOperator(no_auto_pad="its mask would have to be padded with the data"),
    (MICROSOFT, "ConvTransposeWithDynamicPads"): WindowOperator(no_auto_pad="its amounts are an input"),
    **dict.fromkeys(((NCHWC, "Conv"), (NCHWC, "MaxPool"), (NCHWC, "AveragePool")), BLOCKED),
}

MISCOUNTED = "onnxruntime 1.21 to 1.24 count such padding of an AveragePool wrongly"


def is_miscounted(name: str, opset: int | None, pads: Sequence[int]) -> bool:
    """Whether some release of ONNX Runtime miscounts these pads of an operator of ONNX that counts its padding.

    1.21 to 1.24 (``model_words.MISCOUNTING``) end the windows of AveragePool's axis i behind the amount in place 2i + 1
    of its pads, which is the axis' own end for one axis alone; since opset 19, where the windows may be dilated.
    """
    ends = len(pads) // 2
    return name == "AveragePool" and (opset or 19) >= 19 and any(pads[2 * i + 1] < pads[ends + i] for i in range(ends))


# Types whose lowest value is safe as a fill of a MaxPool; floats are not: minus infinity may meet a NaN.
LOWEST_IS_EXACT = ("int8", "uint8")
