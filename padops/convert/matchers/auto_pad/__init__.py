"""Rewrites ``auto_pad`` SAME_UPPER and SAME_LOWER as explicit amounts, by rule S1.

The converter asks this source only with ``auto_pad="explicit"``. A node becomes one of three forms:

- **explicit pads**: all amounts are known, because the size is known, the stride is 1, or every size needs the same
  begin; and no release of ONNX Runtime gets them wrong.
- **SamePad_1** in front of the node, which then pads nothing itself: the amounts follow from the shape at run time. The
  fill is the value that the operator reads outside its data: 0, the zero point, or the lowest value of the type.
- **explicit pads, by size**: an If chooses between nodes with explicit pads. It is for operators whose data cannot be
  padded: an AveragePool that counts only data; a MaxPool that gives indices, is of double, or is in a function, where
  types are unknown. A MaxPool of other floats prefers it: padded data change what it makes of NaN and minus infinity.

Wherever ONNX Runtime computes SAME correctly, the results keep their bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from padops.convert.matchers.auto_pad.rewrites import by_size, explicit, pads_of, same_pad, same_pad_of
from padops.convert.matchers.auto_pad.verdicts import (
    RIGHT,
    is_shifted,
    judge_convolution,
    judge_counting,
    judge_operator,
    judge_pooling,
)
from padops.convert.matchers.auto_pad.window import (
    OTHER_BITS,
    Amount,
    SameWindow,
    read_mode,
    read_window,
    transposed,
)
from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Applied, Judge, Match, Replacement, Rewrite, Unconvertible
from padops.convert.pads.window_operators import MISCOUNTED, WINDOW_OPERATORS

MAX_BRANCHES = 64
EXPLICIT = "explicit pads"


def match_auto_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises a node with auto_pad SAME_UPPER or SAME_LOWER."""
    node = site.node
    operator = WINDOW_OPERATORS.get((node.domain, node.op_type))
    if operator is None or "auto_pad" not in node.attributes:
        return None
    name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    try:
        mode = read_mode(site)
        if mode is None:
            return None
        form, window = f"{name} auto_pad={mode}", read_window(site, operator, mode, types)
        verdict = judge_operator(node, types.name(node.inputs[0]), site.scope.opset)
        try:
            return replace(_match(form, window), verdict=verdict)
        except Unconvertible as why:
            return Match(form, reason=str(why), verdict=verdict, judge=_judged(window)[1])
    except Unconvertible as why:
        return Match(f"{name} auto_pad={node.attributes['auto_pad'].value or 'of the caller'}", reason=str(why))


def _match(form: str, window: SameWindow) -> Match:
    """What the node becomes; raises Unconvertible if nothing does the same."""
    if window.operator.transposed:
        amounts = [transposed(axis, more, window.mode) for axis, more in zip(window.axes, window.output_padding)]
        found = [amount for amount in amounts if amount is not None]
        if len(found) < len(amounts):
            raise Unconvertible(
                "its stride is larger than its kernel with output_padding, so that there is nothing to crop; ONNX, its "
                "reference and TensorFlow do not agree on the elements that are missing"
            )
        return _explicit(form, window, found)
    choices = [axis.amounts(window.mode, window.may_be_empty) for axis in window.axes]
    fits = not window.operator.pooling or all(map(_fits, choices, (axis.kernel for axis in window.axes)))
    only = [choice[0] for choice in choices if choice is not None and len(choice) == 1]
    known = len(only) == len(choices)
    miscounted = known and window.is_miscounted(pads_of(only))
    if fits and known and not miscounted:
        return _explicit(form, window, only)
    if window.unpadded:
        try:
            return _by_size(form, window, choices)
        except Unconvertible:
            if window.unpadded != OTHER_BITS:
                raise
    notes = (MISCOUNTED,) if miscounted else ()
    notes = notes if fits else ("ONNX Runtime takes no pads as large as the kernel",)
    pad = same_pad_of(window)
    return Match(form, _rewrite(pad.op_type, window, partial(same_pad, window=window), pad), notes=notes)


def _fits(choice: list[Amount] | None, kernel: int) -> bool:
    """Whether ONNX Runtime accepts the amounts for a pooling with this kernel size."""
    return choice is None or all(amount.begin < kernel and amount.end < kernel for amount in choice)


def _explicit(form: str, window: SameWindow, amounts: list[Amount]) -> Match:
    pads = pads_of(amounts)
    return Match(form, _rewrite(EXPLICIT, window, partial(explicit, pads=pads)), notes=(f"pads {pads}",))


def _by_size(form: str, window: SameWindow, choices: Sequence[list[Amount] | None]) -> Match:
    why = f"it {window.unpadded}"
    for choice, axis in zip(choices, window.axes):
        if not _fits(choice, axis.kernel):
            largest = max(max(amount.begin, amount.end) for amount in choice or ())
            raise Unconvertible(
                f"{why}, and ONNX Runtime takes no pads ({largest}) that reach the size of the kernel ({axis.kernel})"
            )
    known = [choice for choice in choices if choice is not None]
    if len(known) < len(choices):
        raise Unconvertible(f"{why}, and its strides leave too many amounts to choose from")
    if (branches := prod(map(len, known))) > MAX_BRANCHES:
        raise Unconvertible(f"{why}, and there are {branches} amounts to choose from, more than {MAX_BRANCHES}")
    if window.opset is None or window.opset < 7:
        raise Unconvertible(f"{why}, and opset {window.opset} cannot choose by size")
    notes = (f"an If chooses between {branches} pads by the size; {why}",)
    return Match(form, _rewrite(EXPLICIT, window, partial(by_size, window=window, choices=known)), notes=notes)


def _rewrite(
    op_type: str, window: SameWindow, apply: Callable[[NodeSite, Constants], Applied], pad: Replacement | None = None
) -> Rewrite:
    """The rewrite, with what ONNX Runtime does with the unchanged node."""
    needed, judge = _judged(window)
    return Rewrite(op_type, apply, pad, needed, RIGHT, corrects=judge is not None, judge=judge)


def _judged(window: SameWindow) -> tuple[str | None, Judge | None]:
    """Why ONNX Runtime cannot run the unchanged node as specified, and what judges it (see ``Rewrite``).

    Measured with onnxruntime 1.31.1.
    """
    needed: str | None = None
    judge: Judge | None = None
    pooling = window.operator.pooling
    if window.operator.transposed:
        pass  # right by itself
    elif any(axis.dilation > 1 for axis in window.axes):
        needed = "ONNX Runtime refuses SAME with a dilation"
        if pooling:
            needed = "ONNX Runtime computes SAME as if there were no dilation"
    elif pooling and any(axis.min_total < 0 for axis in window.axes):
        needed = "ONNX Runtime pads by a negative amount where the stride is larger than the kernel"
    elif pooling and judge_counting(window):
        needed = MISCOUNTED
    elif not pooling and any(is_shifted(axis, window.mode) for axis in window.axes):
        needed = (
            "ONNX Runtime begins the windows behind the first element where the stride is much larger than the kernel"
        )
        judge = partial(judge_convolution, window, needed)
    if pooling:
        judge = partial(judge_pooling, window, needed)
    return needed, judge
