"""Where cases come from: one file for each origin, with ``cases(…)`` and ``find_case(id)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
    """The cases of a level; a lower level is a part of a higher one.

    Args:
        level: A key of ``LEVELS``.
        seed: Of the choice of cases.
        always: Ids of cases that are chosen at every level.
    """
    size = LEVELS[level]
    chosen = [
        *table.cases(list(OPS), size.by_type, size.by_signs, seed),
        *specification.cases(),
        *drawn.cases(list(OPS), size.drawn, seed),
        *upstream.cases(),
    ]
    made = {case.id: case for case in (*chosen, *map(find_case, always))}
    return list(made.values())


def find_case(id: str) -> Case:
    """The case of an id.

    Raises:
        ValueError: No case has it.
    """
    origin = id.split("/")[0]
    if origin not in _FINDERS:
        raise ValueError(f"no case is called {id!r}: its first word is none of {', '.join(_FINDERS)}")
    return _FINDERS[origin](id)


_FINDERS = {
    "table": table.find_case,
    "specification": specification.find_case,
    "random": drawn.find_case,
    "upstream": upstream.find_case,
}
