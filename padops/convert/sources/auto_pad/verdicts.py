"""What ONNX Runtime makes of a pooling or a convolution that pads SAME, by its kernel, strides, dilations and sizes.

Measured with onnxruntime 1.20.1, 1.25.0, 1.31.1 and 1.32.0 on the CPU. It takes the amounts of SAME as if there were no
dilation, and does not raise a negative total to 0. Without a dilation, MaxPool of floats without indices and AveragePool below
opset 19 refuse negative amounts in the last two releases; in the first two they run, and are wrong for some sizes.
Of a pooling with ceil_mode, whose output it rounds up, no more is said than that it may be wrong.
A convolution begins its windows behind the first element where the total is -3 or less, -4 with SAME_LOWER.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.facts import Verdict
from padops.convert.sources.auto_pad.amounts import Axis
from padops.convert.sources.auto_pad.window import SameWindow

RIGHT = "ONNX Runtime pads it rightly by itself"
# The types that ONNX Runtime's CPU takes, and the first opset of each; float16 it casts to float and back.
TAKEN: dict[str, dict[str, int]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), {"float": 1, "float16": 6}),
    **dict.fromkeys(("ConvInteger", "QLinearConv"), {"int8": 10, "uint8": 10}),
    "MaxPool": {"float": 1, "float16": 6, "double": 8, "int8": 12, "uint8": 12},
    "AveragePool": {"float": 7, "float16": 7},
    "LpPool": {"float": 2, "float16": 6},
}
REFUSED_SINCE = 31  # the release 1.x that is known to refuse negative amounts; 1.25 runs them
NEGATIVE_SINCE = 19  # the opset from which on AveragePool takes negative amounts


def is_shifted(axis: Axis, mode: str) -> bool:
    """Whether ONNX Runtime begins the windows of a convolution without dilation behind the first element.

    Where the size is not known, whether it does for some size.
    """
    return axis.min_total < (-3 if mode == "SAME_LOWER" else -2)


def judge_operator(node: ir.Node, type_name: str | None, opset: int | None) -> tuple[Verdict, str] | None:
    """That ONNX Runtime refuses an operator however it is padded, and why; None where it does not, or that is not known.

    Args:
        node: The convolution or pooling.
        type_name: Of its data; None where it is not known.
        opset: Of the default domain.
    """
    if node.domain != "" or opset is None:
        return None
    taken = TAKEN[node.op_type]
    if opset < (first := min(taken.values())):
        return "refuses", f"ONNX Runtime has no {node.op_type} of opset {opset}, but from {first} on"
    if type_name is None or taken.get(type_name, opset + 1) <= opset:
        return None
    return "refuses", f"ONNX Runtime has no {node.op_type} of {type_name} at opset {opset}"


def judge_convolution(window: SameWindow, needed: str, minor: int) -> tuple[Verdict, str]:
    """What each release of ONNX Runtime does with a convolution that is shifted along an axis, and why.

    Args:
        window: The convolution.
        needed: Why it cannot be left to ONNX Runtime for every size.
        minor: The release, 1.``minor``; they are alike.
    """
    shifted = [axis for axis in window.axes if is_shifted(axis, window.mode)]
    return ("may be wrong" if all(axis.size is None for axis in shifted) else "wrong"), needed


def judge_pooling(window: SameWindow, needed: str | None, minor: int) -> tuple[Verdict, str]:
    """What one release of ONNX Runtime does with the pooling, and why.

    Args:
        window: The pooling.
        needed: Why it cannot be left to ONNX Runtime for every size, or None.
        minor: The release, 1.``minor``.
    """
    node = window.node
    if needed is None or all(_is_plain(axis) for axis in window.axes):
        return "runs", RIGHT
    if node.domain != "" or _may_round_up(node) or any(axis.size is None for axis in window.axes):
        return "may be wrong", needed
    found = [_judge_axis(window, axis, needed, minor) for axis in window.axes if not _is_plain(axis)]
    worst: tuple[Verdict, ...] = ("refuses", "wrong", "may be wrong", "runs")
    return min(found, key=lambda one: worst.index(one[0]))


def _may_round_up(node: ir.Node) -> bool:
    """Whether ONNX Runtime rounds the size of the output up, and chooses other kernels."""
    ceil_mode = node.attributes.get("ceil_mode")
    return ceil_mode is not None and (ceil_mode.is_ref() or bool(ceil_mode.value))


def _is_plain(axis: Axis) -> bool:
    """Whether the amounts are right along an axis, whatever else there is."""
    return (axis.dilation == 1 or axis.kernel == 1) and axis.min_total >= 0


def _judge_axis(window: SameWindow, axis: Axis, needed: str, minor: int) -> tuple[Verdict, str]:
    """The same of one axis of known size."""
    assert axis.size is not None, "sizes that are not known are judged before"
    count = -(-axis.size // axis.stride)
    total = (count - 1) * axis.stride + axis.kernel - axis.size  # as if there were no dilation
    begin = int((total + (window.mode == "SAME_LOWER")) / 2)  # rounded to 0
    if min(begin, total - begin) < 0 and (kernels := _refuses_negative(window)):
        if minor < REFUSED_SINCE or kernels == "some":
            return "may be wrong", needed
        return "refuses", f"ONNX Runtime refuses the amounts {begin}, {total - begin} that SAME gives it here"
    made = int((axis.size + total - axis.extent) / axis.stride) + 1
    if made < 0:
        return "refuses", f"{needed}, and its output would have {made} elements"
    if made != count:
        return "wrong", f"{needed}: its output has {made} elements instead of {count}"
    amounts = axis.amounts(window.mode)
    if axis.kernel > 1:
        return "may be wrong", needed
    return ("runs", RIGHT) if amounts and amounts[0].begin == begin else ("wrong", needed)


def _refuses_negative(window: SameWindow) -> str:
    """Whether the kernel of ONNX Runtime refuses negative amounts: "all" do, "some" by the type of the data, or "" for none."""
    if any(axis.dilation > 1 for axis in window.axes):
        return ""
    if window.node.op_type == "AveragePool":
        return "all" if (window.opset or 0) < NEGATIVE_SINCE else ""
    if window.node.op_type != "MaxPool" or len(window.node.outputs) > 1:
        return ""
    if not isinstance(window.fill, np.ndarray):
        return "some"
    return "all" if window.fill.dtype in (np.float32, np.float16) else ""  # that it casts to float
