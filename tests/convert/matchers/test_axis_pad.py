"""Which maps along one axis are a Pad, for one size and for any: what ``find_pad`` says, size by size."""

from __future__ import annotations

import random

import numpy as np
import pytest

from padops.convert.matchers import maps
from padops.convert.matchers.maps import FAILS, UNBOUNDED, AxisPad, Map, Show, find_pad
from padops.spec.plan import Mode

END = 1 << 60  # the end of a Slice
DATA = Map([[]], 0)


def _then(of: Map, show: Show, more: int | None) -> Map:
    """The map of a node behind a map of one part."""
    return Map([[*of.parts[0], show]], None if of.reach is None or more is None else of.reach + more)


def filled(size: int) -> Map:
    return Map([[maps.filled(size)]], 0)


def sliced(of: Map, start: int, stop: int, step: int) -> Map:
    return _then(of, maps.sliced(start, stop, step), sum(abs(at) for at in (start, stop) if abs(at) < UNBOUNDED))


def taken(of: Map, at: tuple[int, ...]) -> Map:
    return _then(of, maps.taken(at), max(map(abs, at)) + 1)


def joined(parts: list[Map]) -> Map:
    return Map([part.parts[0] for part in parts], sum(part.reach or 0 for part in parts))


def _flipped(start: int, stop: int) -> Map:
    return sliced(sliced(DATA, start, stop, 1), -1, -END, -1)


def _shown(shown: Map, size: int) -> list[int] | None:
    try:
        return shown.positions(size).tolist()
    except FAILS:
        return None


def test_symmetric_reaches_as_far_as_the_data_and_no_further() -> None:
    """P4: of 3 elements 3 are mirrored, which OpenVINOPad_12 has; what mirrors 4 is no Pad of padops."""
    whole, more = [2, 1, 0, 0, 1, 2, 2, 1, 0], [2, 2, 1, 0, 0, 1, 2]
    assert find_pad(taken(DATA, tuple(whole)), 3) == AxisPad(Mode.SYMMETRIC, 3, 3)
    assert more == np.pad(np.arange(3), (4, 0), "symmetric").tolist()
    assert find_pad(taken(DATA, tuple(more)), 3) is None
    assert find_pad(taken(DATA, tuple(np.pad(np.arange(3), (0, 4), "symmetric").tolist())), 3) is None


@pytest.mark.parametrize("count", [7, 8, 9, 40, 200])
def test_what_is_the_data_up_to_some_size_is_none_for_any(count: int) -> None:
    """A slice that ends somewhere is the data up to there, whatever size is tried first."""
    assert find_pad(joined([filled(1), sliced(DATA, 0, count, 1)]), None) is None
    assert find_pad(joined([filled(1), sliced(DATA, 0, count, 1)]), count) == AxisPad(Mode.CONSTANT, 1, 0)


def test_blocks_alone_reach_nowhere() -> None:
    assert find_pad(joined([filled(2), DATA, filled(3)]), None) == AxisPad(Mode.CONSTANT, 2, 3)


def _drawn(rng: random.Random, depth: int = 2) -> Map:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return DATA
    if kind < 0.75:
        stop = rng.choice([rng.randint(-5, 5), END, -END])
        return sliced(_drawn(rng, depth - 1), rng.randint(-5, 5), stop, rng.choice([1, 1, -1]))
    if kind < 0.9:
        return taken(_drawn(rng, depth - 1), tuple(rng.randint(-3, 3) for _ in range(rng.randint(1, 3))))
    return filled(rng.randint(0, 3))


def _candidates() -> list[Map]:
    """Maps that are Pads, for any size or from some on, and drawn ones."""
    rng = random.Random(0)
    made: list[Map] = []
    for begin in range(4):
        for end in range(4):
            made.append(joined([_flipped(1, begin + 1), DATA, _flipped(-end - 1, -1)]))
            made.append(joined([_flipped(0, begin), DATA, _flipped(-end, END) if end else filled(0)]))
            made.append(joined([sliced(DATA, -begin, END, 1) if begin else filled(0), DATA, sliced(DATA, 0, end, 1)]))
    return made + [joined([_drawn(rng), DATA, _drawn(rng)]) for _ in range(150)]


def test_a_pad_of_any_size_is_one_for_every_size() -> None:
    """By NumPy: for all sizes above the one that is named, and not for that one."""
    found = 0
    for shown in _candidates():
        pad = find_pad(shown, None)
        if pad is None:
            continue
        found += 1
        for size in range(4 * (shown.reach or 0) + 20):
            given = _shown(shown, size)
            is_pad = given is None or (given == _of(pad, size))
            assert is_pad or (pad.differs is not None and size <= pad.differs), (shown, size)
            assert size != pad.differs or not is_pad, (shown, size)
    assert found >= 40


def _of(pad: AxisPad, size: int) -> list[int] | None:
    """The positions that NumPy pads; None where the rules have no such Pad."""
    if pad.mode is not Mode.CONSTANT and size == 0 and pad.begin + pad.end:
        return None
    if pad.mode is Mode.SYMMETRIC and max(pad.begin, pad.end) > size:
        return None
    fill = {"constant_values": -1} if pad.mode is Mode.CONSTANT else {}
    return np.pad(np.arange(size), (pad.begin, pad.end), pad.mode.value, **fill).tolist()
