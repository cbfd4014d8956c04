"""What one release does otherwise than the one before it, case by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from padops.conformance.history.data import meaning


@dataclass(frozen=True)
class Change:
    """Cases that a release answers otherwise than the one before it, all in one way.

    Attributes:
        version: The release.
        before: The outcome in the release before: ``"agree"``, ``"differ"``, ``"error"`` or ``"crash"``; ``"not run"``
            where the other is ``"runs"``, and the other way round.
        after: The outcome in this one.
        what: The class of what is or was wrong: the id of a known divergence, or the mode; the modes where a case was
            not run.
        operators: Whose cases they are.
        count: How many.
    """

    version: str
    before: str
    after: str
    what: str
    operators: tuple[str, ...]
    count: int


def changes(told: Sequence[dict[str, Any]]) -> list[Change]:
    """The changes from release to release.

    Args:
        told: The releases of one package in their order, those that ran. Two that had other cases are not compared.
    """
    found = []
    for before, after in zip(told, told[1:]):
        if before["cases"] == after["cases"]:
            found += _between(before, after)
    return found


def _between(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    cases: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    modes: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for cell, letters in after["cells"].items():
        operator, _, mode = cell.partition(" ")
        for old, new in zip(before["cells"].get(cell, ""), letters):
            was, named = meaning(before, old)
            now, name = meaning(after, new)
            if was == now:
                continue
            key = was, now, name or named
            if "not run" in (was, now):  # then what it does there is no change
                key = ("not run", "runs", "") if was == "not run" else ("runs", "not run", "")
            cases[key].append(operator)
            modes[key].add(mode)
    return [
        Change(
            after["version"],
            was,
            now,
            what or ", ".join(sorted(modes[was, now, what])),
            tuple(dict.fromkeys(of)),
            len(of),
        )
        for (was, now, what), of in sorted(cases.items())
    ]
