"""One random ONNX Pad, right or wrong: mode, amounts, axes and fill in every form that a model can hold."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from onnx import AttributeProto
from road_scopes import INT32, INT64, Dice, Scope

from padops.runtime.ort_values import PLAIN
from padops.spec.dtypes import by_name

MAX_ELEMENTS = 3000  # of an output
WRONG = 0.05  # of all Pads
MOST = np.iinfo(np.int64).max


def pad(scope: Scope, data: str) -> str:
    """A Pad of a value; gives the name of its output.

    Raises:
        Broken: It breaks a rule.
    """
    dice, opset = scope.dice, scope.book.opset
    shape = scope.values[data].shape
    modes = ["constant", "constant", "constant", "reflect", "reflect", "edge", "edge"]
    mode = dice.pick(modes + ["wrap", "wrap"] * (opset >= 19))
    mode = "wrap" if 2 <= opset < 19 and dice.chance(0.02) else mode
    begins, ends, axes = _amounts(dice, shape, opset >= 18)
    wrong = dice.pick(WRONGS) if dice.chance(WRONG) else ""
    pads = begins + ends
    if wrong == "count":
        pads = pads + [1] if dice.chance(0.5) or not pads else pads[:-1]
    elif wrong == "crop" and pads:
        pads[dice.number(0, len(pads) - 1)] = -dice.number(7, 60)
    elif wrong == "axes" and axes:
        axes[dice.number(0, len(axes) - 1)] = dice.pick([axes[0], axes[-1], len(shape), -len(shape) - 1])
    attributes, references = _mode(scope, mode)
    if opset < 11:
        attributes["paddings" if opset == 1 else "pads"] = pads
        if mode == "constant" and dice.chance(0.6):
            others = [] if scope.book.whole else [2.5, -0.0, 1e30, float("inf"), float("nan")]
            attributes["value"] = float(dice.pick([0, 1, -3, *others]))
        return scope.add("Pad", [data], attributes, references=references)
    inputs = [data, _pads_operand(scope, data, pads), _fill(scope, mode, wrong)]
    if axes is not None:
        inputs.append(_axes_operand(scope, axes))
    while not inputs[-1]:
        inputs.pop()
    return scope.add("Pad", inputs, attributes, references=references)


WRONGS = ("count", "crop", "axes", "axes", "fill")


def _amounts(dice: Dice, shape: tuple[int, ...], with_axes: bool) -> tuple[list[int], list[int], list[int] | None]:
    """Begins, ends and axes whose output is small; mostly right."""
    rank = len(shape)
    axes = None
    listed = list(range(rank))
    if with_axes and dice.chance(0.5):
        count = dice.pick([rank, max(rank - 1, 0), dice.number(0, rank), min(rank, 1)])
        listed = dice.order(rank)[:count]
        listed = sorted(listed) if dice.chance(0.4) else listed
        axes = [axis - rank if dice.chance(0.4) else axis for axis in listed]
    low, high = dice.pick([(0, 2), (0, 3), (0, 3), (-1, 3), (-2, 4), (-6, 9), (0, 0)])
    begins = [dice.number(low, high) for _ in listed]
    ends = [dice.number(low, high) for _ in listed]
    if dice.chance(0.3):  # pads of images: the last axes alone
        begins = [n if axis >= rank - 2 else 0 for n, axis in zip(begins, listed)]
        ends = [n if axis >= rank - 2 else 0 for n, axis in zip(ends, listed)]
    for i, axis in enumerate(listed):
        kept = shape[axis] + min(begins[i], 0) + min(ends[i], 0)
        if begins[i] + ends[i] + shape[axis] < 0 or (kept <= 0 and dice.chance(0.9)):
            begins[i] = ends[i] = dice.number(0, 1) if shape[axis] else 0
    while _elements(shape, listed, begins, ends) > MAX_ELEMENTS and max(begins + ends, default=0) > 0:
        largest = max(range(len(listed)), key=lambda i: max(begins[i], ends[i]))
        begins[largest], ends[largest] = min(begins[largest], 0), min(ends[largest], 0)
    return begins, ends, axes


def _elements(shape: tuple[int, ...], axes: list[int], begins: list[int], ends: list[int]) -> int:
    sizes = list(shape)
    for i, axis in enumerate(axes):
        sizes[axis] += begins[i] + ends[i]
    return prod(sizes)


def _mode(scope: Scope, mode: str) -> tuple[dict[str, Any], list[AttributeProto]]:
    """The attribute: given, left out, or of the function's caller."""
    if scope.kind == "function" and not scope.given and scope.dice.chance(0.3):
        scope.given["mode"] = mode.encode()
        scope.book.features.add("mode of the caller")
        made = AttributeProto(name="mode", type=AttributeProto.STRING, ref_attr_name="mode")
        return {}, [made]
    return ({} if mode == "constant" and scope.dice.chance(0.5) else {"mode": mode}), []


def _pads_operand(scope: Scope, data: str, pads: list[int]) -> str:
    array = np.array(pads, INT64)
    if scope.dice.chance(0.02):
        scope.book.features.add("pads of two dims")
        return scope.plain(array.reshape(1, -1))
    if scope.dice.chance(0.3):
        return _computed(scope, array, data)
    return scope.plain(array)


def _axes_operand(scope: Scope, axes: list[int]) -> str:
    kind = scope.dice.pick([INT64, INT64, INT64, INT32])
    array = np.array(axes, kind)
    if scope.dice.chance(0.15) and kind is INT64:
        return _computed(scope, array, None)
    return scope.plain(array)


def _computed(scope: Scope, array: np.ndarray, data: str | None) -> str:
    """Numbers that nodes compute, as exporters write them."""
    dice = scope.dice
    ways = ["identity", "concat", "cast", "sub", "slice"]
    ways += ["shape"] * 3 if data and scope.values[data].ndim and scope.book.dtype.name in PLAIN else []
    ways += ["turned"] * 2 if array.size and array.size % 2 == 0 else []
    way = dice.pick(ways)
    scope.book.features.add(f"computed: {way}")
    if way == "identity":
        return scope.add("Identity", [scope.plain(array)])
    if way == "concat":
        at = dice.number(0, array.size)
        return scope.add("Concat", [scope.plain(array[:at]), scope.plain(array[at:])], {"axis": 0})
    if way == "cast":
        return scope.add("Cast", [scope.plain(array.astype(INT32))], {"to": 7})
    if way == "slice":
        longer = np.concatenate([array, np.array([5], INT64)])
        one = [scope.constant(np.array([n], INT64)) for n in (0, array.size, 0, 1)]
        return scope.add("Slice", [scope.plain(longer), *one])
    if way == "shape":
        dims = scope.values[data].shape
        which = np.array([dice.number(0, len(dims) - 1) for _ in array], INT64)
        taken = scope.add("Gather", [scope.add("Shape", [data]), scope.held(which)])
        return scope.add("Sub", [taken, scope.plain(np.array(dims, INT64)[which] - array)])
    if way == "turned":  # as PyTorch's exporter turns pairs of the last axis first into begins and ends
        pairs = np.ascontiguousarray(array.reshape(2, -1).T[::-1]).reshape(-1)
        rows = scope.add("Reshape", [scope.plain(pairs), scope.held(np.array([-1, 2], INT64))])
        how = [scope.constant(np.array([n], INT64)) for n in (-1, -MOST, 0, -1)]
        turned = scope.add("Transpose", [scope.add("Slice", [rows, *how])], {"perm": [1, 0]})
        return scope.add("Reshape", [turned, scope.held(np.array([-1], INT64))])
    other = np.array([dice.number(-3, 3) for _ in array], INT64)
    return scope.add("Sub", [scope.plain(array + other), scope.held(other)])


def _fill(scope: Scope, mode: str, wrong: str) -> str:
    dice = scope.dice
    if dice.chance(0.4 if mode == "constant" else 0.85) and wrong != "fill":
        return ""
    count = dice.pick([(), (), (), (1,)])
    if wrong == "fill":
        count = (2,)
    if scope.book.dtype is by_name("float") and dice.chance(0.2) and not scope.book.whole:
        return scope.plain(np.zeros(count, np.float32))
    return scope.plain(scope.book.array(count))
