"""Pads on arrays of element ids, axis by axis, by ``plan.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from padops.convert.proof import plan
from padops.convert.proof.result import Fails, Unsupported
from padops.plural import plural

Attribute = Callable[[str, Any], Any]
Integers = Callable[[int], list[int] | None]


def onnx_axes(shape: Sequence[int], pads: np.ndarray, axes: Sequence[int] | None) -> list[plan.Axis]:
    """The axes of an ONNX Pad (P8); ``pads`` has all begins, then all ends; ``axes`` None means all.

    Raises:
        Fails: Amounts or axes do not fit the data.
        Unsupported: There are amounts, but the data are of rank 0: runtimes disagree on rejecting this.
    """
    rank = len(shape)
    if pads.ndim != 1 and not (pads.ndim == 2 and pads.shape[0] == 1):
        raise Fails(f"pads has shape {list(pads.shape)} [P8]")
    if not rank and pads.size:
        raise Unsupported("a Pad of data without axes")
    chosen = list(range(rank)) if axes is None else list(axes)
    if any(not -rank <= axis < rank for axis in chosen):
        raise Fails(f"axes={chosen} for rank {rank} [P8]")
    chosen = [axis % rank for axis in chosen]
    if len(set(chosen)) != len(chosen) or pads.size != 2 * len(chosen):
        raise Fails(f"pads has {plural(pads.size, 'value')} for axes={chosen} [P8]")
    amounts = [int(value) for value in pads.reshape(-1)]
    found = [plan.Axis(size, 0, 0) for size in shape]
    for index, axis in enumerate(chosen):
        found[axis] = plan.Axis(shape[axis], amounts[index], amounts[index + len(chosen)])
    return found


def dialect_axes(
    op: str, shape: Sequence[int], attribute: Attribute, integers: Integers
) -> tuple[list[plan.Axis], str, plan.Rules, int]:
    """The axes, the mode, the rules and the index of the fill input of a padops operator that mirrors no ONNX Pad.

    Raises:
        Fails: The amounts do not fit the data (P8, S1).
        Unsupported: There is no such operator.
    """
    if op in ("OpenVINOPad_1", "OpenVINOPad_12"):
        begins, ends = integers(1), integers(2)
        rules = plan.OPENVINO_1 if op.endswith("_1") else plan.OPENVINO_12
        return _rows(shape, begins, ends, [0] * len(shape)), attribute("pad_mode", b"").decode(), rules, 3
    if op == "NGraphPad_0":
        below, above = attribute("padding_below", None), attribute("padding_above", None)
        interior = attribute("padding_interior", None) or [0] * len(shape)
        return _rows(shape, below, above, interior), attribute("pad_mode", b"").decode().lower(), plan.NGRAPH, 1
    if op == "SamePad_1":
        return _same_axes(shape, attribute), attribute("mode", b"").decode(), plan.SAME, 1
    raise Unsupported(f"padops::{op}")


def _rows(
    shape: Sequence[int], begins: Sequence[int] | None, ends: Sequence[int] | None, interior: Sequence[int]
) -> list[plan.Axis]:
    if begins is None or ends is None or not len(begins) == len(ends) == len(interior) == len(shape):
        raise Fails(f"amounts {begins} and {ends} for rank {len(shape)} [P8]")
    return [plan.Axis(*row) for row in zip(shape, begins, ends, interior)]


def _same_axes(shape: Sequence[int], attribute: Attribute) -> list[plan.Axis]:
    kernel = attribute("kernel_shape", ())
    count = len(kernel)
    strides = attribute("strides", None) or (1,) * count
    dilations = attribute("dilations", None) or (1,) * count
    lists = (kernel, strides, dilations)
    if len(shape) != count + 2 or any(len(one) != count or min(one, default=1) < 1 for one in lists):
        raise Fails(f"kernel {kernel}, strides {strides} and dilations {dilations} for rank {len(shape)} [S1]")
    first = 2 if attribute("data_format", b"NCHW").startswith(b"NC") else 1
    found = [plan.Axis(size, 0, 0) for size in shape]
    auto_pad = attribute("auto_pad", b"SAME_UPPER").decode()
    for index, (size, stride, dilation) in enumerate(zip(*lists)):
        found[first + index] = plan.same_axis(shape[first + index], size, stride, dilation, auto_pad, plan.PLAIN)
    return found


def padded(
    data: np.ndarray, axes: Sequence[plan.Axis], mode: str, rules: plan.Rules, fill: Callable[[], int], most: int
) -> np.ndarray:
    """The element ids of a padded value. ``fill`` returns the fill's id, and is called in mode constant only.

    Raises:
        Fails: A rule is broken.
        Unsupported: The mode is unknown, or the result has more than ``most`` elements.
    """
    if mode not in plan.MODES:
        raise Unsupported(f"a Pad of mode {mode!r}")
    for rule, holds in plan.conditions(axes, mode, rules, plan.PLAIN):
        if not holds:
            raise Fails(f"a Pad of {list(data.shape)} by {[tuple(axis[1:3]) for axis in axes]} [{rule}]")
    dims = [int(plan.output(axis, rules, plan.PLAIN)) for axis in axes]
    if prod(dims) > most:
        raise Unsupported(f"a value of {prod(dims)} elements, which is more than {most}")
    if 0 in dims:
        return np.empty(dims, np.int64)
    outside = fill() if mode == "constant" else 0
    for index, axis in enumerate(axes):
        shown = plan.positions(axis, mode, rules)
        if np.array_equal(shown, np.arange(axis.size)):
            continue
        if not axis.size:
            data = np.full((*data.shape[:index], len(shown), *data.shape[index + 1 :]), outside, np.int64)
            continue
        data = np.take(data, np.maximum(shown, 0), index)
        if (shown < 0).any():
            data[(slice(None),) * index + (shown < 0,)] = outside
    return data
