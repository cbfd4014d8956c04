"""The fill of PyTorch's Pads, which is a double or an integer whatever the data are."""

from __future__ import annotations

import numpy as np

from padops.convert.pads.match import Unconvertible
from padops.spec.dtypes import by_name


def pytorch_fill(array: np.ndarray | None, type_name: str | None) -> np.ndarray | None:
    """The fill as one element of the data's type, as PyTorch makes it: by way of float for 16 bits, fractions of integers cut off.

    Args:
        array: The value that the node has; None where it is not known.
        type_name: Of the data; None where it is not known.

    Returns:
        The element, or None where it is the default fill anyway.

    Raises:
        Unconvertible: It is not one number that is known, or not of the type.
    """
    if array is None or array.size != 1 or array.dtype.kind not in "biuf":
        raise Unconvertible("its value is not one constant number")
    value = array.reshape(-1)[0]
    if value == 0 and not np.signbit(value):
        return None
    if type_name is None:
        raise Unconvertible(f"the value {value} has to become one of the data's type, and that is not known")
    row = by_name(type_name)
    refused = Unconvertible(f"the value {value} is not of the data's type, {type_name}")
    if row.numpy.kind in "iu":
        limits = np.iinfo(row.numpy)
        if not np.isfinite(value) or not limits.min <= int(value) <= limits.max:
            raise refused
        return np.array(int(value), row.numpy)
    if row.numpy.kind == "b":
        return np.array(bool(value))
    if row.numpy.kind == "O":
        raise refused
    with np.errstate(over="ignore", invalid="ignore"):
        fill = np.asarray(value).astype(np.float64 if type_name == "double" else np.float32).astype(row.numpy)
    if np.isinf(np.float64(fill)) and np.isfinite(value):
        raise refused
    return fill
