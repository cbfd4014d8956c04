"""Finds the Pad of one axis that equals a map, for every size that the axis may have.

- **The size is known.** The map is written out and compared with the Pad's map (P2), position by position.
- **The size is unknown.** If all bounds of a map are within ``reach`` of either end, then from size 2 reach on, one
  element more only adds one element to the map's middle; likewise for the Pad's map. So two sizes beyond 2 reach decide
  all longer ones. Every shorter size, 0 included, is compared by itself. Sizes for which the nodes fail need no
  comparison: Expand refuses an axis without an edge, as Pad does.
- **Some sizes are too short.** There a Slice gives fewer elements, while a Pad repeats them or refuses. So circular and
  mirrored data of any size are Pads with amounts of at most n and n - 1; these are compared in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from padops.convert.sources.emulated.maps import FILL, LONGEST, Fails, Map, positions, reach
from padops.spec.plan import AxisPlan, Mode, source_index

MOST_SIZES = 128  # the largest reach for which all sizes are compared

# If several modes give the same, the first counts.
MODES = (Mode.WRAP, Mode.REFLECT, Mode.EDGE, Mode.SYMMETRIC)


@dataclass(frozen=True)
class AxisPad:
    """A Pad of one axis.

    Attributes:
        mode: Its mode.
        begin: Elements in front.
        end: Elements behind.
        differs: The greatest possible size for which the nodes do something else; None if there is none.
        spared: With ``differs``: if the nodes equal, for any size n, the Pad with amounts of at most n - spared, this
            number (0 or 1); else None.
    """

    mode: Mode
    begin: int
    end: int
    differs: int | None = None
    spared: int | None = None

    def of_size(self, size: int, spared: int) -> AxisPad:
        """The same Pad with amounts of at most ``size - spared``."""
        most = max(size - spared, 0)
        return AxisPad(self.mode, min(self.begin, most), min(self.end, most))


def find_pad(shown: Map, size: int | None) -> AxisPad | None:
    """The Pad that equals a map, for the axis's ``size``, or from some size on if ``size`` is None; else None."""
    probe = size
    if probe is None:
        bound = reach(shown)
        if bound is None or bound > MOST_SIZES:
            return None
        probe = 4 * bound + 8
    if probe > LONGEST:
        return None
    try:
        found = positions(shown, probe)
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
        return _is(pad, positions(shown, size), size)
    except Fails:
        return True
