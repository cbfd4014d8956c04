"""The report as a file: one JSON object a line, the first a header and the last a footer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from padops.files.staging import write_whole

SCHEMA = 2
IDLE = ("unsupported", "skipped")  # outcomes where nothing was compared
WRONG = ("differ", "error", "crash")
OUTCOMES = ("agree", *WRONG, *IDLE)
FILE = "conformance.jsonl"


class RecordError(ValueError):
    """A report that is not whole, or none at all."""


@dataclass(frozen=True)
class Record:
    """A whole report.

    Attributes:
        header: ``schema``, ``padops``, ``level``, ``seed``, ``machine``, ``peers`` and ``absent``; ``shard`` of a part.
        results: One object for each case and peer.
        footer: ``results``, ``unexpected``, ``stale``, ``new``, ``gone``, ``strict`` and ``exit``; ``missing`` and
            ``divergences`` of a part; of a run that a signal has ended ``cut_short``, how many cases each peer that had
            begun has left.
    """

    header: dict[str, Any]
    results: list[dict[str, Any]]
    footer: dict[str, Any]


def counts_of(footer: dict[str, Any]) -> str:
    """How many results there are, and how many of them say something of padops or, where there are such, of a peer."""
    text = f"{footer['results']:,} results, {footer['unexpected']:,} unexpected, {len(footer['stale'])} stale"
    other = footer["new"] or footer["gone"]
    return text + (f"; of versions not recorded {footer['new']:,} new, {len(footer['gone'])} gone" if other else "")


def write(path: Path | str, header: dict[str, Any], results: Iterable[dict[str, Any]], footer: dict[str, Any]) -> None:
    """Writes a report in one step: there is a whole file, or the one of before.

    Args:
        path: The file.
        header: The first line.
        results: One line each.
        footer: The last line.

    Raises:
        OSError: It cannot be written.
    """
    lines = chain(
        [{"kind": "header", **header}],
        ({"kind": "result", **result} for result in results),
        [{"kind": "footer", **footer}],
    )
    write_whole(Path(path), (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines))


def read(path: Path | str) -> Record:
    """Reads a report.

    Raises:
        RecordError: It has no header or no footer, is of another schema, or has not as many results as it says.
        OSError: It cannot be read.
    """
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    try:
        objects = [json.loads(line) for line in lines if line]
    except ValueError as error:
        raise RecordError(f"{path}: not a whole report: {error}") from error
    kinds = [found.get("kind") if isinstance(found, dict) else None for found in objects]
    if not kinds or kinds[0] != "header":
        raise RecordError(f"{path}: not a report: the first line is no header")
    if objects[0].get("schema") != SCHEMA:
        raise RecordError(f"{path}: schema {objects[0].get('schema')}, expected {SCHEMA}")
    if kinds[-1] != "footer" or set(kinds[1:-1]) - {"result"}:
        raise RecordError(f"{path}: not a whole report: there is no footer at the end")
    results = objects[1:-1]
    if objects[-1].get("results") != len(results):
        raise RecordError(f"{path}: {len(results)} results, but the footer says {objects[-1].get('results')}")
    return Record(objects[0], results, objects[-1])
