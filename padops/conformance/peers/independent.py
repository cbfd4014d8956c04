"""A second implementation of the rules, independent of ``padops.spec``: a comparison finds mistakes in either.

Every axis becomes a list of positions, and an extension walks along the data one element at a time.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from padops.conformance.peers.request import Refused, Request

PACKAGES = ("numpy",)
REFUSALS = (Refused,)

MAX_SIZE = 2**59 - 1
FILL = -1  # the index of the last element, which is the fill
Triple = tuple[int, int, int]  # begin, end and interior of an axis
Parts = tuple[list[Triple], np.ndarray | None]  # the amounts of every axis, and the fill


def check(holds: bool, rule: str) -> None:
    """Raise Refused with the name of a rule if the rule does not hold."""
    if not holds:
        raise Refused(f"[{rule}]")


def run_case(request: Request) -> np.ndarray:
    """Compute the output, one axis after the other."""
    family, version = request.op.split("_")
    amounts_of, fill_at, attribute, known = FAMILIES[family]
    mode = request.attributes.get(attribute, known[0])
    check(mode in known + (("wrap",) if family == "Pad" and int(version) >= 19 else ()), "P9")
    mode = mode.lower()
    given = _at(request, fill_at)
    if mode == "constant" and given is not None:  # checked first: an error names only the first broken rule
        check(given.size == 1 and given.dtype == request.data.dtype, "P7")
    triples, fill = amounts_of(request, int(version))
    output = request.data
    sizes = _sizes(output.shape, triples, mode, clamp=request.op == "OpenVINOPad_12")
    for n, (begin, end, _) in zip(output.shape, triples):
        if family == "OpenVINOPad" and mode in ("reflect", "symmetric"):
            check(max(begin, end, 0) <= max(n - (mode == "reflect"), 0), "P4")
        if family == "NGraphPad" and mode in ("edge", "reflect"):
            check(n >= (1 if mode == "edge" else 2), "P4")
    lists = [
        _positions(n, *triple, mode, crop=family == "Pad", size=size, empty=0 in sizes)
        for n, triple, size in zip(output.shape, triples, sizes)
    ]
    blank = np.zeros((), output.dtype) if output.dtype != object else np.array("", object)
    if mode == "constant" and fill is not None:
        blank = fill.reshape(())
    for axis, positions in enumerate(lists):  # the fill is appended to each axis, at index FILL
        row = np.full([1 if i == axis else n for i, n in enumerate(output.shape)], blank, output.dtype)
        output = np.take(np.concatenate([output, row], axis=axis), np.array(positions, np.int64), axis=axis)
    return output


def _sizes(shape: tuple[int, ...], triples: list[Triple], mode: str, clamp: bool) -> list[int]:
    sizes = []
    for n, (begin, end, interior) in zip(shape, triples):
        check(interior >= 0 and (interior == 0 or mode == "constant"), "P6")
        spread = n + max(n - 1, 0) * interior
        size = begin + spread + end
        check(max(abs(begin), abs(end), spread, size) <= MAX_SIZE, "P10")
        check(size >= 0 or clamp, "P1")
        sizes.append(max(size, 0))
    check(prod(sizes) <= MAX_SIZE, "P10")
    return sizes


def _positions(n: int, begin: int, end: int, interior: int, mode: str, crop: bool, size: int, empty: bool) -> list[int]:
    """Return the source position of each element of an output axis, or FILL."""
    row: list[int] = []
    for i in range(n):
        row += [i] + ([FILL] * interior if i < n - 1 else [])
    if mode == "constant":
        row = [FILL] * max(begin, 0) + row + [FILL] * max(end, 0)
        return row[max(-begin, 0) : len(row) - max(-end, 0)] if size else []
    if crop:
        row = row[max(-begin, 0) : max(len(row) - max(-end, 0), 0)]
        begin, end = max(begin, 0), max(end, 0)
    if empty:
        return [0] * size  # an output without elements has only a shape
    check(bool(row), "P5")
    return [row[_walk(position - begin, len(row), mode)] for position in range(size)]


def _walk(offset: int, n: int, mode: str) -> int:
    """Walk ``offset`` steps from element 0; return the last position."""
    place, way = 0, 1 if offset > 0 else -1
    for _ in range(abs(offset)):
        following = place + way
        if not 0 <= following < n:
            if mode == "edge":
                return place
            if mode == "wrap":
                following = 0 if way > 0 else n - 1
            else:
                way = -way
                following = place if mode == "symmetric" else place + way
                if not 0 <= following < n:
                    following = place
        place = following
    return place


def _integers(array: Any, *allowed: str) -> list[int]:
    check(array is not None and array.dtype.name in allowed, "P8")
    return [int(value) for value in array.reshape(-1)]


def _at(request: Request, position: int) -> np.ndarray | None:
    return request.inputs[position] if position < len(request.inputs) else None


def _onnx(request: Request, version: int) -> Parts:
    rank = request.data.ndim
    array, fill = _at(request, 1), _at(request, 2)
    if version < 11:
        pads = list(request.attributes["paddings" if version == 1 else "pads"])
        with np.errstate(over="ignore"):
            fill = np.asarray(request.attributes.get("value", 0.0), np.float32).astype(request.data.dtype)
    else:
        pads = _integers(array, "int64")
        check(array is not None and (array.ndim == 1 or array.ndim == 2 and array.shape[0] == 1), "P8")
    axes = list(range(rank))
    if version >= 18 and _at(request, 3) is not None:
        axes = _integers(_at(request, 3), "int32", "int64")
        check(all(-rank <= axis < rank for axis in axes), "P8")
        axes = [axis + rank if axis < 0 else axis for axis in axes]
        check(len(set(axes)) == len(axes), "P8")
    check(len(pads) == 2 * len(axes), "P8")
    triples = [(0, 0, 0)] * rank
    for i, axis in enumerate(axes):
        triples[axis] = (pads[i], pads[i + len(axes)], 0)
    return triples, fill


def _openvino(request: Request, version: int) -> Parts:
    kinds = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    begins, ends = (_integers(_at(request, i), *kinds) for i in (1, 2))
    check(len(begins) == len(ends) == request.data.ndim, "P8")
    return [(b, e, 0) for b, e in zip(begins, ends)], _at(request, 3)


def _ngraph(request: Request, version: int) -> Parts:
    given = request.attributes
    interior = list(given.get("padding_interior", [0] * request.data.ndim))
    below, above = list(given["padding_below"]), list(given["padding_above"])
    check(len(below) == len(above) == len(interior) == request.data.ndim, "P8")
    return list(zip(below, above, interior)), _at(request, 1)


def _same(request: Request, version: int) -> Parts:
    given, shape = request.attributes, request.data.shape
    kernel = list(given["kernel_shape"])
    strides, dilations = (list(given.get(name, [1] * len(kernel))) for name in ("strides", "dilations"))
    check(len(kernel) == len(strides) == len(dilations) == len(shape) - 2, "S1")
    check(min([*kernel, *strides, *dilations]) >= 1, "S1")
    how = given.get("auto_pad", "SAME_UPPER")
    first = 1 if given.get("data_format", "NCHW")[-1] == "C" else 2
    triples = [(0, 0, 0)] * len(shape)
    for i, (k, s, d) in enumerate(zip(kernel, strides, dilations), first):
        n = shape[i]
        # The last window begins at (outputs - 1) strides and ends (k - 1) dilations later.
        need = ((n + s - 1) // s - 1) * s + (k - 1) * d + 1 - n if how != "VALID" else 0
        half, rest = max(need, 0) // 2, (max(need, 0) + 1) // 2
        triples[i] = (half, rest, 0) if how == "SAME_UPPER" else (rest, half, 0)
    return triples, _at(request, 1)


# The function for the amounts, the position of the fill, the attribute of the mode, and the modes (first the default).
FAMILIES = {
    "Pad": (_onnx, 2, "mode", ("constant", "reflect", "edge")),
    "OpenVINOPad": (_openvino, 3, "pad_mode", ("constant", "edge", "reflect", "symmetric")),
    "NGraphPad": (_ngraph, 1, "pad_mode", ("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC")),
    "SamePad": (_same, 1, "mode", ("constant", "edge", "reflect", "symmetric", "wrap")),
}
