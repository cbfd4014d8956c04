"""The report as a file: one JSON object a line, the first a header and the last a footer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from padops.conformance.record_fields import (
    IDLE,
    OUTCOMES,
    SCHEMA,
    WRONG,
    FieldError,
    brief,
    check_footer,
    check_header,
    check_result,
)
from padops.files.staging import write_whole
from padops.plural import plural

__all__ = ["FILE", "IDLE", "OUTCOMES", "SCHEMA", "WRONG", "Record", "RecordError", "counts_of", "read", "write"]

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
        RecordError: It has no header or no footer, is of another schema, has not as many results as it says, or a line
            says what it may not; the message names the file and the line.
        OSError: It cannot be read.
    """
    lines = [(number, line) for number, line in enumerate(Path(path).read_bytes().split(b"\n"), 1) if line]
    objects = [_object(f"{path}:{number}", line) for number, line in lines]
    kinds = [found.get("kind") for found in objects]
    if not kinds or kinds[0] != "header":
        raise RecordError(f"{path}: not a report: the first line is no header")
    places = [f"{path}:{number}" for number, _ in lines]
    _checked(places[0], check_header, objects[0])
    if kinds[-1] != "footer" or any(kind != "result" for kind in kinds[1:-1]):
        raise RecordError(f"{path}: not a whole report: there is no footer at the end")
    header, results, footer = objects[0], objects[1:-1], objects[-1]
    peers = {row["name"] for row in header["peers"]}
    for place, result in zip(places[1:], results):
        _checked(place, check_result, result, peers)
    if footer.get("results") != len(results):
        raise RecordError(
            f"{places[-1]}: {plural(len(results), 'result')}, but the footer says {brief(footer.get('results'))}"
        )
    _checked(places[-1], check_footer, footer, header, results)
    return Record(header, results, footer)


def _object(place: str, line: bytes) -> dict[str, Any]:
    """The object of a line of a report."""
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise RecordError(f"{place}: not UTF-8: byte {error.start} is 0x{line[error.start]:02x}") from error
    except ValueError as error:
        raise RecordError(f"{place}: not a whole report: {error}") from error
    except RecursionError as error:
        raise RecordError(f"{place}: lists or objects in one another, more than can be read") from error
    if not isinstance(found, dict):
        raise RecordError(f"{place}: not a report: {brief(found)}, expected an object")
    return found


def _checked(place: str, check: Callable[..., None], said: dict[str, Any], *more: Any) -> None:
    try:
        check(said, *more)
    except FieldError as error:
        raise RecordError(f"{place}: {said['kind']}: {error}") from error
