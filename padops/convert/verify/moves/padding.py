"""A Pad on ids of elements."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.verify import schemas
from padops.convert.verify.moves import plan
from padops.convert.verify.moves.definitions import Definition
from padops.convert.verify.moves.elements import Ids
from padops.convert.verify.result import Fails, Unsupported


def padded(data: Ids, said: Definition, fill: Ids | None, most: int) -> Ids:
    """The ids of padded data.

    Raises:
        Fails: The Pad breaks a rule.
        Unsupported: The mode is not known, or the result has more than ``most`` elements.
    """
    axes, mode, rules = said.axes, said.mode, said.rules
    if mode not in plan.MODES:
        raise Unsupported(f"a Pad of mode {mode!r}")
    if broken := next(plan.broken(axes, mode, rules), ""):
        raise Fails(f"a Pad of {list(data.ids.shape)} by {[tuple(axis[1:3]) for axis in axes]} [{broken}]")
    dims = [plan.output(axis, rules) for axis in axes]
    if prod(dims) > most:
        raise Unsupported(f"a value of {prod(dims)} elements, which is more than {most}")
    outside = _outside(data, fill) if mode == "constant" else 0
    if 0 in dims:
        return Ids(np.empty(dims, np.int64), data.dtype)
    ids = data.ids
    for index, axis in enumerate(axes):
        shown = plan.positions(axis, mode, rules)
        if not axis.size:
            ids = np.full((*ids.shape[:index], len(shown), *ids.shape[index + 1 :]), outside, np.int64)
            continue
        ids = np.take(ids, np.maximum(shown, 0), index)
        if (shown < 0).any():
            ids[(slice(None),) * index + (shown < 0,)] = outside
    return Ids(ids, data.dtype)


def _outside(data: Ids, fill: Ids | None) -> int:
    """The id of a Pad's fill."""
    if fill is None:
        raise Unsupported("the fill of a Pad whose element type is not known")
    if fill.ids.size != 1:
        raise Fails(f"a fill of shape {list(fill.ids.shape)} [P7]")
    if data.dtype and fill.dtype and fill.dtype != data.dtype:
        raise Fails(f"a fill of {schemas.type_name(fill.dtype)} for {schemas.type_name(data.dtype)} [P7]")
    return int(fill.ids.reshape(-1)[0])


def converted(number: np.ndarray, dtype: int) -> np.ndarray:
    """A number as an element of a type, as PyTorch converts it: to 16-bit floats by way of float.

    Raises:
        Unsupported: The type cannot hold it.
    """
    if number.size != 1 or not dtype or dtype == TensorProto.STRING:
        raise Unsupported("a fill that is not one number, or of data of an unknown type")
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    one = number.reshape(())
    if kind.kind in "iu" and not np.iinfo(kind).min <= one <= np.iinfo(kind).max:
        raise Unsupported(f"a fill of {one} for {schemas.type_name(dtype)}")
    if kind.kind in "iub":
        return np.asarray(one.astype(kind))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(one.astype(np.float64 if dtype == TensorProto.DOUBLE else np.float32).astype(kind))
