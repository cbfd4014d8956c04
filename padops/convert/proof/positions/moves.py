"""ONNX operators that move elements, on arrays of elements or of ids.

Each does what ONNX defines, and fails where ONNX defines no result: an input that the original cannot run proves
nothing, and the converted model must run all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from padops.convert.proof.believing import ENDLESS
from padops.convert.proof.result import Fails, Unsupported
from padops.plural import plural

MOST_ELEMENTS = 1 << 28  # elements of any tensor made here; a proof's own limits are lower

Attribute = Callable[[str, Any], Any]
Integers = Callable[[int], list[int] | None]


class Move:
    """An operator that moves data. ``integers`` returns an input's elements by its index; None if it is absent."""

    def __init__(self, op: str, version: int, attribute: Attribute, integers: Integers) -> None:
        self.op, self.version, self.attribute, self._integers = op, version, attribute, integers

    def listed(self, name: str, index: int, since: int) -> list[int] | None:
        """Integers that are the input ``index`` from version ``since`` on, and an attribute before; None if absent."""
        if self.version >= since:
            return self._integers(index)
        found = self.attribute(name, None)
        return None if found is None else [int(value) for value in found]

    def axis(self, value: int, rank: int) -> int:
        """An axis, counted from 0.

        Raises:
            Fails: There is no such axis.
        """
        if not -rank <= value < rank:
            raise Fails(f"{self.op} along axis {value} of rank {rank}")
        return value % rank

    def axes(self, values: Sequence[int], rank: int) -> list[int]:
        """Axes, counted from 0, each at most once.

        Raises:
            Fails: There is no such axis, or it is named twice.
        """
        found = [self.axis(value, rank) for value in values]
        if len(set(found)) != len(found):
            raise Fails(f"{self.op} along axes {list(values)}, of which two are one")
        return found


def _reshape(node: Move, data: np.ndarray) -> np.ndarray:
    """Reshape: 0 keeps a dim (without ``allowzero``); -1 is inferred."""
    wanted = node.listed("shape", 1, 5)
    if wanted is None:
        raise Fails("Reshape without a shape")
    dims = list(wanted)
    if not node.attribute("allowzero", 0):
        if any(dim == 0 and index >= data.ndim for index, dim in enumerate(dims)):
            raise Fails(f"Reshape of rank {data.ndim} to {wanted}")
        dims = [data.shape[index] if dim == 0 else dim for index, dim in enumerate(dims)]
    if min(dims, default=0) < -1 or dims.count(-1) > 1 or (-1 in dims and node.attribute("allowzero", 0) and 0 in dims):
        raise Fails(f"Reshape to {wanted}")
    if -1 in dims:
        others = prod(dim for dim in dims if dim != -1)
        if not others or data.size % others:
            raise Fails(f"Reshape of {list(data.shape)} to {wanted}")
        dims[dims.index(-1)] = data.size // others
    if prod(dims) != data.size:
        raise Fails(f"Reshape of {list(data.shape)} to {wanted}")
    return data.reshape(dims)


def _slice(node: Move, data: np.ndarray) -> np.ndarray:
    """Slice; bounds are clamped."""
    starts, ends, axes = (node.listed(name, index, 10) for index, name in enumerate(("starts", "ends", "axes"), 1))
    if starts is None or ends is None:
        raise Fails("Slice without starts or ends")
    steps = node.listed("steps", 4, 10) or [1] * len(starts)
    chosen = node.axes(range(len(starts)) if axes is None else axes, data.ndim)
    if not len(starts) == len(ends) == len(chosen) == len(steps):
        raise Fails("Slice with lists of several lengths")
    cuts = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, chosen, steps):
        size = data.shape[axis]
        if step < 0 and end in ENDLESS:
            raise Unsupported("a Slice backward to the largest integer, which runtimes do not agree on")
        start, end = (value + size if value < 0 else value for value in (start, end))
        if step > 0:
            cuts[axis] = slice(min(max(start, 0), size), min(max(end, 0), size), step)
        elif step < 0:
            start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
            cuts[axis] = slice(start, end if end >= 0 else None, step) if size else slice(0, 0)
            if start <= end:
                cuts[axis] = slice(0, 0)
        else:
            raise Fails("Slice with a step of 0")
    return np.asarray(data[tuple(cuts)])


def _transpose(node: Move, data: np.ndarray) -> np.ndarray:
    """Transpose; without ``perm`` it reverses the axes."""
    order = node.attribute("perm", None)
    if order is None:
        return np.asarray(data.transpose())
    if sorted(order) != list(range(data.ndim)):
        raise Fails(f"Transpose of rank {data.ndim} by {list(order)}")
    return np.asarray(data.transpose(order))


def _unsqueeze(node: Move, data: np.ndarray) -> np.ndarray:
    axes = node.listed("axes", 1, 13)
    if axes is None:
        raise Fails("Unsqueeze without axes")
    return np.expand_dims(data, tuple(sorted(node.axes(axes, data.ndim + len(axes)))))


def _squeeze(node: Move, data: np.ndarray) -> np.ndarray:
    """Squeeze; without axes, of all dims of 1. With an empty list of axes, runtimes squeeze all or none."""
    axes = node.listed("axes", 1, 13)
    if axes is not None and not len(axes):
        raise Unsupported("Squeeze with an empty list of axes")
    chosen = [axis for axis, dim in enumerate(data.shape) if dim == 1] if axes is None else node.axes(axes, data.ndim)
    if any(data.shape[axis] != 1 for axis in chosen):
        raise Fails(f"Squeeze of {list(data.shape)} along axes {chosen}")
    return data.reshape([dim for axis, dim in enumerate(data.shape) if axis not in chosen])


def _flatten(node: Move, data: np.ndarray) -> np.ndarray:
    axis = node.attribute("axis", 1)
    if not -data.ndim <= axis <= data.ndim:
        raise Fails(f"Flatten at axis {axis} of rank {data.ndim}")
    axis += data.ndim if axis < 0 else 0
    return data.reshape(prod(data.shape[:axis]), prod(data.shape[axis:]))


def _expand(node: Move, data: np.ndarray) -> np.ndarray:
    """Expand: both shapes are broadcast."""
    wanted = node.listed("shape", 1, 8)
    if wanted is None or min(wanted, default=0) < 0:
        raise Fails(f"Expand to {wanted}")
    if prod(max(size, 1) for size in wanted) > MOST_ELEMENTS:
        raise Unsupported(f"Expand to {wanted} is too large")
    try:
        return np.broadcast_to(data, np.broadcast_shapes(data.shape, tuple(wanted)))
    except ValueError:
        raise Fails(f"Expand of {list(data.shape)} to {wanted}") from None


def _tile(node: Move, data: np.ndarray) -> np.ndarray:
    """Tile, from its version 6 on."""
    repeats = node.listed("repeats", 1, 6)
    if repeats is None:
        raise Unsupported("Tile of version 1")
    if len(repeats) != data.ndim or min(repeats, default=0) < 0:
        raise Fails(f"Tile of rank {data.ndim} by {repeats}")
    if data.size * prod(repeats) > MOST_ELEMENTS:
        raise Unsupported(f"Tile of {list(data.shape)} by {repeats} is too large")
    return np.tile(data, repeats)


def concat(node: Move, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Concat of ``parts``.

    Raises:
        Fails: Their shapes do not fit.
    """
    axis = node.axis(node.attribute("axis", 1 if node.version < 4 else None), parts[0].ndim)
    if len({(*part.shape[:axis], *part.shape[axis + 1 :]) for part in parts}) != 1:
        raise Fails(f"Concat of the shapes {[list(part.shape) for part in parts]} along axis {axis}")
    return np.concatenate(parts, axis)


def split(node: Move, data: np.ndarray, outputs: int, index: int) -> np.ndarray:
    """One output of Split.

    Raises:
        Fails: The lengths do not fit.
    """
    axis = node.axis(node.attribute("axis", 0), data.ndim)
    size, lengths = data.shape[axis], node.listed("split", 1, 13)
    if lengths is None:
        if size % outputs and node.version < 18:
            raise Fails(f"Split of {plural(size, 'element')} into {outputs} equal parts")
        length = -(-size // outputs)
        lengths = [length] * (outputs - 1) + [size - length * (outputs - 1)]
    if len(lengths) != outputs or sum(lengths) != size or min(lengths) < 0:
        raise Fails(f"Split of {plural(size, 'element')} into {lengths}")
    start = sum(lengths[:index])
    return data[(slice(None),) * axis + (slice(start, start + lengths[index]),)]


def _blocks(node: Move, data: np.ndarray) -> np.ndarray:
    """DepthToSpace and SpaceToDepth."""
    size = node.attribute("blocksize", 0)
    if data.ndim != 4 or size < 1:
        raise Fails(f"{node.op} of rank {data.ndim} with blocks of {size}")
    batch, depth, height, width = data.shape
    if node.op == "SpaceToDepth":
        if height % size or width % size:
            raise Fails(f"SpaceToDepth of {list(data.shape)} with blocks of {size}")
        cut = data.reshape(batch, depth, height // size, size, width // size, size).transpose(0, 3, 5, 1, 2, 4)
        return np.asarray(cut.reshape(batch, depth * size * size, height // size, width // size))
    if depth % (size * size):
        raise Fails(f"DepthToSpace of {list(data.shape)} with blocks of {size}")
    rest = depth // (size * size)
    if node.attribute("mode", b"DCR") == b"DCR":
        cut = data.reshape(batch, size, size, rest, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        cut = data.reshape(batch, rest, size, size, height, width).transpose(0, 1, 4, 2, 5, 3)
    return np.asarray(cut.reshape(batch, rest, height * size, width * size))


# Operators of one data input; other inputs are integers.
PLAIN: dict[str, Callable[[Move, np.ndarray], np.ndarray]] = {
    "DepthToSpace": _blocks,
    "Expand": _expand,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Slice": _slice,
    "SpaceToDepth": _blocks,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
