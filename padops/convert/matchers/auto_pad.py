"""Replaces SAME_UPPER and SAME_LOWER of convolutions and poolings by explicit pads, or by a SamePad_1 in front.

Measured with onnxruntime 1.20.1, 1.25.0, 1.31.1 and 1.32.0 on the CPU:

- ONNX Runtime does not clamp a negative total of SAME to 0. So a convolution begins its windows behind the first
  element if the total is at most -3 (SAME_UPPER) or -4 (SAME_LOWER).
- A pooling computes the amounts of SAME as if there were no dilation. A convolution refuses SAME with a dilation.
- Since 1.31.1, two poolings without a dilation refuse negative amounts: MaxPool of floats without indices, and
  AveragePool below opset 19. Older releases run these poolings, with wrong results for some sizes.
- With ceil_mode, a pooling rounds the output size up, so the verdict is only "may be wrong".

A conversion changes a node only if the conversion's option ``auto_pad`` is "explicit". The conversion does not change
any bit of a correct result, except for a MaxPool of floats behind SamePad_1. A converted node has one of three forms:

- **explicit pads**, if every size needs the same amounts. Every release of ONNX Runtime must accept these amounts and
  count them correctly.
- **SamePad_1** in front of the node, which then pads nothing itself. SamePad_1 computes the amounts at run time. The
  fill is the value that the operator reads outside its data: 0, the zero point, or the lowest value of the type.
- **explicit pads, by size**: an If chooses between nodes with explicit pads. An AveragePool that counts only data needs
  this form, because its data cannot be padded. So does a MaxPool that returns indices, or has data of double or of
  unknown type. A MaxPool of other floats prefers this form: padded data change its results for NaN and minus infinity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite, replace_in_place
from padops.convert.model.types import Types
from padops.convert.pads.match import Applied, Judge, Match, Replacement, Unconvertible, put_in_front
from padops.convert.pads.window_operators import (
    MISCOUNTED,
    OTHER_BITS,
    WINDOW_OPERATORS,
    Amount,
    Axis,
    SameWindow,
    read_mode,
)
from padops.convert.records import Verdict
from padops.plural import plural
from padops.runtime.model_words import MISCOUNTING

RIGHT = "ONNX Runtime pads it rightly by itself"
# The types that ONNX Runtime's CPU provider accepts, with the first opset of each; it casts float16 to float and back.
TAKEN: dict[str, dict[str, int]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), {"float": 1, "float16": 6}),
    **dict.fromkeys(("ConvInteger", "QLinearConv"), {"int8": 10, "uint8": 10}),
    "MaxPool": {"float": 1, "float16": 6, "double": 8, "int8": 12, "uint8": 12},
    "AveragePool": {"float": 7, "float16": 7},
    "LpPool": {"float": 2, "float16": 6},
}
# The value that an operator reads outside its data, in the words of ``PadFacts``.
OUTSIDE = {"zero": "0", "zero point": "the zero point", "lowest": "the lowest value", "not counted": "nothing counted"}
REFUSED_SINCE = 31  # the first measured release 1.x that refuses negative amounts; 1.25 runs them
NEGATIVE_SINCE = 19  # since this opset, AveragePool accepts negative amounts
# SAME itself rounds the number of outputs up; with explicit pads, ceil_mode would round it up once more.
IMPLIED = ("auto_pad", "ceil_mode")
MAX_BRANCHES = 64
_Body = tuple[str, str, list[ir.Value | None], list[ir.Attr]]  # domain, operator, inputs and attributes of a node


def _judge_operator(node: ir.Node, type_name: str | None, opset: int | None) -> tuple[Verdict, str] | None:
    """Return the verdict and reason if ONNX Runtime surely refuses the operator with any padding; else None."""
    if node.domain != "" or opset is None:
        return None
    taken = TAKEN[node.op_type]
    if opset < (first := min(taken.values())):
        return "refuses", f"ONNX Runtime has no {node.op_type} of opset {opset}, but from {first} on"
    if type_name is None or taken.get(type_name, opset + 1) <= opset:
        return None
    return "refuses", f"ONNX Runtime has no {node.op_type} of {type_name} at opset {opset}"


def _judge_pooling(window: SameWindow, needed: str | None, minor: int) -> tuple[Verdict, str]:
    """Return the verdict of ONNX Runtime 1.``minor`` on the pooling, and the reason for the verdict."""
    node, counting = window.node, _judge_counting(window) if minor in MISCOUNTING else None
    wrong = [axis for axis in window.axes if axis.min_total < 0 or (axis.dilation > 1 and axis.kernel > 1)]
    if needed is None or not wrong:
        return (counting, MISCOUNTED) if counting else ("runs", RIGHT)
    if node.domain != "" or _may_round_up(node) or any(axis.size is None for axis in window.axes):
        return "may be wrong", needed
    found = [_judge_axis(window, axis, needed, minor) for axis in wrong]
    found += [(counting, MISCOUNTED)] if counting else []
    return min(found, key=lambda row: ("refuses", "wrong", "may be wrong", "runs").index(row[0]))


def _judge_counting(window: SameWindow) -> Verdict | None:
    """Return the verdict of the releases in ``MISCOUNTING``; None if they count the pooling's padding correctly."""
    axes = [axis if axis.size is not None else replace(axis, size=1) for axis in window.axes]
    amounts = [_taken(axis, window.mode) for axis in axes]
    if window.is_miscounted([begin for begin, _ in amounts] + [end for _, end in amounts]):
        return "may be wrong" if axes != window.axes or _may_round_up(window.node) else "wrong"
    # With strides, the amounts depend on the size; check whether some amounts would be miscounted.
    is_open = any(axis.size is None and axis.stride > 1 for axis in window.axes)
    return "may be wrong" if is_open and window.is_miscounted([0] * len(axes) + [1] * len(axes)) else None


def _taken(axis: Axis, mode: str) -> tuple[int, int]:
    """Return the amounts that ONNX Runtime uses for a pooling's axis of known size: it ignores the dilation."""
    assert axis.size is not None
    total = (-(-axis.size // axis.stride) - 1) * axis.stride + axis.kernel - axis.size
    begin = int((total + (mode == "SAME_LOWER")) / 2)  # rounded towards 0
    return begin, total - begin


def _may_round_up(node: ir.Node) -> bool:
    """Return whether ceil_mode may be set: then ONNX Runtime rounds the output size up, and chooses other kernels."""
    ceil_mode = node.attributes.get("ceil_mode")
    return ceil_mode is not None and (ceil_mode.is_ref() or bool(ceil_mode.value))


def _judge_axis(window: SameWindow, axis: Axis, needed: str, minor: int) -> tuple[Verdict, str]:
    assert axis.size is not None, "sizes that are not known are judged before"
    count = -(-axis.size // axis.stride)
    begin, end = _taken(axis, window.mode)
    if min(begin, end) < 0 and (kernels := _refuses_negative(window)):
        if minor < REFUSED_SINCE or kernels == "some":
            return "may be wrong", needed
        return "refuses", f"ONNX Runtime refuses the amounts {begin}, {end} that SAME computes here"
    made = int((axis.size + begin + end - axis.extent) / axis.stride) + 1
    if made < 0:
        return "refuses", f"{needed}, and its output would have {plural(made, 'element')}"
    if made != count:
        return "wrong", f"{needed}: its output has {plural(made, 'element')} instead of {count}"
    if axis.kernel > 1:
        return "may be wrong", needed
    amounts = axis.amounts(window.mode, window.may_be_empty)
    return ("runs", RIGHT) if amounts and amounts[0].begin == begin else ("wrong", needed)


def _refuses_negative(window: SameWindow) -> str:
    """Return which kernels of the pooling refuse negative amounts: "all", "some" (the type decides) or "" (none)."""
    if any(axis.dilation > 1 for axis in window.axes):
        return ""
    if window.node.op_type == "AveragePool":
        return "all" if (window.opset or 0) < NEGATIVE_SINCE else ""
    if window.node.op_type != "MaxPool" or len(window.node.outputs) > 1:
        return ""
    if not isinstance(window.fill, np.ndarray):
        return "some"
    return "all" if window.fill.dtype in (np.float32, np.float16) else ""  # ONNX Runtime casts float16 to float


def pads_of(amounts: Sequence[Amount]) -> list[int]:
    return [row.begin for row in amounts] + [row.end for row in amounts]


def settle(site: NodeSite, constants: Constants, pads: Sequence[int], made: Replacement | None = None) -> Applied:
    """Write the pads into the node, or put SamePad_1 in front of the node, which then pads nothing itself."""
    for name in IMPLIED:
        site.node.attributes.pop(name, None)
    if made is not None:
        return put_in_front(site, constants, 0, "padded", made)
    site.node.attributes.add(ir.AttrInt64s("pads", pads))
    return Applied([site.node])


def by_size(site: NodeSite, constants: Constants, window: SameWindow, choices: Sequence[list[Amount]]) -> Applied:
    """Turn the node into nested Ifs that test the sizes; ``choices`` has each axis's amounts, sorted by ``below``."""
    node = site.node
    tests = _tests(site, constants, window, choices)
    inputs = list(node.inputs)
    kept = [attribute for name, attribute in node.attributes.items() if name not in IMPLIED]

    def body(chosen: tuple[Amount, ...], i: int = 0) -> _Body:
        """Return the node if ``chosen`` covers all axes; else an If that tests whether the next axis needs choice i."""
        if len(chosen) == len(choices):
            return node.domain, node.op_type, inputs, [*kept, ir.AttrInt64s("pads", pads_of(chosen))]
        axis, choice = len(chosen), choices[len(chosen)]
        if i == len(choice) - 1:
            return body((*chosen, choice[i]))
        branches = {"then_branch": body((*chosen, choice[i])), "else_branch": body(chosen, i + 1)}
        return "", "If", [tests[axis][i]], [ir.AttrGraph(name, branch(inner)) for name, inner in branches.items()]

    def branch(inner: _Body) -> ir.Graph:
        outputs = [ir.Value(name=constants.fresh(f"{value.name}_by_size"), type=value.type) for value in node.outputs]
        name = constants.fresh(f"{node.name or node.outputs[0].name}_by_size")
        made = ir.Node(*inner, outputs=outputs, name=name)
        return ir.Graph([], outputs, nodes=[made], name=constants.fresh(f"{name}_graph"))

    replace_in_place(node, *body(()))
    return Applied([node])


def _tests(
    site: NodeSite, constants: Constants, window: SameWindow, choices: Sequence[list[Amount]]
) -> list[list[ir.Value]]:
    """Return the conditions of each axis: for each choice except the last, whether the size needs this choice."""

    def scalar(value: int, role: str) -> ir.Value:
        return constants.add(np.array(value, np.int64), site, role)

    zero = scalar(0, "zero")
    shape = constants.insert("Shape", [site.node.inputs[0]], site, "shape")
    tests: list[list[ir.Value]] = []
    for i, (axis, choice) in enumerate(zip(window.axes, choices)):
        tests.append([])
        if len(choice) == 1:
            continue
        size = constants.insert("Gather", [shape, scalar(window.first + i, "axis")], site, "size")
        stride = scalar(axis.stride, "stride")
        # ``last`` is n - 1 plus a stride, so Div rounds no negative number; opset 7 has no Mod and no Less of integers.
        last = constants.insert("Add", [size, scalar(axis.stride - 1, "more")], site, "last")
        steps = constants.insert("Div", [last, stride], site, "steps")
        start = constants.insert("Mul", [steps, stride], site, "start")
        remainder = constants.insert("Sub", [last, start], site, "remainder")
        for amount in choice[:-1]:
            assert amount.below is not None, "where there is a choice"
            above = constants.insert("Div", [remainder, scalar(amount.below, "below")], site, "above")
            tests[i].append(constants.insert("Equal", [above, zero], site, "test"))
    return tests


def match_auto_pad(site: NodeSite, types: Types) -> Match | None:
    node = site.node
    operator = WINDOW_OPERATORS.get((node.domain, node.op_type))
    if operator is None or "auto_pad" not in node.attributes:
        return None
    name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    try:
        mode = read_mode(site)
        if mode is None:
            return None
        form, window = f"{name} auto_pad={mode}", SameWindow(site, operator, mode, types)
    except Unconvertible as why:
        return Match(f"{name} auto_pad={node.attributes['auto_pad'].value or 'of the caller'}", reason=str(why))
    needed, judge = _judged(window)
    shape, amounts = types.shape(node.inputs[0]), None
    if shape is not None and not operator.transposed:
        rows = enumerate(((row.begin, row.end) if row else None for row in window.only), window.first)
        amounts = tuple((dict.fromkeys(range(len(shape)), (0, 0)) | dict(rows)).values())
    facts = {"mode": mode, "fill": OUTSIDE[operator.outside], "amounts": amounts}
    match = Match(form, runs=RIGHT, needed=needed, judge=judge, facts=facts)
    try:
        match = replace(match, **_replacement(window))
    except Unconvertible as why:
        match = replace(match, reason=str(why))
    return replace(match, verdict=_judge_operator(node, types.name(node.inputs[0]), site.scope.opset))


def _replacement(window: SameWindow) -> dict[str, Any]:
    """Return the match's fields for the node's replacement; raise Unconvertible if there is no equivalent."""
    axes, node = window.axes, window.node
    amounts = [amount for amount in window.only if amount is not None]
    known, pads = len(amounts) == len(axes), pads_of(amounts)
    if window.operator.transposed and not known:
        raise Unconvertible(
            "its stride is larger than its kernel plus output_padding, so that its output lacks elements; ONNX, ONNX's "
            "reference implementation and TensorFlow do not agree on these elements"
        )
    fits = not window.operator.pooling or all(map(_fits, window.choices, axes))
    miscounted = known and window.is_miscounted(pads)
    if fits and known and not miscounted:
        return {"apply": partial(settle, pads=pads), "notes": (f"pads {pads}",)}
    if window.unpadded:
        try:
            return _by_size(window)
        except Unconvertible:
            if window.unpadded != OTHER_BITS:
                raise
    spatial = {1: "W", 3: "DHW"}.get(len(axes), "HW")
    attributes = [
        ir.AttrString("auto_pad", window.mode),
        ir.AttrString("data_format", f"N{spatial}C" if window.first == 1 else f"NC{spatial}"),
        ir.AttrInt64s("dilations", [axis.dilation for axis in axes]),
        ir.AttrInt64s("kernel_shape", [axis.kernel for axis in axes]),
        ir.AttrInt64s("strides", [axis.stride for axis in axes]),
    ]
    pad = Replacement("SamePad_1", (node.inputs[0], window.fill), {row.name: row for row in attributes})
    notes = ("ONNX Runtime refuses pads as large as the kernel",) if not fits else (MISCOUNTED,) * miscounted
    return {"pad": pad, "apply": partial(settle, pads=(), made=pad), "notes": notes}


def _fits(choice: list[Amount] | None, axis: Axis) -> bool:
    """Return whether ONNX Runtime accepts the amounts for a pooling."""
    return all(max(amount.begin, amount.end) < axis.kernel for amount in choice or ())


def _by_size(window: SameWindow) -> dict[str, Any]:
    why = f"{'a Pad in front' if window.unpadded == OTHER_BITS else 'it'} {window.unpadded}"
    for choice, axis in zip(window.choices, window.axes):
        if not _fits(choice, axis):
            largest = max(max(amount.begin, amount.end) for amount in choice or ())
            raise Unconvertible(
                f"{why}, and ONNX Runtime refuses pads ({largest}) that reach the size of the kernel ({axis.kernel})"
            )
    known = [choice for choice in window.choices if choice is not None]
    branches = prod(map(len, known))
    if len(known) < len(window.choices) or branches > MAX_BRANCHES:
        count = branches if len(known) == len(window.choices) else "many"
        raise Unconvertible(f"{why}, and there are {count} amounts to choose from, more than {MAX_BRANCHES}")
    if window.opset is None or window.opset < 7:
        raise Unconvertible(f"{why}, and an If that chooses pads by size needs opset 7 or newer")
    notes = (f"an If chooses between {branches} pads by the size; {why}",)
    return {"apply": partial(by_size, window=window, choices=known), "notes": notes}


def _judged(window: SameWindow) -> tuple[str | None, Judge | None]:
    """Return ``Match.needed`` and ``Match.judge`` of the unchanged node, as measured with onnxruntime 1.31.1."""
    dilated = any(axis.dilation > 1 for axis in window.axes)
    if window.operator.transposed:
        return None, None  # ONNX Runtime runs it correctly
    if window.operator.pooling:
        needed = None
        if dilated:
            needed = "ONNX Runtime computes SAME as if there were no dilation"
        elif any(axis.min_total < 0 for axis in window.axes):
            needed = "ONNX Runtime pads by a negative amount where the stride is larger than the kernel"
        elif _judge_counting(window):
            needed = MISCOUNTED
        return needed, partial(_judge_pooling, window, needed)
    if dilated:
        return "ONNX Runtime refuses SAME with a dilation", None
    shifted = [axis for axis in window.axes if axis.min_total < (-3 if window.mode == "SAME_LOWER" else -2)]
    if not shifted:
        return None, None
    why = "ONNX Runtime begins the windows behind the first element where the stride is much larger than the kernel"
    verdict: Verdict = "may be wrong" if all(axis.size is None for axis in shifted) else "wrong"
    return why, lambda minor: (verdict, why)
