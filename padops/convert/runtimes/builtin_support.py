"""What is known of ONNX Runtime's own Pad, read from ``padops/rules/cpu.json``; ``builtin_rules.py`` judges by it.

The file also says in words what was measured to be right, refused and wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from padops.convert.facts import Verdict
from padops.convert.pads.pad_info import PadInfo
from padops.runtime.installed import NEWEST_MINOR, OLDEST_MINOR
from padops.runtime.rule_files import read_rules
from padops.spec.plan import Amounts, Mode, PadError


@dataclass(frozen=True)
class Fault:
    """What ONNX Runtime does instead of running a Pad as it is specified.

    Attributes:
        does: What it does; ``"runs"`` if only the reason is worth saying.
        why: The reason, with the names of what differs from one Pad to the next in braces.
        before: The first release 1.x without the fault; None if none is.
        since: The first release 1.x with the fault.
        may_be_wrong_before: The first release 1.x with this verdict; earlier ones may be wrong instead of refusing.
        needs_rank: Whether shape inference refuses the Pad, which it does once it knows the rank of the data.
    """

    does: Verdict
    why: str
    before: int | None = None
    since: int = 0
    may_be_wrong_before: int = 0
    needs_rank: bool = False


_CPU = read_rules("cpu")
FAULTS = {name: Fault(**row) for name, row in _CPU["faults"].items()}

_KERNELS: dict[str, Any] = _CPU["kernels"]
KERNELS: dict[str, dict[str, int]] = _KERNELS["first_opsets"]  # by domain: the element types, with the first opset
LATER_KERNELS: dict[str, dict[str, dict[str, int]]] = _KERNELS["later"]  # types that got a kernel in a later release
IN_SCHEMA: dict[str, list[str]] = _KERNELS["in_schema"]  # by domain that is not ONNX's
CASTS_RIGHT_SINCE = int(_KERNELS["first_opset_of_casts"])  # that ONNX Runtime can put around a Pad of float16

# The newest opset that a release 1.x loads; it counts until the release of the next row.
NEWEST_OPSETS = {int(since): int(newest) for since, newest in _CPU["newest_opsets"]["since"].items()}
MOVED: dict[str, int] = _CPU["moved"]["first_opsets"]  # what Gather, Concat, Slice, Reshape and If move
# Types that a Cast to another type and back keeps bit by bit, with that type and the first opset.
EXACT_CASTS = {name: (str(proxy), int(since)) for name, (proxy, since) in _CPU["exact_casts"]["by"].items()}

FIRST_WITH_INPUTS = 11  # in earlier opsets, amounts and fill are attributes
FIRST_WITH_AXES = 18
MODES_SINCE = {Mode.CONSTANT: 1, Mode.EDGE: 1, Mode.REFLECT: 1, Mode.WRAP: 19}  # by name, in the standard


def first_without(fault: str) -> int:
    """The first release 1.x without a fault that ended."""
    return cast("int", FAULTS[fault].before)


def has_type(name: str | None, opset: int, domain: str = "") -> bool:
    """Whether ONNX Runtime's Pad of an opset moves an element type without a cast."""
    return name is not None and KERNELS[domain].get(name, opset + 1) <= opset


def has_modes(pad: PadInfo, opset: int) -> bool:
    """Whether the Pad of an opset of ONNX has all possible modes of ``pad``, by the same names."""
    alike = len(pad.modes) == 1 or pad.modes[0].islower()
    return alike and all(MODES_SINCE.get(mode, opset + 1) <= opset for mode in pad.known_modes)


def has_identity(name: str | None, opset: int) -> bool:
    """Whether an opset's Identity has an element type; for an unknown type, whether it has all."""
    if name is None:
        return opset < cast("int", _CPU["identity"]["first_opset_with_more"])
    since: int | None = _CPU["identity"]["first_opsets"].get(name, 1)
    return since is not None and opset >= since


def taking_pooling(pad: PadInfo) -> str:
    """The pooling, in words, whose padding ONNX Runtime may make of a Pad; "" for none.

    It folds a constant Pad without axes whose amounts are constants and whose fill is a constant 0 or absent.
    """
    if not pad.around.pooling or Mode.CONSTANT not in pad.known_modes or pad.may_have_interior:
        return ""
    fill = pad.known_fill
    if fill is not None and (fill.dtype.kind in "OSU" or any(fill.tobytes())):
        return ""
    amounts = known_amounts(pad)
    # Batch and channels, unless Transposes may move other axes there.
    others = () if pad.around.transposing else amounts[:2]
    if any(one.begin or one.end for one in others) or any(one.begin < 0 or one.end < 0 for one in amounts):
        return ""
    return pad.around.pooling


def known_amounts(pad: PadInfo) -> tuple[Amounts, ...]:
    """The amounts of each axis; empty if they are unknown or break a rule."""
    try:
        return pad.amounts or ()
    except PadError:
        return ()


def newest_opset(minor: int) -> int | None:
    """The newest opset that onnxruntime 1.``minor`` loads; None for an unmeasured release."""
    if not OLDEST_MINOR <= minor <= NEWEST_MINOR:
        return None
    return NEWEST_OPSETS[max(since for since in NEWEST_OPSETS if since <= minor)]


def first_with(opset: int) -> int | None:
    """The first release 1.x that loads an opset; None if no measured release does."""
    return next((since for since, newest in NEWEST_OPSETS.items() if newest >= opset), None)


def is_row(pad: PadInfo) -> bool:
    """Whether the amounts are known and of shape [1, 2r]. Known empty axes make the shape irrelevant: False."""
    pads, axes = pad.input("pads"), pad.input("axes")
    return isinstance(pads, np.ndarray) and pads.ndim > 1 and not (isinstance(axes, np.ndarray) and axes.size == 0)


def has_int32_axes(pad: PadInfo) -> bool:
    """Whether the axes are known and of int32."""
    axes = pad.input("axes")
    return isinstance(axes, np.ndarray) and axes.dtype == np.int32
