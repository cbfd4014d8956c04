"""What ONNX Runtime does with a pooling or convolution that pads SAME, by its kernel, strides, dilations and sizes.

Measured with onnxruntime 1.20.1, 1.25.0, 1.31.1 and 1.32.0 on the CPU. It computes the amounts of SAME as if there
were no dilation, and does not raise a negative total to 0. Without a dilation, MaxPool of floats without
indices and AveragePool below opset 19 refuse negative amounts in 1.31.1 and 1.32.0; in 1.20.1 and 1.25.0 they run, and
are wrong for some sizes. For a pooling with ceil_mode, whose output size ONNX Runtime rounds up, the verdict is only
"may be wrong". A convolution begins its windows behind the first element if the total is at most -3, or -4 with
SAME_LOWER.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from padops.convert.facts import Verdict
from padops.convert.matchers.auto_pad.window import Axis, SameWindow
from padops.convert.pads.window_operators import MISCOUNTED
from padops.plural import plural
from padops.runtime.model_words import MISCOUNTING

RIGHT = "ONNX Runtime pads it rightly by itself"
# The types that ONNX Runtime's CPU takes, and the first opset of each; it casts float16 to float and back.
TAKEN: dict[str, dict[str, int]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), {"float": 1, "float16": 6}),
    **dict.fromkeys(("ConvInteger", "QLinearConv"), {"int8": 10, "uint8": 10}),
    "MaxPool": {"float": 1, "float16": 6, "double": 8, "int8": 12, "uint8": 12},
    "AveragePool": {"float": 7, "float16": 7},
    "LpPool": {"float": 2, "float16": 6},
}
LATER = {"ConvInteger": ("int8", 24)}  # of these, what only a later release 1.x has
REFUSED_SINCE = 31  # the first measured release 1.x that refuses negative amounts; 1.25 runs them
NEGATIVE_SINCE = 19  # since this opset, AveragePool takes negative amounts


def is_shifted(axis: Axis, mode: str) -> bool:
    """Whether ONNX Runtime begins the windows of a convolution without dilation behind the first element.

    If the size is unknown: whether it does so for some size.
    """
    return axis.min_total < (-3 if mode == "SAME_LOWER" else -2)


def judge_operator(node: ir.Node, type_name: str | None, opset: int | None) -> tuple[Verdict, str] | None:
    """The verdict and reason if ONNX Runtime refuses an operator with any padding; None if it does not, or unknown."""
    if node.domain != "" or opset is None:
        return None
    taken = TAKEN[node.op_type]
    if opset < (first := min(taken.values())):
        return "refuses", f"ONNX Runtime has no {node.op_type} of opset {opset}, but from {first} on"
    if type_name is None or taken.get(type_name, opset + 1) <= opset:
        return None
    return "refuses", f"ONNX Runtime has no {node.op_type} of {type_name} at opset {opset}"


def judge_convolution(window: SameWindow, needed: str, minor: int) -> tuple[Verdict, str]:
    """What ONNX Runtime, of any release alike, does with a convolution that is shifted along an axis, and why."""
    shifted = [axis for axis in window.axes if is_shifted(axis, window.mode)]
    return ("may be wrong" if all(axis.size is None for axis in shifted) else "wrong"), needed


def judge_pooling(window: SameWindow, needed: str | None, minor: int) -> tuple[Verdict, str]:
    """What the release 1.``minor`` of ONNX Runtime does with the pooling, and why."""
    node, counting = window.node, judge_counting(window) if minor in MISCOUNTING else None
    if needed is None or all(_is_plain(axis) for axis in window.axes):
        return (counting, MISCOUNTED) if counting else ("runs", RIGHT)
    if node.domain != "" or _may_round_up(node) or any(axis.size is None for axis in window.axes):
        return "may be wrong", needed
    found = [_judge_axis(window, axis, needed, minor) for axis in window.axes if not _is_plain(axis)]
    found += [(counting, MISCOUNTED)] if counting else []
    worst: tuple[Verdict, ...] = ("refuses", "wrong", "may be wrong", "runs")
    return min(found, key=lambda one: worst.index(one[0]))


def judge_counting(window: SameWindow) -> Verdict | None:
    """What the releases that miscount some paddings do with a pooling; None if they are right."""
    axes = [axis if axis.size is not None else replace(axis, size=1) for axis in window.axes]
    amounts = [_taken(axis, window.mode) for axis in axes]
    if window.is_miscounted([begin for begin, _ in amounts] + [end for _, end in amounts]):
        return "may be wrong" if axes != list(window.axes) or _may_round_up(window.node) else "wrong"
    # Strides make the amounts depend on the size: whether some amounts would be miscounted.
    is_open = any(axis.size is None and axis.stride > 1 for axis in window.axes)
    return "may be wrong" if is_open and window.is_miscounted([0] * len(axes) + [1] * len(axes)) else None


def _taken(axis: Axis, mode: str) -> tuple[int, int]:
    """The amounts that ONNX Runtime takes for a pooling's axis of known size: as if there were no dilation."""
    assert axis.size is not None
    total = (-(-axis.size // axis.stride) - 1) * axis.stride + axis.kernel - axis.size
    begin = int((total + (mode == "SAME_LOWER")) / 2)  # rounded to 0
    return begin, total - begin


def _may_round_up(node: ir.Node) -> bool:
    """Whether ONNX Runtime may round the size of the output up, and choose other kernels."""
    ceil_mode = node.attributes.get("ceil_mode")
    return ceil_mode is not None and (ceil_mode.is_ref() or bool(ceil_mode.value))


def _is_plain(axis: Axis) -> bool:
    """Whether ONNX Runtime's amounts are right along an axis."""
    return (axis.dilation == 1 or axis.kernel == 1) and axis.min_total >= 0


def _judge_axis(window: SameWindow, axis: Axis, needed: str, minor: int) -> tuple[Verdict, str]:
    """``judge_pooling`` for one axis of known size."""
    assert axis.size is not None, "sizes that are not known are judged before"
    count = -(-axis.size // axis.stride)
    begin, end = _taken(axis, window.mode)
    if min(begin, end) < 0 and (kernels := _refuses_negative(window)):
        if minor < REFUSED_SINCE or kernels == "some":
            return "may be wrong", needed
        return "refuses", f"ONNX Runtime refuses the amounts {begin}, {end} that SAME gives it here"
    made = int((axis.size + begin + end - axis.extent) / axis.stride) + 1
    if made < 0:
        return "refuses", f"{needed}, and its output would have {plural(made, 'element')}"
    if made != count:
        return "wrong", f"{needed}: its output has {plural(made, 'element')} instead of {count}"
    amounts = axis.amounts(window.mode, window.may_be_empty)
    if axis.kernel > 1:
        return "may be wrong", needed
    return ("runs", RIGHT) if amounts and amounts[0].begin == begin else ("wrong", needed)


def _refuses_negative(window: SameWindow) -> str:
    """Which kernels of ONNX Runtime refuse negative amounts: "all", "some" (by the data's type), or "" for none."""
    if any(axis.dilation > 1 for axis in window.axes):
        return ""
    if window.node.op_type == "AveragePool":
        return "all" if (window.opset or 0) < NEGATIVE_SINCE else ""
    if window.node.op_type != "MaxPool" or len(window.node.outputs) > 1:
        return ""
    if not isinstance(window.fill, np.ndarray):
        return "some"
    return "all" if window.fill.dtype in (np.float32, np.float16) else ""  # that it casts to float
