"""The sources of cases: one file for each origin, with ``cases(…)`` and ``find_case(id)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from padops.conformance.case import Case
from padops.conformance.cases import drawn, specification, table, upstream
from padops.spec.dialects import OPS


@dataclass(frozen=True)
class Level:
    """The numbers of cases per operator: for each mode and type, for each mode and kind of amounts, and drawn."""

    by_type: int
    by_signs: int
    drawn: int


LEVELS = {"quick": Level(1, 1, 10), "default": Level(3, 4, 60), "exhaustive": Level(30, 60, 1000)}


def collect(level: str, seed: int = 0, always: Iterable[str] = ()) -> list[Case]:
    """Return the cases of a level, and the cases ``always``, by their ids; a higher level includes a lower level."""
    made = {case.id: case for case in (*_of_level(level, seed), *map(find_case, always))}
    return list(made.values())


@cache
def _of_level(level: str, seed: int) -> tuple[Case, ...]:
    size = LEVELS[level]
    return (
        *table.cases(list(OPS), size.by_type, size.by_signs, seed),
        *specification.cases(),
        *drawn.cases(list(OPS), size.drawn, seed),
        *upstream.cases(),
    )


def find_case(id: str) -> Case:
    """Make the case of an id.

    Raises:
        ValueError: No case has this id.
    """
    origin = id.split("/")[0]
    if origin not in _ORIGINS:
        raise ValueError(f"no case is called {id!r}: its first word is none of {', '.join(_ORIGINS)}")
    case: Case = _ORIGINS[origin].find_case(id)
    return case


_ORIGINS = {"table": table, "specification": specification, "random": drawn, "upstream": upstream}
