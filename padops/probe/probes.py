"""Models that test whether a provider fails at a condition of ``padops/rules/conditions.json``.

A model belongs to the one condition that separates it from plain Pads; ``outcome.py`` skips a model if a rule of
another condition already holds for it. So the order of the rows matters: the conditions of most Pads come first. The
conditions "beyond all" and "sizes above" have no models: "beyond" and "rank above" hold for the same models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from padops.probe.models import Case
from padops.runtime.provider_rules import MODES

IMAGE = (1, 2, 4, 5)
AROUND = (0, 0, 1, 2, 0, 0, 1, 2)
VERSIONS = {10: 2, 11: 11, 13: 13, 21: 21, 23: 23, 24: 24, 25: 25}  # of Pad, by the opset of a model
TYPES = ("float16", "double", "int32", "int64", "uint8", "bool", "int8", "int16", "uint16", "uint32", "uint64")
IN_EVERY_MODE = TYPES[:6]
LIMITED = ("below", "above", "rank below", "rank above")  # conditions with a limit
RANKS = {0: (), 1: (6,), 2: (4, 5), 3: (2, 4, 5), 5: (1, 2, 3, 4, 5), 6: (1, 1, 2, 4, 5, 2)}


@dataclass(frozen=True)
class Probe:
    """One model that tests a condition."""

    case: Case  # the model
    when: str  # the condition
    number: int = 0  # the number that the condition limits: the version of Pad, or the rank of the data


def _case(mode: str, what: str, pads: tuple[int, ...] = AROUND, shape: tuple[int, ...] = IMAGE) -> Case:
    return Case(f"{mode} {what}", mode, shape, pads, 19 if mode.startswith("wrap") else 18)


def _around(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns amounts that add one element before and one behind each of the last two axes."""
    return tuple(int(axis >= len(shape) - 2) for axis in range(len(shape))) * 2


def _of_nodes() -> Iterator[Probe]:
    for mode in MODES:
        yield Probe(_case(mode, "around"), "always")
    yield Probe(replace(_case("wrap", "of n", (0, 0, 4, 5, 0, 0, 4, 5)), opset=21), "always")
    yield Probe(_case("constant", "channels", (0, 1, 0, 0, 0, 2, 0, 0)), "always")
    yield Probe(replace(_case("constant,", "fill of 1"), mode="constant", fill=(7,)), "always")
    for opset, version in VERSIONS.items():
        for mode in MODES if opset > 19 else MODES[:3]:
            case = replace(_case(mode, f"of version {version}"), opset=opset)
            yield Probe(case, "above" if opset > 19 else "below", version)


def _of_data() -> Iterator[Probe]:
    for mode in MODES:
        yield Probe(replace(_case(mode, "of open rank"), given=("rank",)), "open rank")
    for rank, shape in RANKS.items():
        for mode in MODES if rank else MODES[:3]:
            case = _case(mode, f"of rank {rank}", _around(shape), shape)
            yield Probe(case, "rank below" if rank < len(IMAGE) else "rank above", rank)
    for name in TYPES:
        for mode in MODES if name in IN_EVERY_MODE else MODES[:1]:
            yield Probe(replace(_case(mode, f"of {name}"), type=name, doubled=True), "other types")
    for mode in MODES:
        yield Probe(replace(_case(mode, "of open dims"), given=("dims",)), "open dims")


def _of_axes() -> Iterator[Probe]:
    for mode in MODES:
        yield Probe(replace(_case(mode, "all axes"), axes=(0, 1, 2, 3)), "axes")
    for mode in MODES:
        yield Probe(replace(_case(mode, "some axes", (1, 2, 1, 2)), axes=(2, 3)), "axes but all")
    for mode in MODES:
        case = replace(_case(mode, "axes in another order", (1, 0, 0, 2, 0, 0), (2, 3, 4)), axes=(2, 1, 0))
        yield Probe(case, "axes turned")
    yield Probe(replace(_case("constant", "all axes and a fill"), axes=(0, 1, 2, 3), fill=(7,)), "axes and fill")


def _of_amounts() -> Iterator[Probe]:
    for mode in MODES:
        yield Probe(replace(_case(mode, "of given amounts"), given=("pads",)), "computed")
    for mode in MODES:
        yield Probe(replace(_case(mode, "of given axes"), axes=(0, 1, 2, 3), given=("axes",)), "computed")
    yield Probe(_case("constant", "crop", (0, 0, -1, 2, 0, 0, 1, -2)), "crop")
    yield from (Probe(_case(mode, "crop", (0, 0, -1, 1, 0, 0, 1, -1)), "crop") for mode in MODES[1:])
    for mode in MODES:
        yield Probe(_case(mode, "of nothing", (0, 0, 0, 2, 0, 0, 0, 2), (1, 2, 0, 5)), "empty")
    yield from (Probe(_case(mode, "to nothing", (0, 0, -4, 0, 0, 0, 0, 0)), "empty") for mode in ("constant", "edge"))
    yield Probe(_case("reflect", "beyond n - 1", (0, 0, 5, 0, 0, 0, 4, 0)), "beyond")
    yield Probe(_case("wrap", "beyond n", (0, 0, 5, 0, 0, 0, 9, 0)), "beyond")
    for mode in ("reflect", "wrap"):
        yield Probe(_case(mode, "far beyond", (0, 0, 0, 0, 0, 0, 0, 16)), "beyond")
        yield Probe(_case(mode, "crop beyond", (0, 0, -2, 0, 0, 0, 3, 0)), "crop beyond")
    for mode in MODES:
        yield Probe(_case(mode, "of one", (0, 0, 1, 0, 0, 0, 1, 0), (1, 2, 1, 5)), "single")
    for mode in MODES:
        yield Probe(_case(mode, "of an empty axis", (0, 0, 1, 0, 0, 0, 1, 0), (0, 2, 0, 5)), "empty axis")
    yield Probe(_case("constant", "cut beyond", (0, 0, -5, 0, 0, 0, 3, 0)), "cut beyond")
    yield Probe(_case("constant", "cut away", (0, 0, -4, 0, 0, 0, 3, 0)), "cut away")


def _of_neighbours() -> Iterator[Probe]:
    for mode in MODES:
        yield Probe(replace(_case(mode, "in a branch"), in_body=True), "in a body")
    for mode in MODES:
        case = replace(_case(mode, "some axes among Convs", (1, 2, 1, 2)), axes=(2, 3), behind="Conv", before="Conv")
        yield Probe(case, "axes beside")
    for mode in MODES:
        yield Probe(replace(_case(mode, "before Conv"), behind="Conv"), "nodes behind")


def _of_fills() -> Iterator[Probe]:
    for mode in MODES[1:]:
        yield Probe(replace(_case(mode, "all axes, fill of 2"), axes=(0, 1, 2, 3), fill=(7, 8)), "fill not one")
    for mode in MODES[1:]:
        yield Probe(replace(_case(f"{mode},", "fill of 2"), mode=mode, fill=(7, 8)), "bare fill not one")
    for mode in MODES[1:]:
        yield Probe(replace(_case(mode, "fill of 0"), fill=()), "fill empty")
    given = replace(_case("constant", "given fill"), fill=(7,), given=("fill",))
    yield Probe(given, "computed fill")
    yield Probe(replace(given, name="constant given scalar fill", scalar=True), "computed scalar fill")
    fills = replace(_case("constant", "negative zero"), fill=(-0.0,), doubled=True)
    yield Probe(fills, "rounded fill")
    yield Probe(replace(fills, name="constant fill of 25 bits", fill=(16777217,), type="int32"), "rounded fill")
    for value in ("nan", "inf"):
        case = replace(_case("constant", f"value {value}"), opset=10, value=float(value), doubled=True)
        yield Probe(case, "endless value")


PROBES = (*_of_nodes(), *_of_data(), *_of_axes(), *_of_amounts(), *_of_neighbours(), *_of_fills())
