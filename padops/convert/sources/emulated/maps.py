"""Maps: expressions that give, for any size of an axis, which positions of the data a value shows along this axis.

The nodes that emulate a Pad only copy. So along the padded axis each node is a map from its own positions to positions
of the data, and the maps of successive nodes compose to one map. Two ways to write a Pad are equal if their maps are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FILL = -1  # in a map: a position that shows no data
LONGEST = 1 << 20  # the most elements of an axis for which maps are written out
UNBOUNDED = 1 << 59  # longer than any axis (P10): as a bound of a Slice, the end of the axis


class Fails(Exception):
    """The nodes fail for this size."""


@dataclass(frozen=True)
class Data:
    """The data themselves."""


@dataclass(frozen=True)
class Sliced:
    """A Slice of a map."""

    of: Map
    start: int
    end: int
    step: int


@dataclass(frozen=True)
class Taken:
    """A Gather from a map."""

    of: Map
    indices: tuple[int, ...]


@dataclass(frozen=True)
class Expanded:
    """An Expand of a map."""

    of: Map
    size: int


@dataclass(frozen=True)
class Tiled:
    """A Tile of a map."""

    of: Map
    times: int


@dataclass(frozen=True)
class Filled:
    """A block of one value."""

    size: int


@dataclass(frozen=True)
class Joined:
    """A Concat of maps."""

    parts: Sequence[Map]


Map = Data | Sliced | Taken | Expanded | Tiled | Filled | Joined


def positions(shown: Map, size: int) -> np.ndarray:
    """The position of the data that each element shows, or ``FILL``, for data of ``size`` elements.

    Raises:
        Fails: The nodes fail for this size, or make far more than a Pad.
    """
    if isinstance(shown, Data):
        return np.arange(size)
    if isinstance(shown, Filled):
        _check_size(shown.size)
        return np.full(shown.size, FILL)
    if isinstance(shown, Joined):
        return np.concatenate([positions(part, size) for part in shown.parts])
    inner = positions(shown.of, size)
    if isinstance(shown, Sliced):
        return np.take(inner, _sliced(shown, len(inner)))
    if isinstance(shown, Taken):
        indices = np.array(shown.indices, np.int64)
        if indices.size and not -len(inner) <= indices.min() <= indices.max() < len(inner):
            raise Fails
        return np.take(inner, indices)
    if isinstance(shown, Tiled):
        _check_size(len(inner) * shown.times)
        return np.tile(inner, shown.times)
    if len(inner) != 1 and shown.size not in (1, len(inner)):
        raise Fails
    _check_size(shown.size)
    return np.repeat(inner, shown.size) if len(inner) == 1 else inner


def reach(shown: Map) -> int | None:
    """The distance from either end of the data within which the bounds of a map lie; None if there is no such distance.

    A bound of Slice counts from one end or the other. So from size 2 reach on, no bound is clamped and no two bounds
    cross: one element more only makes the middle longer.
    """
    if isinstance(shown, (Data, Filled)):
        return 0
    if isinstance(shown, Joined):
        parts = [reach(part) for part in shown.parts]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None
    inner = reach(shown.of)
    if inner is None:
        return None
    if isinstance(shown, Sliced):
        bounds = [abs(bound) for bound in (shown.start, shown.end) if abs(bound) < UNBOUNDED]
        return inner + sum(bounds) if shown.step in (1, -1) else None
    if isinstance(shown, Taken):
        return inner + max((abs(index) for index in shown.indices), default=0) + 1
    return inner


def _sliced(shown: Sliced, size: int) -> np.ndarray:
    """The positions that Slice takes of an axis, with its bounds clamped as ONNX specifies."""
    forward = shown.step > 0
    first, last = (0, size) if forward else (-1, size - 1)
    start, end = (bound + size if bound < 0 else bound for bound in (shown.start, shown.end))
    start = min(max(start, 0), last)  # going backward, from no lower than the first element
    return np.arange(start if size else 0, min(max(end, first), last) if size else 0, shown.step)


def _check_size(size: int) -> None:
    if not 0 <= size <= LONGEST:
        raise Fails
