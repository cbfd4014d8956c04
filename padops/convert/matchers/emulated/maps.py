"""Maps: which positions of the data a value shows along an axis, for any size of it; and the Pad that equals a map.

The nodes that emulate a Pad only copy. So along the padded axis each node is a map from its own positions to positions
of the data, and the maps of successive nodes compose to one map. ``find_pad`` finds the Pad of one axis that equals a
map, for every size that the axis may have:

- **The size is known.** The map is written out and compared with the Pad's map (P2), position by position.
- **The size is unknown.** If all bounds of a map are within ``reach`` of either end, then from size 2 reach on, one
  element more only adds one element to the map's middle; likewise for the Pad's map. So two sizes beyond 2 reach decide
  all longer ones. Every shorter size, 0 included, is compared by itself. Sizes for which the nodes fail need no
  comparison: Expand refuses an axis without an edge, as Pad does.
- **Some sizes are too short.** There a Slice gives fewer elements, while a Pad repeats them or refuses. So circular and
  mirrored data of any size are Pads with amounts of at most n and n - 1; these are compared in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from padops.spec.plan import AxisPlan, Mode, source_index

FILL = -1  # in a map: a position that shows no data
LONGEST = 1 << 20  # the most elements of an axis for which maps are written out
UNBOUNDED = 1 << 59  # longer than any axis (P10): as a bound of a Slice, the end of the axis
MOST_SIZES = 128  # the largest reach for which all sizes are compared


class Fails(Exception):
    """The nodes fail for this size, or make far more than a Pad."""


@dataclass(frozen=True)
class Map:
    """A map along one axis."""

    # The position of the data that each element shows, or ``FILL``, for data of a size; raises ``Fails``.
    positions: Callable[[int], np.ndarray]
    # The distance from either end of the data within which all bounds lie; None if there is no such distance. A bound
    # of Slice counts from one end or the other. So from size 2 reach on, no bound is clamped and no two bounds cross.
    reach: int | None


DATA = Map(np.arange, 0)


def filled(size: int) -> Map:
    """A block of one value."""
    return Map(lambda _: np.full(_checked(size), FILL), 0)


def joined(parts: Sequence[Map]) -> Map:
    """A Concat of maps."""
    known = [part.reach for part in parts if part.reach is not None]
    reach = sum(known) if len(known) == len(parts) else None
    return Map(lambda size: np.concatenate([part.positions(size) for part in parts]), reach)


def sliced(of: Map, start: int, end: int, step: int) -> Map:
    """A Slice of a map, with its bounds clamped as ONNX specifies."""

    def positions(size: int) -> np.ndarray:
        inner = of.positions(size)
        count = len(inner)
        first, last = (0, count) if step > 0 else (-1, count - 1)
        begin, stop = (bound + count if bound < 0 else bound for bound in (start, end))
        begin = min(max(begin, 0), last)  # going backward, from no lower than the first element
        return inner[np.arange(begin if count else 0, min(max(stop, first), last) if count else 0, step)]

    bounds = [abs(bound) for bound in (start, end) if abs(bound) < UNBOUNDED]
    return Map(positions, None if of.reach is None or step not in (1, -1) else of.reach + sum(bounds))


def taken(of: Map, indices: Sequence[int]) -> Map:
    """A Gather from a map."""

    def positions(size: int) -> np.ndarray:
        try:
            return of.positions(size)[np.array(indices, np.int64)]
        except IndexError:
            raise Fails from None

    return Map(positions, None if of.reach is None else of.reach + max(map(abs, indices), default=0) + 1)


def expanded(of: Map, size: int) -> Map:
    """An Expand of a map."""

    def positions(of_data: int) -> np.ndarray:
        inner = of.positions(of_data)
        if len(inner) != 1 and size not in (1, len(inner)):
            raise Fails
        _checked(size)
        return np.repeat(inner, size) if len(inner) == 1 else inner

    return Map(positions, of.reach)


def tiled(of: Map, times: int) -> Map:
    """A Tile of a map."""

    def positions(size: int) -> np.ndarray:
        inner = of.positions(size)
        _checked(len(inner) * times)
        return np.tile(inner, times)

    return Map(positions, of.reach)


def _checked(size: int) -> int:
    if not 0 <= size <= LONGEST:
        raise Fails
    return size


# If several modes give the same, the first counts.
MODES = (Mode.WRAP, Mode.REFLECT, Mode.EDGE, Mode.SYMMETRIC)


@dataclass(frozen=True)
class AxisPad:
    """A Pad of one axis."""

    mode: Mode
    begin: int
    end: int
    # The greatest possible size for which the nodes do something else; None if there is none.
    differs: int | None = None
    # With ``differs``: if the nodes equal, for any size n, the Pad with amounts of at most n - spared, this number (0
    # or 1); else None.
    spared: int | None = None

    def of_size(self, size: int, spared: int) -> AxisPad:
        """The same Pad with amounts of at most ``size - spared``."""
        most = max(size - spared, 0)
        return AxisPad(self.mode, min(self.begin, most), min(self.end, most))


def find_pad(shown: Map, size: int | None) -> AxisPad | None:
    """The Pad that equals a map, for the axis's ``size``, or from some size on if ``size`` is None; else None."""
    probe = size
    if probe is None:
        if shown.reach is None or shown.reach > MOST_SIZES:
            return None
        probe = 4 * shown.reach + 8
    if probe > LONGEST:
        return None
    try:
        found = shown.positions(probe)
    except Fails:
        return None
    pad = next((pad for pad in _candidates(found, probe) if _is(pad, found, probe)), None)
    if pad is None or size is not None:
        return pad
    if not _is_or_fails(pad, shown, probe + 1):
        return None
    differs = next((fewer for fewer in range(probe - 1, -1, -1) if not _is_or_fails(pad, shown, fewer)), None)
    if differs is None:
        return pad
    sizes = range(probe + 2)
    spared = next((k for k in (0, 1) if all(_is_or_fails(pad.of_size(n, k), shown, n) for n in sizes)), None)
    return AxisPad(pad.mode, pad.begin, pad.end, differs, spared)


def _candidates(found: np.ndarray, size: int) -> Iterator[AxisPad]:
    """The Pads whose data stand where the map first shows all data."""
    added = len(found) - size
    if size == 0 or added <= 0:
        return
    starts = np.flatnonzero(found[: added + 1] == 0)
    begin = next((int(i) for i in starts if (found[i : i + size] == np.arange(size)).all()), None)
    if begin is None:
        return
    modes = (Mode.CONSTANT,) if (found == FILL).any() else MODES
    yield from (AxisPad(mode, begin, added - begin) for mode in modes)


def _is(pad: AxisPad, found: np.ndarray, size: int) -> bool:
    """Whether the map ``found`` of one size is the Pad's."""
    if len(found) != pad.begin + size + pad.end or (found[pad.begin : pad.begin + size] != np.arange(size)).any():
        return False
    if pad.mode is not Mode.CONSTANT and size == 0 < len(found):
        return False  # P5
    if pad.mode is Mode.SYMMETRIC and max(pad.begin, pad.end) > size:
        return False  # P4: OpenVINOPad_12 has this mode
    plan = AxisPlan(size, 0, size, pad.begin, 0, len(found))
    added = (*range(pad.begin), *range(pad.begin + size, len(found)))
    wanted = (source_index(plan, pad.mode, position) for position in added)
    return all(found[position] == (FILL if source is None else source) for position, source in zip(added, wanted))


def _is_or_fails(pad: AxisPad, shown: Map, size: int) -> bool:
    try:
        return _is(pad, shown.positions(size), size)
    except Fails:
        return True
