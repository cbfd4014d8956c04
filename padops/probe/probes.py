"""Models that test whether a provider fails at a condition of ``padops/rules/conditions.json``.

A model belongs to the one condition that separates it from plain Pads; ``outcome.py`` skips a model if a rule of
another condition already holds for it. So the order of the rows matters: the conditions of most Pads come first. The
conditions "beyond all" and "sizes above" have no models: "beyond" and "rank above" hold for the same models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from padops.probe.models import Case
from padops.runtime.provider_rules import MODES

CONSTANT, WRAP, EXTENDING = MODES[:1], MODES[3:], MODES[1:]
IMAGE = (1, 2, 4, 5)
AROUND = (0, 0, 1, 2, 0, 0, 1, 2)
VERSIONS = {10: 2, 11: 11, 13: 13, 21: 21, 23: 23, 24: 24, 25: 25}  # of Pad, by the opset of a model
TYPES = ("float16", "double", "int32", "int64", "uint8", "bool", "int8", "int16", "uint16", "uint32", "uint64")
IN_EVERY_MODE = TYPES[:6]
LIMITED = ("below", "above", "rank below", "rank above")  # conditions with a limit
RANKS = {0: (), 1: (6,), 2: (4, 5), 3: (2, 4, 5), 5: (1, 2, 3, 4, 5), 6: (1, 1, 2, 4, 5, 2)}


def _each(
    what: str,
    when: str,
    modes: Sequence[str] = MODES,
    pads: tuple[int, ...] = AROUND,
    shape: tuple[int, ...] = IMAGE,
    **others: Any,
) -> Iterator[Case]:
    """Yields a model of a condition for each mode; ``others`` are further fields."""
    for mode in modes:
        fields = {"opset": 19 if mode == "wrap" else 18, **others}
        yield Case(f"{mode}{what}", mode, shape, pads, when=when, **fields)


def _of_nodes() -> Iterator[Case]:
    yield from _each(" around", "always")
    yield from _each(" of n", "always", WRAP, (0, 0, 4, 5, 0, 0, 4, 5), opset=21)
    yield from _each(" channels", "always", CONSTANT, (0, 1, 0, 0, 0, 2, 0, 0))
    yield from _each(", fill of 1", "always", CONSTANT, fill=(7,))
    for opset, version in VERSIONS.items():
        modes, when = (MODES, "above") if opset > 19 else (MODES[:3], "below")
        yield from _each(f" of version {version}", when, modes, number=version, opset=opset)


def _of_data() -> Iterator[Case]:
    yield from _each(" of open rank", "open rank", given=("rank",))
    for rank, shape in RANKS.items():
        # One more element before and behind each of the last two axes.
        pads = tuple(int(axis >= rank - 2) for axis in range(rank)) * 2
        when = "rank below" if rank < len(IMAGE) else "rank above"
        yield from _each(f" of rank {rank}", when, MODES if rank else MODES[:3], pads, shape, number=rank)
    for name in TYPES:
        modes = MODES if name in IN_EVERY_MODE else CONSTANT
        yield from _each(f" of {name}", "other types", modes, type=name, doubled=True)
    yield from _each(" of open dims", "open dims", given=("dims",))


def _of_axes() -> Iterator[Case]:
    yield from _each(" all axes", "axes", axes=(0, 1, 2, 3))
    yield from _each(" some axes", "axes but all", pads=(1, 2, 1, 2), axes=(2, 3))
    yield from _each(" axes in another order", "axes turned", MODES, (1, 0, 0, 2, 0, 0), (2, 3, 4), axes=(2, 1, 0))
    yield from _each(" all axes and a fill", "axes and fill", CONSTANT, axes=(0, 1, 2, 3), fill=(7,))


def _of_amounts() -> Iterator[Case]:
    yield from _each(" of given amounts", "computed", given=("pads",))
    yield from _each(" of given axes", "computed", axes=(0, 1, 2, 3), given=("axes",))
    yield from _each(" crop", "crop", CONSTANT, (0, 0, -1, 2, 0, 0, 1, -2))
    yield from _each(" crop", "crop", EXTENDING, (0, 0, -1, 1, 0, 0, 1, -1))
    yield from _each(" of nothing", "empty", MODES, (0, 0, 0, 2, 0, 0, 0, 2), (1, 2, 0, 5))
    yield from _each(" to nothing", "empty", ("constant", "edge"), (0, 0, -4, 0, 0, 0, 0, 0))
    yield from _each(" beyond n - 1", "beyond", ("reflect",), (0, 0, 5, 0, 0, 0, 4, 0))
    yield from _each(" beyond n", "beyond", WRAP, (0, 0, 5, 0, 0, 0, 9, 0))
    for mode in ("reflect", "wrap"):
        yield from _each(" far beyond", "beyond", (mode,), (0, 0, 0, 0, 0, 0, 0, 16))
        yield from _each(" crop beyond", "crop beyond", (mode,), (0, 0, -2, 0, 0, 0, 3, 0))
    yield from _each(" of one", "single", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (1, 2, 1, 5))
    yield from _each(" of an empty axis", "empty axis", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (0, 2, 0, 5))
    yield from _each(" cut beyond", "cut beyond", CONSTANT, (0, 0, -5, 0, 0, 0, 3, 0))
    yield from _each(" cut away", "cut away", CONSTANT, (0, 0, -4, 0, 0, 0, 3, 0))


def _of_neighbours() -> Iterator[Case]:
    yield from _each(" in a branch", "in a body", in_body=True)
    among: dict[str, Any] = {"axes": (2, 3), "behind": "Conv", "before": "Conv"}
    yield from _each(" some axes among Convs", "axes beside", pads=(1, 2, 1, 2), **among)
    yield from _each(" before Conv", "nodes behind", behind="Conv")


def _of_fills() -> Iterator[Case]:
    yield from _each(" all axes, fill of 2", "fill not one", EXTENDING, axes=(0, 1, 2, 3), fill=(7, 8))
    yield from _each(", fill of 2", "bare fill not one", EXTENDING, fill=(7, 8))
    yield from _each(" fill of 0", "fill empty", EXTENDING, fill=())
    yield from _each(" given fill", "computed fill", CONSTANT, fill=(7,), given=("fill",))
    yield from _each(" given scalar fill", "computed scalar fill", CONSTANT, fill=(7,), given=("fill",), scalar=True)
    yield from _each(" negative zero", "rounded fill", CONSTANT, fill=(-0.0,), doubled=True)
    yield from _each(" fill of 25 bits", "rounded fill", CONSTANT, fill=(16777217,), doubled=True, type="int32")
    for value in ("nan", "inf"):
        yield from _each(f" value {value}", "endless value", CONSTANT, opset=10, value=float(value), doubled=True)


PROBES = (*_of_nodes(), *_of_data(), *_of_axes(), *_of_amounts(), *_of_neighbours(), *_of_fills())
