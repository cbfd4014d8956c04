"""The report of a run as a file: one JSON object per line, the first a header and the last a footer."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from padops.conformance.judging import PeerRun
from padops.files.staging import write_whole

FILE = "conformance.jsonl"
SCHEMA = 2

# The fields of each line, by its kind; a field with "?" may be absent.
FIELDS = {
    "header": "kind schema padops level seed machine peers absent".split(),
    "result": "kind case origin op mode dtype peer detail repro rank rules outcome divergence? unexpected new inputs? "
              "attributes? expected? got?".split(),
    "footer": "kind results unexpected new stale gone strict exit cut_short?".split(),
}  # fmt: skip


class RecordError(ValueError):
    """A file is not a complete report."""


class Record(NamedTuple):
    """A complete report: its first line, an object for each case and peer, and its last line."""

    header: dict[str, Any]
    results: list[dict[str, Any]]
    footer: dict[str, Any]


def counts_of(footer: dict[str, Any]) -> str:
    """Format the counts of results, unexpected results and stale divergences, and of new behaviour if there is any."""
    text = f"{footer['results']:,} results, {footer['unexpected']:,} unexpected, {len(footer['stale'])} stale"
    other = footer["new"] or footer["gone"]
    return text + (f"; in versions not recorded: {footer['new']:,} new, {len(footer['gone'])} gone" if other else "")


def write(path: Path, report: Record) -> None:
    """Write a report atomically: a failure keeps the previous file."""
    kinds = [("header", report.header), *(("result", row) for row in report.results), ("footer", report.footer)]
    rows = ({"kind": kind, **row} for kind, row in kinds)
    write_whole(path, (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read(path: Path | str) -> Record:
    lines = [_line(f"{path}:{i}", line) for i, line in enumerate(Path(path).read_bytes().split(b"\n"), 1) if line]
    if not lines or lines[0]["kind"] != "header":
        raise RecordError(f"{path}: not a report: the first line is not a header")
    header, results, footer = lines[0], lines[1:-1], lines[-1]
    if footer["kind"] != "footer" or any(line["kind"] != "result" for line in results):
        raise RecordError(f"{path}: not a whole report: there is no footer at the end")
    if len(results) != footer["results"]:
        raise RecordError(f"{path}: {len(results)} results, but the footer counts {footer['results']!r:.60}")
    return Record(header, results, footer)


def _line(place: str, line: bytes) -> dict[str, Any]:
    """Parse a line of a report, which must have the fields of its kind."""
    try:
        found: dict[str, Any] = json.loads(line)
        missing = [name for name in FIELDS[found["kind"]] if not name.endswith("?") and name not in found]
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise RecordError(f"{place}: not a whole report: {type(error).__name__}: {error}") from error
    if missing:
        raise RecordError(f"{place}: the {found['kind']} has no {missing[0]}")
    if found.get("schema", SCHEMA) != SCHEMA:
        raise RecordError(f"{place}: schema is {found['schema']!r:.60}, expected {SCHEMA}")
    return found


def header(level: str, seed: int, ran: Sequence[PeerRun]) -> dict[str, Any]:
    """Return the first line of a report, including the absent peers."""
    import padops

    peers = []
    for one in ran:
        if said := one.handshake:
            told = {"name": one.peer.name, "python": said.get("python"), "versions": said["versions"]}
            told |= {"within": one.peer.within or None, "recorded": one.recorded or None}
            peers.append({key: value for key, value in told.items() if value is not None})
    return {
        "schema": SCHEMA,
        "padops": padops.__version__,
        "level": level,
        "seed": seed,
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "peers": peers,
        "absent": [{"name": one.peer.name, "reason": one.absent} for one in ran if one.handshake is None],
    }


def footer(
    ran: Sequence[PeerRun], asked: Sequence[str] = (), cut_short: bool = False, strict: bool = False
) -> dict[str, Any]:
    """Return the last line of a report.

    A run fails if it has no results, an unexpected result or a stale divergence, or if a peer in ``asked`` or a
    required peer is absent. New behaviour of a peer in a version that is not recorded fails only a ``strict`` run. An
    interrupted run fails; its footer has the number of remaining cases of each peer, and lists no stale divergences.
    """
    results = [result for one in ran for result in one.results]
    unexpected, new = (sum(result[key] for result in results) for key in ("unexpected", "new"))
    stale, gone = set[str](), set[str]()
    for one in () if cut_short else ran:
        (gone if one.recorded else stale).update(id for id, count in one.seen.items() if not count)
    absent = [one.peer for one in ran if one.handshake is None]
    missing = any(peer.name in asked or peer.required for peer in absent)
    failed = cut_short or unexpected or stale or missing or not results or strict and (new or gone)
    left = {one.peer.name: one.left for one in ran if one.handshake is not None and one.left}
    return {
        "results": len(results),
        "unexpected": unexpected,
        "stale": sorted(stale),
        "new": new,
        "gone": sorted(gone),
        "strict": strict,
        "exit": int(bool(failed)),
        **({"cut_short": left} if cut_short else {}),
    }
