"""Folds: a convolution or pooling with pads equals the same operator without pads, behind a Pad of mode constant.

The normal form of such an operator is a Pad, followed by the operator without pads. Two operators are equal if their
normal forms have the same operator and attributes, equal padded data and equal other inputs. docs/verification.md lists
the fills and conditions.

MaxPool pads with a value below every number, and some pools do not count their padding. Such padding can be proved
equal to other such padding only, never to the fill of a Pad.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import onnx

from padops.convert.records import RegionRecord
from padops.convert.verify.schemas import STRING, defaults_of
from padops.convert.verify.terms import ABSENT, Head, Kind, Terms, Unsupported, outcome
from padops.spec.dialects import DOMAIN

RULE, LISTS = "fold", ("strides", "dilations")
INTEGERS = (onnx.TensorProto.INT8, onnx.TensorProto.UINT8)
NARROW = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, *INTEGERS)
INTS = onnx.AttributeProto.INTS
BOOL, INT64, FLOAT = onnx.TensorProto.BOOL, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
KERNELS = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 3}  # the index of the weights, whose dims are the kernel's
ZERO_POINTS = {"ConvInteger": 2, "QLinearConv": 2}  # the index of the data's zero point
POOLS = ("AveragePool", "MaxPool")
UNPADDED, SAME = (b"", b"NOTSET", b"VALID"), (b"SAME_UPPER", b"SAME_LOWER")
OWN = "what the pool pads"  # the fill of a pool that counts no padding
# Each element of the result is an element of the first input (Concat: of any input).
MOVES = ("Transpose", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Concat", "Slice")
FIRST_MASKED, MASK, PAST = 24, 3, 4  # Attention: the first version that pads a mask; the indices of mask and past key
SUMS = "the sums of a window are those that ONNX defines; a runtime may round them in another order"
BODY = "Attention pads a mask that is shorter than the keys, as the function's body does"
CONDITIONS = {"Conv": (SUMS,), "AveragePool": (SUMS,), "Attention": (BODY,)}


class Window(NamedTuple):
    """A window operator in normal form."""

    head: Head  # without ``pads``, ``auto_pad`` and written-out defaults
    data: int  # the padded data
    others: tuple[int, ...]  # the other inputs
    pads: tuple[int, ...]  # the original pads; negative for SAME


def same(terms: Terms, a: int, b: int, prove: Callable[[int, int], bool]) -> RegionRecord | None:
    """Compares window operators of one op_type and unequal heads, or two Attention from 24 on; else returns None."""
    name = terms.op(a)
    is_masked = name == "Attention" and terms.head(a).version >= FIRST_MASKED
    is_window = name in (*KERNELS, *POOLS) and terms.head(a) != terms.head(b)
    if name != terms.op(b) or not (is_window or is_masked):
        return None  # with equal heads, the matcher compares the inputs themselves
    try:
        first, second = (_masked(terms, one) if is_masked else _normal(terms, one) for one in (a, b))
        if first.head != second.head or len(first.others) != len(second.others):
            raise Unsupported(f"the attributes or versions of two {name} differ")
        for one, other in zip(first.others, second.others):
            if one != other and (ABSENT in (one, other) or not prove(one, other)):
                raise Unsupported(f"two {name} nodes are not proved to have equal inputs, apart from the data")
        if name == "Conv" and first.pads != second.pads and not _finite(terms, terms.inputs(a)[1]):
            raise Unsupported("the weights of Conv are not known to be finite")
        if not prove(first.data, second.data):
            raise Unsupported(f"the padded data of two {name} are not proved equal")
    except Unsupported as why:
        return outcome("unknown", RULE, why=str(why))
    return outcome("proved", RULE, holds_for="all data", conditions=CONDITIONS.get(name, ()))


def _normal(terms: Terms, term: int) -> Window:
    name, inputs, auto_pad = terms.op(term), terms.inputs(term), terms.attribute(term, "auto_pad", b"")
    pads = tuple(int(amount) for amount in terms.attribute(term, "pads", ()))
    pads = pads if any(pads) else ()
    if not inputs or inputs[0] == ABSENT or terms.head(term).outputs > 1:
        raise Unsupported(f"{name} has no data or more than one output")
    data = inputs[0]
    if auto_pad in SAME:
        if terms.attribute(term, "pads") is not None:
            raise Unsupported(f"{name} has both auto_pad {auto_pad.decode()} and pads")
        data, pads = _same(terms, term, auto_pad), (-1,)
    elif auto_pad not in UNPADDED or (auto_pad == b"VALID" and terms.attribute(term, "pads") is not None):
        raise Unsupported(f"{name} has auto_pad {auto_pad!r}, which is unknown or contradicts pads")
    elif pads:
        if len(pads) % 2 or min(pads) < 0:
            raise Unsupported(f"{name} has pads {list(pads)}")
        if name == "AveragePool" and terms.attribute(term, "count_include_pad", 0):
            _check_pooling(terms, term, pads)
        half = len(pads) // 2
        data = _padded(terms, term, data, (0, 0, *pads[:half], 0, 0, *pads[half:]), _fill(terms, term))
    # The operator without pads and without written-out defaults
    head, left_out = terms.head(term), {"pads", "auto_pad"}
    if name == "AveragePool" and not terms.attribute(term, "ceil_mode", 0):
        left_out.add("count_include_pad")  # irrelevant without padding
    if name in KERNELS:
        left_out.add("kernel_shape")  # the dims of the weights determine it
    kept = [row for row in head.attributes
            if row[0] not in left_out and not (row[0] in LISTS and all(number == 1 for number in row[2]))]  # fmt: skip
    return Window(replace(head, attributes=tuple(kept)), data, inputs[1:], pads)


def _same(terms: Terms, term: int, auto_pad: bytes) -> int:
    """Returns the term of a SamePad_1 that pads the data as ``auto_pad`` does."""
    name, inputs = terms.op(term), terms.inputs(term)
    kernel = terms.attribute(term, "kernel_shape")
    if kernel is None and name in KERNELS:
        shape = terms.shape(inputs[KERNELS[name]])
        kernel = None if shape is None else shape[2:]
    dilations = terms.attribute(term, "dilations")
    if kernel is None or not all(isinstance(size, int) for size in kernel):
        raise Unsupported(f"the kernel of {name} is not known")
    if name in POOLS and (any(one != 1 for one in dilations or ()) or terms.attribute(term, "ceil_mode", 0)):
        raise Unsupported(f"{name} has SAME with dilations or ceil_mode, on which runtimes do not agree")
    if name == "AveragePool" and terms.attribute(term, "count_include_pad", 0):
        raise Unsupported("AveragePool has SAME, and counts its padding")
    rows = {name: (kind, value) for name, kind, value in defaults_of(DOMAIN, "SamePad_1", 1)}
    rows |= {"auto_pad": (STRING, auto_pad), "kernel_shape": (INTS, tuple(kernel))}
    rows |= {name: (INTS, value) for name in LISTS if (value := terms.attribute(term, name))}
    attributes = tuple((name, *row) for name, row in sorted(rows.items()))
    head = Head(Kind.OPERATOR, DOMAIN, "SamePad_1", 1, attributes, place=terms.head(term).place)
    fill = _fill(terms, term)
    made = terms.add(head, (inputs[0],) if fill == ABSENT else (inputs[0], fill))
    terms.learn(made, terms.dtype(inputs[0]) or 0, None)
    return made


def _padded(terms: Terms, term: int, data: int, amounts: Sequence[int], fill: int) -> int:
    given = terms.add_constant(np.array(amounts, np.int64), INT64)
    made = terms.add(Head(Kind.PAD, mode="constant", place=terms.head(term).place), (data, given, fill, ABSENT))
    terms.learn(made, terms.dtype(data) or 0, None)
    return made


def _fill(terms: Terms, term: int) -> int:
    """Returns the fill of an operator's padding, as a Pad's input; ABSENT means 0."""
    at, inputs = ZERO_POINTS.get(terms.op(term)), terms.inputs(term)
    if terms.op(term) in POOLS and not terms.attribute(term, "count_include_pad", 0):
        own = terms.add(Head(Kind.FORMAL, name=OWN))
        terms.learn(own, 0, ())
        return own
    if at is None or at >= len(inputs) or inputs[at] == ABSENT:
        return ABSENT
    point = inputs[at]
    if terms.shape(point) not in ((), (1,)):
        raise Unsupported(f"the zero point of {terms.op(term)} is not known to be a single number")
    return point


def _check_pooling(terms: Terms, term: int, pads: Sequence[int]) -> None:
    """Rejects an AveragePool whose padding differs from a Pad's zeros."""
    if terms.attribute(term, "ceil_mode", 0):
        raise Unsupported("AveragePool has ceil_mode: its last window may begin in the padding")
    kernel = tuple(terms.attribute(term, "kernel_shape", ()))
    if 2 * len(kernel) != len(pads) or any(pad >= size for pad, size in zip(pads, kernel * 2)):
        raise Unsupported(f"AveragePool has pads {list(pads)} for a kernel of {list(kernel)}")
    shape = terms.shape(terms.inputs(term)[0])
    if shape is None or not all(isinstance(dim, int) and dim > 0 for dim in shape[2:]):
        raise Unsupported("AveragePool refuses an axis of 0 elements, and the dims of its data are not all known")


def _finite(terms: Terms, term: int) -> bool:
    """Returns whether no element of a value can be infinite or NaN."""
    array = terms.constant(term)
    if array is not None:
        return bool(np.isfinite(array).all())
    op, inputs = terms.op(term), terms.inputs(term)
    types = [terms.dtype(one) for one in inputs[:2]]
    # A cast to a wider type makes no value infinite.
    is_wider = op == "Cast" and terms.attribute(term, "to") in (FLOAT, onnx.TensorProto.DOUBLE) and types[0] in NARROW
    if op in MOVES or is_wider:
        return all(_finite(terms, one) for one in (inputs if op == "Concat" else inputs[:1]))
    if op != "DequantizeLinear" or types[0] not in INTEGERS or types[1] != FLOAT:
        return False
    scale = terms.constant(inputs[1])  # the operator multiplies it by a number from -255 to 255
    is_float = terms.attribute(term, "output_dtype", 0) in (0, FLOAT)
    return is_float and scale is not None and bool(np.all(np.abs(scale) <= np.finfo(np.float32).max / 255))


def _masked(terms: Terms, term: int) -> Window:
    """Pads a short mask of Attention to the length of the keys, as ONNX's function body does from version 24 on."""
    inputs = terms.inputs(term)
    mask = inputs[MASK] if len(inputs) > MASK else ABSENT
    dims, dtype = terms.shape(mask), terms.dtype(mask)
    keys = [(terms.shape(one) or (None, None))[-2] for one in (inputs[1], *inputs[PAST : PAST + 1])]
    numbers = [size for size in (*(dims or ())[-1:], *keys) if isinstance(size, int)]
    if dims and dtype and len(numbers) == 1 + len(keys) and (lacking := sum(numbers[1:]) - numbers[0]) > 0:
        kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
        fill = ABSENT if dtype == BOOL else terms.add_constant(np.array(-np.inf, kind), dtype)
        mask = _padded(terms, term, mask, [0] * (2 * len(dims) - 1) + [lacking], fill)
    return Window(terms.head(term), mask, (*inputs[:MASK], *inputs[MASK + 1 :]), ())
