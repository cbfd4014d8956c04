"""Where cases come from: one file for each origin, with ``cases(…)`` and ``find_case(id)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from padops.conformance.case import Case
from padops.conformance.cases import drawn, specification, table, upstream
from padops.spec.dialects import OPS


@dataclass(frozen=True)
class Level:
    """How many cases: of each operator, mode and type; of each operator, mode and kind of amounts; drawn ones of each
    operator."""

    by_type: int
    by_signs: int
    drawn: int


LEVELS = {"quick": Level(1, 1, 10), "default": Level(3, 4, 60), "exhaustive": Level(30, 60, 1000)}


def collect(level: str, seed: int = 0, always: Iterable[str] = ()) -> list[Case]:
    """The cases of a level, and those with the ids ``always``; a lower level is a part of a higher one."""
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
    """The case of an id.

    Raises:
        ValueError: No case has it.
    """
    origin = id.split("/")[0]
    if origin not in _ORIGINS:
        raise ValueError(f"no case is called {id!r}: its first word is none of {', '.join(_ORIGINS)}")
    case: Case = _ORIGINS[origin].find_case(id)
    return case


_ORIGINS = {"table": table, "specification": specification, "random": drawn, "upstream": upstream}
