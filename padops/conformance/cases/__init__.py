"""The sources of cases: one file for each origin, with ``cases(…)`` and ``find_case(id)``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from padops.conformance.cases import drawn, specification, table, upstream
from padops.conformance.peers.request import Request
from padops.spec.dialects import OPS

# The numbers of cases per operator: for each mode and type, for each mode and kind of amounts, and drawn.
LEVELS = {"quick": (1, 1, 10), "default": (3, 4, 60), "exhaustive": (30, 60, 1000)}


def collect(level: str, seed: int = 0, always: Iterable[str] = ()) -> list[Request]:
    """Return the cases of a level, and the cases ``always``, by their ids; a higher level includes a lower level."""
    made = {case.id: case for case in (*_of_level(level, seed), *map(find_case, always))}
    return list(made.values())


@cache
def _of_level(level: str, seed: int) -> tuple[Request, ...]:
    by_type, by_signs, count = LEVELS[level]
    return (
        *table.cases(list(OPS), by_type, by_signs, seed),
        *specification.cases(),
        *drawn.cases(list(OPS), count, seed),
        *upstream.cases(),
    )


def find_case(id: str) -> Request:
    """Make the case of an id."""
    try:
        origin = id.split("/")[0]
        if origin in ("table", "random"):
            return table.find_case(id) if origin == "table" else drawn.find_case(id)
        return {case.id: case for case in (*specification.cases(), *upstream.cases())}[id]
    except KeyError:
        raise ValueError(f"no case is called {id!r}") from None
    except ValueError as error:
        raise ValueError(f"no case is called {id!r}: {error}") from error
