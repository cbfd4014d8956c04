"""Every measured fact about ONNX Runtime's own Pad; ``builtin_rules.py`` judges a Pad by them.

Measured with onnxruntime 1.20 to 1.32 on the CPU; a fact that does not hold for all of these releases names its own.

**Right.**

- Mode constant, for data of any rank but 0, if no axis is cropped away wholly.
- Edge, reflect and wrap, if no axis is empty, no amount is negative, reflect reaches at most n - 1 elements and wrap n
  (since 1.31, wrap reaches any number).
- Constant and edge reach any number of elements; so does wrap behind the data.
- Edge and reflect of empty data by any amounts, if every empty axis stays empty.
- ``com.microsoft::Pad`` runs as ONNX's does, for float alone.
- Every opset runs wrap.

**Refused.**

- A node in the form of another version; data of rank 0.
- Constant axes of int32 (also if only the optimizer finds them constant), if the model tells the rank of the data.
- Constant pads of two dims, if the model tells the rank of the data, and unless the axes are known to be empty.
- Constant pads or axes in an external file, if the model tells the rank of the data; ``com.microsoft::Pad`` takes them.
- A fill of another type than the data; pads of another type than int64; axes of another type than int64 and int32.
- A fill of several elements, even in the modes that do not read the fill.
- To reflect more than once.
- Since 1.24, to crop an axis with elements to nothing in another mode than constant.
- Known amounts of some axes, if the model states no shape of the axes: shape inference then takes the axes as absent
  (and, if there are as many amounts, as all axes in order).

**Wrong in older releases.**

- Before 1.25, a reflection that is too long is not refused: Pad reads beyond the data. So it does if one axis is
  cropped and reflected. With known shapes, this happens while the model is loaded, even in a branch that is never
  taken.
- Before 1.31, wrap reads before the data if it adds more in front than the crop leaves.
- Before 1.24, if a crop leaves nothing of an axis with elements, mode constant is wrong, right or refused; if the crop
  takes more than the axis has, it may crash. Edge and wrap give garbage if they extend such an axis, which is no Pad
  (P5) and which 1.24 refuses.

Reads beyond the data give whatever lies there: now and then, the right elements.
"""

from __future__ import annotations

import numpy as np

from padops.convert.pads.match import MICROSOFT
from padops.convert.pads.pad_info import PadInfo
from padops.runtime.installed import NEWEST_MINOR, OLDEST_MINOR
from padops.spec.plan import Amounts, Mode, PadError

# Element types of the kernels that move every bit, by domain and first opset; an opset between two rows has the lower
# row's. float16 has no kernel: ONNX Runtime casts it to float and back. (1.31.1; older releases have fewer.)
KERNELS: dict[str, dict[int, tuple[str, ...]]] = {
    "": {
        2: ("float", "double"),
        11: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64"),
        13: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64", "bool"),
    },
    MICROSOFT: {1: ("float",)},
}
# Types that got a kernel later: the first opset, and the first release 1.x.
LATER_KERNELS = {("", "bfloat16"): (21, 32)}

# The newest opset that a release 1.x loads; it counts until the release of the next row.
NEWEST_OPSETS = {20: 21, 21: 22, 23: 23, 24: 25, 25: 26, 32: 28}

FIRST_WITH_INPUTS = 11  # in earlier opsets, amounts and fill are attributes
FIRST_WITH_AXES = 18
MODES_SINCE = {Mode.CONSTANT: 1, Mode.EDGE: 1, Mode.REFLECT: 1, Mode.WRAP: 19}  # by name, in the standard

# The types that Gather, Concat, Slice, Reshape and If move, and the first opset of each.
MOVED = dict.fromkeys(
    ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32",
     "uint64"), 1,
) | {"bfloat16": 13}  # fmt: skip

# Types that a Cast to another type and back keeps bit by bit, with that type and the first opset. Not float8e5m2, whose
# NaNs change, nor float4e2m1, which cannot be cast. onnxruntime has the last five later than 1.20.
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

# The first opset whose Identity, which may replace a Pad, has a type; 1 for types that are not listed. None: in no
# opset (1.31.1).
FIRST_WITH_MORE_TYPES = 21  # the first opset with a type that Identity lacks
IDENTITY_SINCE: dict[str, int | None] = {
    "bfloat16": 13,
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"), 19),
    **dict.fromkeys(("uint4", "int4", "uint2", "int2", "float4e2m1", "float8e8m0")),
}


# The first release 1.x without a fault.
REFLECT_REFUSED = 25  # refuses a reflection that is too long, instead of reading beyond the data
CROPS_RIGHT = 24  # right if a crop leaves nothing
WRAPS_RIGHT = 31  # right if wrap adds more in front than the crop leaves
POOLINGS_RIGHT = 32  # turns no Pad into the padding of a pooling any more
CASTS_RIGHT_SINCE = 6  # the first opset whose Cast ONNX Runtime can put around a Pad of float16


def has_type(name: str | None, opset: int, domain: str = "") -> bool:
    """Whether ONNX Runtime's Pad of an opset moves an element type without a cast."""
    versions = [since for since in KERNELS[domain] if since <= opset]
    return bool(versions) and name in KERNELS[domain][max(versions)]


def has_modes(pad: PadInfo, opset: int) -> bool:
    """Whether the Pad of an opset of ONNX has all possible modes of ``pad``, by the same names."""
    alike = len(pad.modes) == 1 or pad.modes[0].islower()
    return alike and all(MODES_SINCE.get(mode, opset + 1) <= opset for mode in pad.known_modes)


def has_identity(name: str | None, opset: int) -> bool:
    """Whether an opset's Identity has an element type; for an unknown type, whether it has all."""
    if name is None:
        return opset < FIRST_WITH_MORE_TYPES
    since = IDENTITY_SINCE.get(name, 1)
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
