"""What a value shows of another along one axis, as an expression that gives the positions for any size of that axis.

The nodes that emulate a Pad only copy. So along the padded axis each of them is a map from its own positions to those of the
data, and the maps of the nodes in a row make one map. Two ways to write a Pad are the same where their maps are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FILL = -1  # a position that shows none of the data
LONGEST = 1 << 20  # elements of an axis that maps are written out for
UNBOUNDED = 1 << 59  # no axis is as long (P10): a bound of a Slice from here on means its end


class Fails(Exception):
    """The nodes fail for this size."""


@dataclass(frozen=True)
class Data:
    """The data themselves."""


@dataclass(frozen=True)
class Sliced:
    """What Slice takes."""

    of: Map
    start: int
    end: int
    step: int


@dataclass(frozen=True)
class Taken:
    """What Gather takes."""

    of: Map
    indices: tuple[int, ...]


@dataclass(frozen=True)
class Expanded:
    """What Expand makes of it."""

    of: Map
    size: int


@dataclass(frozen=True)
class Tiled:
    """What Tile makes of it."""

    of: Map
    times: int


@dataclass(frozen=True)
class Filled:
    """A block of one value."""

    size: int


@dataclass(frozen=True)
class Joined:
    """What Concat makes of several."""

    parts: Sequence[Map]


Map = Data | Sliced | Taken | Expanded | Tiled | Filled | Joined


def positions(shown: Map, size: int) -> np.ndarray:
    """The position that each element shows, or ``FILL``.

    Args:
        shown: What is shown.
        size: Elements of the axis of the data.

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
    """How far from either end of the data the map depends on it; None where it is not the same at any distance.

    A bound of Slice counts from one end or the other, so from twice that size on nothing is clamped and nothing crosses:
    one more element then only makes the middle longer.
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
    """The positions that Slice takes of an axis, its bounds clamped as ONNX has it."""
    forward = shown.step > 0
    first, last = (0, size) if forward else (-1, size - 1)
    start, end = (bound + size if bound < 0 else bound for bound in (shown.start, shown.end))
    start = min(max(start, 0), last)  # going backward, from no lower than the first element
    return np.arange(start if size else 0, min(max(end, first), last) if size else 0, shown.step)


def _check_size(size: int) -> None:
    if not 0 <= size <= LONGEST:
        raise Fails
