"""What ONNX Runtime can do by itself: every measured fact about its own Pad; ``builtin_rules.py`` judges a Pad by them.

Measured with onnxruntime 1.20 to 1.32 on the CPU; a fact that does not hold for all of these releases says for which.

**Right.** Mode constant, for data of any rank but 0, where no axis is cropped away wholly. Edge, reflect and wrap where no
axis is empty, no amount is negative, and reflect reaches at most n - 1 elements and wrap n (of 1.31, wrap reaches any
number). Constant and edge reach any number of elements; so does wrap behind the data. Edge and reflect of empty data by any
amounts, where every axis that is empty stays so. ``com.microsoft::Pad`` runs as ONNX's does, for float alone. Every
opset runs wrap.

**Refused.** A node in the form of another version; data of rank 0; constant axes of int32, and also where the optimizer finds
out that they are constant, and constant pads of two dims, unless the axes are known to be none, but neither where the model
tells no rank of the data; a fill of several elements, which only mode constant reads; to reflect more than once; from 1.24 on, to crop an axis to nothing in another
mode than constant, where it had elements; known amounts of some axes, where the model states no
shape of the axes, which then count as absent while dims are inferred (and as all in order where the amounts are as many).

**Wrong in older releases.** Before 1.25 a reflection that is too long is not refused: Pad then reads beyond the data, also
where one axis is cropped and reflected, and while the model is being loaded, where shapes are known, even in a branch that is
never taken. Before 1.31 wrap reads before the data where it adds more in front than the crop leaves. Before 1.24 mode constant
is wrong, right or refused where a crop leaves none of an axis that has elements, and may crash where it takes more; edge and wrap
give garbage where they extend such an axis, which is no Pad (P5) and which 1.24 refuses. What is read beyond the data is what
happens to lie there, which now and then are the right elements.
"""

from __future__ import annotations

import numpy as np

from padops.convert.pads.match import MICROSOFT
from padops.convert.pads.pad_info import PadInfo
from padops.runtime.installed import NEWEST_MINOR, OLDEST_MINOR
from padops.spec.plan import Amounts, Mode, PadError

# Element types of the kernels that move every bit, by domain and first opset; between two rows, the one before counts.
# Of float16 there is none: ONNX Runtime casts it to float and back. (1.31.1; older releases have fewer.)
KERNELS: dict[str, dict[int, tuple[str, ...]]] = {
    "": {
        2: ("float", "double"),
        11: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64"),
        13: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64", "bool"),
    },
    MICROSOFT: {1: ("float",)},
}
# Of what a Pad got a kernel later: from which opset on, and in which release 1.x.
LATER_KERNELS = {("", "bfloat16"): (21, 32)}

# The newest opset that a release 1.x loads, from that release on; those before the next row load no newer one.
NEWEST_OPSETS = {20: 21, 21: 22, 23: 23, 24: 25, 25: 26, 32: 28}

FIRST_WITH_INPUTS = 11  # amounts and fill are attributes before
FIRST_WITH_AXES = 18
MODES_SINCE = {Mode.CONSTANT: 1, Mode.EDGE: 1, Mode.REFLECT: 1, Mode.WRAP: 19}  # by name, in the standard

# Types that Gather, Concat, Slice, Reshape and If move, and from which opset on.
MOVED = dict.fromkeys(
    ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32",
     "uint64"), 1,
) | {"bfloat16": 13}  # fmt: skip

# Types that can be cast to another and back without a change of any of their bit patterns, and from which opset on. Of
# float8e5m2, the NaNs change; float4e2m1 cannot be cast. onnxruntime has the last five later than 1.20.
EXACT_CASTS = {
    "float8e4m3fn": ("float", 19),
    "float8e4m3fnuz": ("float", 19),
    "float8e5m2fnuz": ("float", 19),
    "float8e8m0": ("float", 24),
    "uint4": ("uint8", 21),
    "int4": ("int8", 21),
    "uint2": ("uint8", 25),
    "int2": ("int8", 25),
}

# The opset from which on Identity, which may stay where a Pad was, has a type; of those that are not named, opset 1. None
# where it has it nowhere (1.31.1).
FIRST_WITH_MORE_TYPES = 21  # that has one of those that Identity lacks
IDENTITY_SINCE: dict[str, int | None] = {
    "bfloat16": 13,
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"), 19),
    **dict.fromkeys(("uint4", "int4", "uint2", "int2", "float4e2m1", "float8e8m0")),
}


# The first release 1.x without a fault.
REFLECT_REFUSED = 25  # where it is too long, instead of reading beyond the data
CROPS_RIGHT = 24  # where a crop leaves nothing
WRAPS_RIGHT = 31  # where more is added in front than there is
POOLINGS_RIGHT = 32  # which no Pad becomes the padding of any more
CONCAT_SINCE = 4  # the opset of the first Concat that ONNX Runtime has, which lowered Pads need
CASTS_RIGHT_SINCE = 6  # the opset whose Cast ONNX Runtime can put around a Pad of float16


def has_type(name: str | None, opset: int, domain: str = "") -> bool:
    """Whether ONNX Runtime's Pad of an opset moves an element type without converting it.

    Args:
        name: Of the element type, as in ONNX; None where it is not known.
        opset: Of the model.
        domain: That of ONNX, or ``com.microsoft``.
    """
    versions = [since for since in KERNELS[domain] if since <= opset]
    return bool(versions) and name in KERNELS[domain][max(versions)]


def has_modes(pad: PadInfo, opset: int) -> bool:
    """Whether the standard's Pad has every mode that a Pad may have, and by the same name."""
    alike = len(pad.modes) == 1 or pad.modes[0].islower()
    return alike and all(MODES_SINCE.get(mode, opset + 1) <= opset for mode in pad.known_modes)


def has_identity(name: str | None, opset: int) -> bool:
    """Whether there is an Identity of an element type, which may be unknown."""
    if name is None:
        return opset < FIRST_WITH_MORE_TYPES
    since = IDENTITY_SINCE.get(name, 1)
    return since is not None and opset >= since


def taking_pooling(pad: PadInfo) -> str:
    """The pooling, in words, that ONNX Runtime may make a Pad the padding of; "" for none.

    It does so to a constant Pad without axes whose amounts and fill are constants: of 0, or none at all.
    """
    if not pad.around.pooling or Mode.CONSTANT not in pad.known_modes or pad.may_have_interior:
        return ""
    fill = pad.known_fill
    if fill is not None and (fill.dtype.kind in "OSU" or any(fill.tobytes())):
        return ""
    amounts = known_amounts(pad)
    others = () if pad.around.transposing else amounts[:2]  # batch and channels, unless they are moved there
    if any(one.begin or one.end for one in others) or any(one.begin < 0 or one.end < 0 for one in amounts):
        return ""
    return pad.around.pooling


def known_amounts(pad: PadInfo) -> tuple[Amounts, ...]:
    """The amounts of each axis, or nothing where they are not known or do not fit together."""
    try:
        return pad.amounts or ()
    except PadError:
        return ()


def newest_opset(minor: int) -> int | None:
    """The newest opset that onnxruntime 1.``minor`` loads; None for a release that has not been measured.

    Args:
        minor: The release, 1.``minor``.
    """
    if not OLDEST_MINOR <= minor <= NEWEST_MINOR:
        return None
    return NEWEST_OPSETS[max(since for since in NEWEST_OPSETS if since <= minor)]


def first_with(opset: int) -> int | None:
    """The first release 1.x that loads an opset; None where none does that has been measured."""
    return next((since for since, newest in NEWEST_OPSETS.items() if newest >= opset), None)


def is_row(pad: PadInfo) -> bool:
    """Whether the amounts are known, and of shape [1, 2r]; with axes that are known to be none, nobody looks at the shape."""
    pads, axes = pad.input("pads"), pad.input("axes")
    return isinstance(pads, np.ndarray) and pads.ndim > 1 and not (isinstance(axes, np.ndarray) and axes.size == 0)


def has_int32_axes(pad: PadInfo) -> bool:
    """Whether the axes are known, and int32."""
    axes = pad.input("axes")
    return isinstance(axes, np.ndarray) and axes.dtype == np.int32
