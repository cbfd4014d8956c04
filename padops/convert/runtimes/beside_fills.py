"""The conditions of provider rules on the fill of a Pad."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert.pads.operands import all_known
from padops.convert.pads.pad_info import PadInfo

FILLS = (
    "computed fill",
    "computed scalar fill",
    "fill not one",
    "bare fill not one",
    "fill empty",
    "rounded fill",
    "endless value",
)


def fill_holds(when: str, pad: PadInfo) -> bool | None:
    """Whether the condition ``when``, one of ``FILLS``, holds for the fill: an input, or in old versions an attribute.

    Returns:
        None if the model leaves it open.
    """
    position = pad.op.input_index(pad.op.fill)
    if position is None:
        return _value_holds(when, pad.attributes.get(pad.op.fill), pad.type)
    given = pad.inputs[position]
    if given is None:
        return False
    is_array = isinstance(given, np.ndarray)
    count = prod(pad.fill_dims) if all_known(pad.fill_dims) else None
    match when:
        case "computed fill":
            return not is_array
        case "computed scalar fill":
            return not is_array and (None if pad.fill_dims is None else not pad.fill_dims)
        case "bare fill not one" if pad.input("axes") is not None:
            return False
        case "fill not one" | "bare fill not one":
            return None if count is None else count != 1
        case "fill empty":
            return None if count is None else count == 0
        case "rounded fill":
            return isinstance(given, np.ndarray) and given.size == 1 and is_rounded(given.reshape(()))
    return False


def _value_holds(when: str, value: ir.Attr | None, kind: str | None) -> bool | None:
    if value is None or when not in ("rounded fill", "endless value"):
        return False
    if value.is_ref():
        return None
    number = np.float32(value.value)
    if when == "rounded fill":
        return is_rounded(number)
    return not np.isfinite(number) or kind == "float16" and bool(abs(number) > np.finfo(np.float16).max)


def is_rounded(fill: np.generic | np.ndarray) -> bool:
    """Whether a provider that reads the fill as a float changes it: a rounded or large integer, or a negative zero."""
    if fill.dtype.name in ("float32", "float16"):
        return bool(fill == 0 and np.signbit(fill))
    if fill.dtype.name not in ("int32", "uint32", "int64"):
        return False
    number = int(fill)
    return int(np.float32(number)) != number or not -(1 << 31) <= number < 1 << 31
