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
TYPES = ("float16", "double", "int32", "int64", "uint8", "bool", "int8", "int16", "uint16", "uint32", "uint64")
IN_EVERY_MODE = TYPES[:6]
LIMITED = ("below", "above", "rank below", "rank above")  # conditions with a limit


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


PROBES = (
    *_each(" around", "always"),
    *_each(" of n", "always", WRAP, (0, 0, 4, 5, 0, 0, 4, 5), opset=21),
    *_each(" channels", "always", CONSTANT, (0, 1, 0, 0, 0, 2, 0, 0)),
    *_each(", fill of 1", "always", CONSTANT, fill=(7,)),
    *_each(" of version 2", "below", MODES[:3], number=2, opset=10),
    *(case for n in (11, 13) for case in _each(f" of version {n}", "below", MODES[:3], number=n, opset=n)),
    *(case for n in (21, 23, 24, 25) for case in _each(f" of version {n}", "above", number=n, opset=n)),
    *_each(" of open rank", "open rank", given=("rank",)),
    # One more element before and behind each of the last two axes.
    *_each(" of rank 0", "rank below", MODES[:3], (), (), number=0),
    *_each(" of rank 1", "rank below", MODES, (1, 1), (6,), number=1),
    *_each(" of rank 2", "rank below", MODES, (1, 1, 1, 1), (4, 5), number=2),
    *_each(" of rank 3", "rank below", MODES, (0, 1, 1) * 2, (2, 4, 5), number=3),
    *_each(" of rank 5", "rank above", MODES, (0, 0, 0, 1, 1) * 2, (1, 2, 3, 4, 5), number=5),
    *_each(" of rank 6", "rank above", MODES, (0, 0, 0, 0, 1, 1) * 2, (1, 1, 2, 4, 5, 2), number=6),
    *(case for name in IN_EVERY_MODE for case in _each(f" of {name}", "other types", type=name, doubled=True)),
    *(case for name in TYPES[6:] for case in _each(f" of {name}", "other types", CONSTANT, type=name, doubled=True)),
    *_each(" of open dims", "open dims", given=("dims",)),
    *_each(" all axes", "axes", axes=(0, 1, 2, 3)),
    *_each(" some axes", "axes but all", pads=(1, 2, 1, 2), axes=(2, 3)),
    *_each(" axes in another order", "axes turned", MODES, (1, 0, 0, 2, 0, 0), (2, 3, 4), axes=(2, 1, 0)),
    *_each(" all axes and a fill", "axes and fill", CONSTANT, axes=(0, 1, 2, 3), fill=(7,)),
    *_each(" of given amounts", "computed", given=("pads",)),
    *_each(" of given axes", "computed", axes=(0, 1, 2, 3), given=("axes",)),
    *_each(" crop", "crop", CONSTANT, (0, 0, -1, 2, 0, 0, 1, -2)),
    *_each(" crop", "crop", EXTENDING, (0, 0, -1, 1, 0, 0, 1, -1)),
    *_each(" of nothing", "empty", MODES, (0, 0, 0, 2, 0, 0, 0, 2), (1, 2, 0, 5)),
    *_each(" to nothing", "empty", ("constant", "edge"), (0, 0, -4, 0, 0, 0, 0, 0)),
    *_each(" beyond n - 1", "beyond", ("reflect",), (0, 0, 5, 0, 0, 0, 4, 0)),
    *_each(" beyond n", "beyond", WRAP, (0, 0, 5, 0, 0, 0, 9, 0)),
    *_each(" far beyond", "beyond", ("reflect", "wrap"), (0, 0, 0, 0, 0, 0, 0, 16)),
    *_each(" crop beyond", "crop beyond", ("reflect", "wrap"), (0, 0, -2, 0, 0, 0, 3, 0)),
    *_each(" of one", "single", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (1, 2, 1, 5)),
    *_each(" of an empty axis", "empty axis", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (0, 2, 0, 5)),
    *_each(" cut beyond", "cut beyond", CONSTANT, (0, 0, -5, 0, 0, 0, 3, 0)),
    *_each(" cut away", "cut away", CONSTANT, (0, 0, -4, 0, 0, 0, 3, 0)),
    *_each(" in a branch", "in a body", in_body=True),
    *_each(" some axes among Convs", "axes beside", MODES, (1, 2) * 2, axes=(2, 3), behind="Conv", before="Conv"),
    *_each(" before Conv", "nodes behind", behind="Conv"),
    *_each(" all axes, fill of 2", "fill not one", EXTENDING, axes=(0, 1, 2, 3), fill=(7, 8)),
    *_each(", fill of 2", "bare fill not one", EXTENDING, fill=(7, 8)),
    *_each(" fill of 0", "fill empty", EXTENDING, fill=()),
    *_each(" given fill", "computed fill", CONSTANT, fill=(7,), given=("fill",)),
    *_each(" given scalar fill", "computed scalar fill", CONSTANT, fill=(7,), given=("fill",), scalar=True),
    *_each(" negative zero", "rounded fill", CONSTANT, fill=(-0.0,), doubled=True),
    *_each(" fill of 25 bits", "rounded fill", CONSTANT, fill=(16777217,), doubled=True, type="int32"),
    *_each(" value nan", "endless value", CONSTANT, opset=10, value=float("nan"), doubled=True),
    *_each(" value inf", "endless value", CONSTANT, opset=10, value=float("inf"), doubled=True),
)
