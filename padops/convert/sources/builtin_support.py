"""Which Pads ONNX Runtime cannot run correctly by itself, for ``--select needed``.

Each rule is one function with the measured fact it stands for (onnxruntime 1.31.1, CPU; older releases can do less). A
rule speaks only of what is known without running the model; of a Pad that no rule speaks of, ``runs`` says why.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from padops.convert.sources.match import Facts
from padops.convert.sources.microsoft import DOMAIN as MICROSOFT

# Element types of the kernels, by domain and first opset; between two rows, the one before counts.
KERNELS: dict[str, dict[int, tuple[str, ...]]] = {
    "": {
        2: ("float", "double"),
        11: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64"),
        13: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64", "bool"),
    },
    MICROSOFT: {1: ("float",)},
}


def _form(facts: Facts) -> str | None:
    return "ONNX Runtime refuses a node of this form" if facts.wrong_form else None


def _opset(facts: Facts) -> str | None:
    first = min(KERNELS[facts.domain])
    return f"ONNX Runtime has no Pad of opset {facts.opset}" if facts.opset < first else None


def _type(facts: Facts) -> str | None:
    if facts.type is None:
        return "the type of its data is not known"
    versions = [since for since in KERNELS[facts.domain] if since <= facts.opset]
    if versions and facts.type in KERNELS[facts.domain][max(versions)]:
        return None
    if facts.type == "float16":
        return "ONNX Runtime casts float16 to float and back"
    return f"ONNX Runtime has no Pad of {facts.type} at opset {facts.opset}"


def _axes(facts: Facts) -> str | None:
    if facts.axes is not None and facts.axes.dtype.name == "int32":
        return "ONNX Runtime refuses constant axes of type int32"
    return None


def _rank(facts: Facts) -> str | None:
    return "ONNX Runtime refuses data of rank 0" if facts.shape == [] else None


def _fill(facts: Facts) -> str | None:
    if facts.mode == "constant" or facts.fill_shape is None or None in facts.fill_shape or prod(facts.fill_shape) == 1:
        return None
    return (
        f"ONNX Runtime refuses a fill of {prod(facts.fill_shape)} elements, which mode {facts.mode} does not even read"
    )


def _reach(facts: Facts) -> str | None:
    """Of an axis with amounts b and e, reflect takes at most m - 1, where m = n + min(b, 0) + min(e, 0)."""
    if facts.mode == "constant" or facts.shape is None or facts.pads is None:
        return None
    for axis, begin, end in _amounts(facts):
        size = facts.shape[axis]
        if facts.mode == "reflect" and begin * end < 0:
            return f"ONNX Runtime reads out of bounds before 1.25 (axis {axis}: reflect {begin}, {end})"
        if size is None:
            continue
        left = size + min(begin, 0) + min(end, 0)
        if facts.mode == "reflect" and max(begin, end) > left - 1 and max(begin, end) > 0:
            return f"ONNX Runtime refuses to reflect more than once (axis {axis}: {begin}, {end} of {size} elements)"
        if begin + size + end == 0 and size:
            return f"ONNX Runtime refuses to crop axis {axis} to nothing in mode {facts.mode}"
    return None


def _amounts(facts: Facts) -> list[tuple[int, int, int]]:
    """Axis, begin and end of each axis that the node pads, or nothing where they do not fit together."""
    rank, pads = len(facts.shape), facts.pads.reshape(-1).tolist()
    if facts.has_axes and facts.axes is None:
        return []
    axes = [int(axis) for axis in facts.axes.reshape(-1)] if facts.axes is not None else list(range(rank))
    if len(pads) != 2 * len(axes) or not all(-rank <= axis < rank for axis in axes):
        return []
    return [(axis % rank, pads[i], pads[i + len(axes)]) for i, axis in enumerate(axes)]


RULES: tuple[Callable[[Facts], str | None], ...] = (_form, _opset, _type, _axes, _rank, _fill, _reach)


def needs(facts: Facts) -> str | None:
    """Why ONNX Runtime cannot be left with this Pad, or None if it can."""
    return next((reason for rule in RULES if (reason := rule(facts)) is not None), None)


def runs(facts: Facts) -> str:
    """What ONNX Runtime can be left with."""
    text = f"ONNX Runtime runs it: {facts.type}, {facts.mode or 'mode given by the caller'}"
    known = facts.pads is not None and facts.shape is not None and None not in facts.shape
    if facts.mode == "reflect" and not known:
        text += ", as long as no amount is more than the axis has elements to reflect"
    return text
