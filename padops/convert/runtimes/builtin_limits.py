"""Conditions on unknown data and amounts under which ONNX Runtime's own Pad is right."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import Operand, all_known
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes.builtin_support import CROPS_RIGHT, WRAPS_RIGHT, has_int32_axes, is_row, known_amounts
from padops.spec.plan import Mode


def limits(pad: PadInfo) -> list[str]:
    """The conditions under which every release of ONNX Runtime is right with a Pad of unknown shape or amounts."""
    if pad.node is not None and all_known(pad.dims):
        return []
    found = limits_of_rank(pad)
    if pad.mode is Mode.REFLECT:
        found.append("no amount is more than the axis has elements to reflect")
    if pad.mode is Mode.WRAP:
        found.append("no amount is more than the axis has elements to wrap")
    if pad.mode is not Mode.REFLECT and not pad.only_adds:
        found.append("no axis is cropped away wholly")
    return found


def limits_of_rank(pad: PadInfo) -> list[str]:
    """The conditions on a rank that the model does not state."""
    pads = pad.input("pads")
    if pad.dims is None and (has_int32_axes(pad) or is_row(pad)):
        return ["it does not find out how many dims the data have"]
    if pad.dims is None and pad.open_axes and isinstance(pads, np.ndarray):
        return [f"it does not find out that the data have another rank than {pads.size // 2}"]
    counted = [pad.input("axes"), pad.input("pads"), *(pad.attributes.get(name) for name in ("pads", "paddings"))]
    if pad.dims is not None or any(one is not None and _counts(one) for one in counted):
        return []
    return ["the data have at least one dim"]


def _counts(given: Operand | ir.Attr) -> bool:
    """Whether amounts or axes are known and not empty."""
    if isinstance(given, ir.Attr):
        return not given.is_ref() and len(given.value) > 0
    return isinstance(given, np.ndarray) and given.size > 0


def limits_at(pad: PadInfo, minor: int) -> list[str]:
    """The conditions for the release 1.``minor``, with sizes if the amounts are known."""
    if pad.mode is Mode.CONSTANT and minor >= CROPS_RIGHT:
        return limits_of_rank(pad)
    if pad.mode is Mode.WRAP and minor >= WRAPS_RIGHT and pad.only_adds:
        return limits_of_rank(pad)
    amounts = known_amounts(pad)
    if not limits(pad) or pad.dims is None or len(amounts) != len(pad.dims):
        return limits(pad)
    least = {
        axis: max(_least(pad.mode, row.begin, row.end, minor), 0)
        for axis, (dim, row) in enumerate(zip(pad.dims, amounts))
        if dim is None and (row.begin or row.end)
    }
    return [f"axis {axis} has {count} elements or more" for axis, count in least.items() if count > 1]


def _least(mode: Mode | None, begin: int, end: int, minor: int) -> int:
    """The least size of an axis for which ONNX Runtime is right."""
    crop = max(-begin, 0) + max(-end, 0)
    added = max(begin, end, 0)
    if mode is Mode.REFLECT:
        return crop + added + 1
    if mode is Mode.WRAP and minor < WRAPS_RIGHT:
        return crop + max(begin, 1)
    return crop + 1
