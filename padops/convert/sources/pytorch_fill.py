"""The fill of PyTorch's Pads: a double or an integer, for data of any type."""

from __future__ import annotations

import numpy as np

from padops.convert.pads.match import Unconvertible
from padops.spec.dtypes import by_name


def pytorch_fill(array: np.ndarray | None, type_name: str | None) -> np.ndarray | None:
    """The fill as one element of the data's type, converted as PyTorch does it.

    PyTorch converts to 16-bit floats by way of float, and truncates fractions for integers.

    Args:
        array: The node's value; None if unknown.
        type_name: The element type of the data; None if unknown.

    Returns:
        The element; None for the default fill.

    Raises:
        Unconvertible: The value is not one known number, or the type cannot hold it.
    """
    if array is None or array.size != 1 or array.dtype.kind not in "biuf":
        raise Unconvertible("its value is not one constant number")
    value = array.reshape(-1)[0]
    if value == 0 and not np.signbit(value):
        return None
    if type_name is None:
        raise Unconvertible(f"the value {value} has to become an element of the data's type, which is not known")
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
