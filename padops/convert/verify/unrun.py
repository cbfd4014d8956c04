"""Compares two models that ONNX Runtime does not run, node by node."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from padops.convert.records import PadComparison, Verification
from padops.convert.sources import Source
from padops.convert.verify.bits import describe_difference
from padops.convert.verify.reference import DescribedPad, described_pads
from padops.convert.verify.structure import other_difference, same_but_for_names
from padops.spec.dtypes import by_name
from padops.spec.plan import PadError

BY_NODE = "node by node, the two models do the same"
OPEN = 11  # the size of a dynamic dim
MOST = 1 << 20  # the most elements of the data on which two Pads are compared


class _Untold(Exception):
    """Two Pads cannot be compared; the message says why."""


def compare_structures(original: Path, converted: Path, asked: Sequence[Source]) -> tuple[Verification | None, str]:
    """Compares two models node by node: other nodes than Pads must be equal, apart from their names.

    The NumPy reference tells whether Pads that are written differently give the same for the same data.

    Returns:
        ``"same"`` or ``"different"``; else None, and why.
    """
    if same_but_for_names(original, converted):
        return Verification("same", notes=(BY_NODE,)), ""
    one, other = (onnx.load(path, load_external_data=False) for path in (original, converted))
    before, hidden = described_pads(original, other, asked)
    after = {pad.output: pad for pad in described_pads(converted, one, asked)[0]}
    pads, why = [], "".join(f"{pad.path}: {pad.detail}" for pad in hidden[:1])
    for pad in before:
        try:
            if pad.output not in after:
                raise _Untold("the other model has no Pad there")
            detail = _difference(pad, after[pad.output])
        except (_Untold, PadError) as error:
            why = why or f"{pad.path}: {error}"
            continue
        pads.append(PadComparison(pad.path, pad.form, "exercised", not detail, (pad.output,), detail, not detail))
    if any(not pad.equal for pad in pads):
        return Verification("different", pads=tuple(pads)), ""
    if place := other_difference(original, converted):
        why = why or f"{place} is not the same in both"
    return (None, why) if why else (Verification("same", notes=(BY_NODE,), pads=tuple(pads)), "")


def _difference(pad: DescribedPad, other: DescribedPad) -> str:
    """The difference of the results of two Pads, or "".

    Raises:
        _Untold: Their data differ, or their amounts or fills are not constant.
        PadError: A Pad breaks a rule.
    """
    if _says(pad) == _says(other):
        return ""
    if isinstance(pad.inputs[0], str) and pad.inputs[0] != other.inputs[0]:
        raise _Untold(f"its data are '{pad.inputs[0]}' in one model and '{other.inputs[0]}' in the other")
    data = _sample(pad)
    results = []
    for one in (pad, other):
        given = [data, *one.inputs[1:]]
        if any(isinstance(value, str) for value in given[1:]):
            raise _Untold("its amounts or its fill are not known before it runs")
        results.append(one.expected([None if isinstance(value, str) else value for value in given]))
    return describe_difference(*results)


def _says(pad: DescribedPad) -> tuple[Any, ...]:
    """A key of all that decides a Pad's result."""
    known = [(x.dtype.str, x.shape, x.tolist()) if isinstance(x, np.ndarray) else x for x in pad.inputs]
    return pad.made.op_type, sorted((name, str(value)) for name, value in pad.attributes.items()), known


def _sample(pad: DescribedPad) -> np.ndarray:
    """Data for a Pad, in which neighbours differ.

    Raises:
        _Untold: The type or rank is not known, or the data are too large.
    """
    if isinstance(pad.inputs[0], np.ndarray):
        return pad.inputs[0]
    if pad.type is None or pad.dims is None:
        raise _Untold("the type or the rank of its data is not known")
    dims = [OPEN if dim is None else dim for dim in pad.dims]
    if prod(dims) > MOST:
        raise _Untold(f"its data have more than {MOST} elements")
    dtype, numbers = by_name(pad.type), np.arange(prod(dims))
    if pad.type == "string":
        return np.array([str(number) for number in numbers], object).reshape(dims)
    if dtype.bits < 8 or pad.type == "bool":
        bits = numbers * 7 % 11 % (2 if pad.type == "bool" else 1 << dtype.bits)
        return bits.astype(np.uint8).view(dtype.numpy).reshape(dims)
    return (numbers % 113 + 1).astype(dtype.numpy).reshape(dims)
