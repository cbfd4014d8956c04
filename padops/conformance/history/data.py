"""The file of a history: what each release did, one line each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from padops.conformance.history.measure import AGREES, NOT_RUN, Release, releases
from padops.conformance.record import WRONG
from padops.files.staging import write_whole

SCHEMA = 1


class HistoryError(ValueError):
    """A file that is no history; says where."""


def write(path: Path, told: Iterable[dict[str, Any]]) -> None:
    """Writes the file, whole or not at all, in the order of ``measure.FOLLOWED``.

    Raises:
        OSError: It cannot be written.
    """
    order = {release.name: i for i, release in enumerate(releases())}
    ordered = sorted(told, key=lambda one: order.get(name_of(one), len(order)))
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in ordered)
    write_whole(path, [f'{{"schema": {SCHEMA}, "releases": [\n{lines}\n]}}\n'])


def read(path: Path) -> list[dict[str, Any]]:
    """What each release did, as ``measure`` gives it.

    Raises:
        HistoryError: The file is none of this schema, or a release in it is not whole.
        OSError: It cannot be read.
    """
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{path}: not a history: {error}") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        found = content.get("schema") if isinstance(content, dict) else content
        raise HistoryError(f"{path}: not a history of schema {SCHEMA}: it has {str(found)[:40]!r}")
    told = content.get("releases")
    if not isinstance(told, list):
        raise HistoryError(f"{path}: releases is no list")
    for i, one in enumerate(told):
        if why := fault_of(one):
            raise HistoryError(f"{path}: release {i}: {why}")
    return told


def fault_of(one: Any) -> str:
    """Why something is not what ``measure`` gives; an empty text where it is."""
    if not isinstance(one, dict):
        return "no object"
    for key in ("peer", "package", "version", "cases"):
        if not isinstance(one.get(key), str):
            return f"{key} is no text"
    if isinstance(one.get("absent"), str):
        return ""
    for key in ("cells", "classes"):
        table = one.get(key)
        if not isinstance(table, dict) or not all(isinstance(text, str) for text in table.values()):
            return f"{key} is no table of texts"
    for letter, name in one["classes"].items():
        if name.partition(" ")[0] not in WRONG:
            return f"class {letter} is {name!r}, expected one of {', '.join(WRONG)}, a blank and a name"
    if strange := {*"".join(one["cells"].values())} - {AGREES, NOT_RUN, *one["classes"]}:
        return f"cells have the letter {min(strange)!r}, which is no class"
    return ""


def name_of(one: dict[str, Any]) -> str:
    """``package==version``."""
    return Release(one["peer"], one["package"], one["version"], ()).name


def meaning(one: dict[str, Any], letter: str) -> tuple[str, str]:
    """The outcome that a letter stands for, and the class of it; the class is "" where nothing is wrong."""
    if letter in (AGREES, NOT_RUN):
        return ("agree" if letter == AGREES else "not run"), ""
    outcome, _, name = one["classes"][letter].partition(" ")
    return outcome, name


def counts(one: dict[str, Any]) -> Counter[str]:
    """How many answers of a release have each outcome."""
    found: Counter[str] = Counter()
    for letter, many in Counter("".join(one["cells"].values())).items():
        found[meaning(one, letter)[0]] += many
    return found


def by_package(told: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The releases of each package, in their order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in told:
        found.setdefault(one["package"], []).append(one)
    return found
