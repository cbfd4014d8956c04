"""Folds: a window operator with pads equals the same operator without pads behind a Pad.

The latter is the normal form. Two windows are equal if their normal forms are: one operator and attributes, equal other
inputs, equal padded data. So one rule covers a Pad folded into pads, grown pads, and pads turned into a Pad. The normal
form pads the spatial axes, in mode ``constant``:

============ ===================== =================================================================================
operator     fill                  conditions, for both windows
============ ===================== =================================================================================
Conv         0                     the weights are finite: infinity times a 0 that a Pad wrote is NaN
ConvInteger  the zero point of x   the zero point has one element
QLinearConv  the zero point of x   the same
AveragePool  0                     ``count_include_pad``; no ``ceil_mode``, whose last window may begin in the padding;
                                   pads smaller than the kernel; no axis of 0 elements, which pools reject
============ ===================== =================================================================================

For all: ``auto_pad`` is NOTSET or VALID; no pads are negative. MaxPool has no rule: its padding is less than every
number, and no fill is. Float sums are equal as ONNX defines them; a runtime may round them differently with a Pad's
zeros in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import onnx

from padops.convert.proof.result import Outcome, Unsupported, Verdict
from padops.convert.proof.terms import ABSENT, Head, Kind, Terms

RULE = "window"
INTEGERS = (onnx.TensorProto.INT8, onnx.TensorProto.UINT8)
INT64, FLOAT = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
# The index of the weights; the index of the data's zero point, or None.
WEIGHTS = {"Conv": 1}
ZERO_POINT: dict[str, int | None] = {"Conv": None, "ConvInteger": 2, "QLinearConv": 2, "AveragePool": None}
FLOATS = ("Conv", "AveragePool")
UNPADDED = (b"", b"NOTSET", b"VALID")
# Each element of the result is an element of the first input (Concat: of any).
MOVES = ("Transpose", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Concat", "Slice", "Identity")
SUMS = "the sums of a window are those that ONNX defines; a runtime may round them in another order"


class Window(NamedTuple):
    """A window operator in normal form."""

    head: Head  # without ``pads``, ``auto_pad`` and written-out defaults
    data: int  # the padded data
    others: tuple[int, ...]  # the other inputs
    pads: tuple[int, ...]  # the original pads


def same(terms: Terms, a: int, b: int, prove: Callable[[int, int], bool]) -> Outcome | None:
    """Compares two windows of one op_type by their normal forms.

    Returns:
        PROVED or UNKNOWN; None if the terms are no such windows, or have equal heads.
    """
    name = terms.op(a)
    if name not in ZERO_POINT or name != terms.op(b) or terms.head(a) == terms.head(b):
        return None  # with equal heads, the matcher compares the inputs themselves
    try:
        first, second = _normal(terms, a), _normal(terms, b)
        if first.head != second.head or len(first.others) != len(second.others):
            raise Unsupported(f"the attributes or versions of two {name} differ")
        for one, other in zip(first.others, second.others):
            if one != other and (ABSENT in (one, other) or not prove(one, other)):
                raise Unsupported(f"another input than the data of two {name} is not proved equal")
        if name in WEIGHTS and first.pads != second.pads and not _finite(terms, terms.inputs(a)[WEIGHTS[name]]):
            raise Unsupported(f"the weights of {name} are not known to be finite")
        if not prove(first.data, second.data):
            raise Unsupported(f"what two {name} read is not proved equal, padded")
    except Unsupported as why:
        return Outcome(Verdict.UNKNOWN, RULE, why=str(why))
    conditions = (SUMS,) if name in FLOATS else ()
    return Outcome(Verdict.PROVED, RULE, holds_for="all data", conditions=conditions)


def _pads(terms: Terms, term: int) -> tuple[int, ...]:
    """The pads of an operator; empty if all are 0."""
    pads = tuple(int(amount) for amount in terms.attribute(term, "pads", ()))
    return pads if any(pads) else ()


def _normal(terms: Terms, term: int) -> Window:
    """The normal form of a window.

    Raises:
        Unsupported: The window has none.
    """
    name, inputs, pads = terms.op(term), terms.inputs(term), _pads(terms, term)
    auto_pad = terms.attribute(term, "auto_pad", b"")
    if auto_pad not in UNPADDED:
        raise Unsupported(f"{name} has auto_pad {auto_pad.decode()}")
    if not inputs or inputs[0] == ABSENT:
        raise Unsupported(f"{name} has no data")
    data = inputs[0]
    if pads:
        if auto_pad == b"VALID":
            raise Unsupported(f"{name} has auto_pad VALID, and pads")
        if len(pads) % 2 or min(pads) < 0:
            raise Unsupported(f"{name} has pads {list(pads)}")
        if name == "AveragePool":
            _check_pooling(terms, term, pads)
        data = _padded(terms, data, pads, _fill(terms, term))
    return Window(_head(terms, term), data, inputs[1:], pads)


def _head(terms: Terms, term: int) -> Head:
    """The operator without pads and without written-out defaults."""
    head, left_out = terms.head(term), {"pads", "auto_pad"}
    if terms.op(term) == "AveragePool" and not terms.attribute(term, "ceil_mode", 0):
        left_out.add("count_include_pad")  # without padding it changes nothing
    kept = [
        (name, kind, value)
        for name, kind, value in head.attributes
        if name not in left_out and not (name in ("strides", "dilations") and all(number == 1 for number in value))
    ]
    return replace(head, attributes=tuple(kept))


def _padded(terms: Terms, data: int, pads: Sequence[int], fill: int) -> int:
    """The data, padded along the spatial axes."""
    count = len(pads) // 2
    amounts = np.array([0, 0, *pads[:count], 0, 0, *pads[count:]], np.int64)
    made = terms.add(Head(Kind.PAD, mode="constant"), (data, terms.add_constant(amounts, INT64), fill, ABSENT))
    if (dtype := terms.dtype(data)) is not None:
        terms.set_dtype(made, dtype)
    shape = terms.shape(data)
    if shape is not None and len(shape) == count + 2:
        added = [int(begin + end) for begin, end in zip(amounts[: count + 2], amounts[count + 2 :])]
        dims = (dim + more if isinstance(dim, int) else None if more else dim for dim, more in zip(shape, added))
        terms.set_shape(made, tuple(dims))
    return made


def _fill(terms: Terms, term: int) -> int:
    """The fill of an operator's padding, as a Pad's input; ABSENT means 0."""
    at, inputs = ZERO_POINT[terms.op(term)], terms.inputs(term)
    if at is None or at >= len(inputs) or inputs[at] == ABSENT:
        return ABSENT
    point = inputs[at]
    array = terms.constant(point)
    if array is not None and array.size == 1:
        dtype = terms.dtype(point)
        assert dtype is not None, "a constant has a type"
        return terms.add_constant(array.reshape(()), dtype)
    if terms.shape(point) not in ((), (1,)):
        raise Unsupported(f"the zero point of {terms.op(term)} is not known to be a single number")
    return point


def _check_pooling(terms: Terms, term: int, pads: Sequence[int]) -> None:
    """Rejects an AveragePool whose padding differs from zeros in its data."""
    if not terms.attribute(term, "count_include_pad", 0):
        raise Unsupported("AveragePool does not count what it pads")
    if terms.attribute(term, "ceil_mode", 0):
        raise Unsupported("AveragePool has ceil_mode: its last window may begin in the padding")
    kernel = tuple(terms.attribute(term, "kernel_shape", ()))
    if 2 * len(kernel) != len(pads) or any(pad >= size for pad, size in zip(pads, kernel * 2)):
        raise Unsupported(f"AveragePool has pads {list(pads)} for a kernel of {list(kernel)}")
    shape = terms.shape(terms.inputs(term)[0])
    if shape is None or not all(isinstance(dim, int) and dim > 0 for dim in shape[2:]):
        raise Unsupported("AveragePool refuses an axis of 0 elements, and the dims of its data are not all known")


def _finite(terms: Terms, term: int) -> bool:
    """Whether no element of a value can be infinite or NaN."""
    array = terms.constant(term)
    if array is not None:
        return bool(np.isfinite(array).all())
    op, inputs = terms.op(term), terms.inputs(term)
    if op in MOVES:
        return all(_finite(terms, one) for one in (inputs if op == "Concat" else inputs[:1]))
    if op == "Cast":  # to a wider type, so that no value becomes infinite
        wider = terms.attribute(term, "to") in (FLOAT, onnx.TensorProto.DOUBLE)
        narrow = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, *INTEGERS)
        return wider and terms.dtype(inputs[0]) in narrow and _finite(terms, inputs[0])
    if op == "DequantizeLinear" and terms.dtype(inputs[0]) in INTEGERS:
        scale = terms.constant(inputs[1])  # multiplied by a number from -255 to 255
        is_float = terms.dtype(inputs[1]) == FLOAT and terms.attribute(term, "output_dtype", 0) in (0, FLOAT)
        return is_float and scale is not None and bool(np.all(np.abs(scale) <= np.finfo(np.float32).max / 255))
    return False
