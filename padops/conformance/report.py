"""The first and the last line of a report, and the parts of a run that was spread over machines, as one."""

from __future__ import annotations

import argparse
import os
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.conformance.record import FILE, SCHEMA, Record, RecordError, counts_of, read, write
from padops.terminal import fail

if TYPE_CHECKING:
    from padops.conformance.runner import PeerRun

Shard = tuple[int, int]  # (i, n): the i-th of n parts, counted from 1
WHOLE: Shard = (1, 1)


def parse_shard(text: str) -> Shard:
    """``"2/4"`` as ``(2, 4)``.

    Raises:
        ValueError: It is no part of a whole.
    """
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"a part of a run is called i/n, with i from 1 to n, not {text!r}")
    return int(found[1]), int(found[2])


def header(level: str, seed: int, ran: Sequence[PeerRun], shard: Shard = WHOLE) -> dict[str, Any]:
    """The first line of a report, with the peers that are absent, too."""
    import padops

    return {
        "schema": SCHEMA,
        "padops": padops.__version__,
        "level": level,
        "seed": seed,
        **({"shard": list(shard)} if shard != WHOLE else {}),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "peers": [_present(one) for one in ran if one.handshake is not None],
        "absent": [{"name": one.peer.name, "reason": one.absent} for one in ran if one.handshake is None],
    }


def _present(one: PeerRun) -> dict[str, Any]:
    said = one.handshake or {}
    about: dict[str, Any] = {"name": one.peer.name, **{key: said[key] for key in ("python", "versions") if key in said}}
    within = {"within": one.peer.row.within} if one.peer.row.within else {}
    return {**about, **within, **({"recorded": one.recorded} if one.recorded else {})}


def footer(
    ran: Sequence[PeerRun],
    asked: Sequence[str] = (),
    shard: Shard = WHOLE,
    cut_short: bool = False,
    strict: bool = False,
) -> dict[str, Any]:
    """The last line of a report.

    A run fails on what is unexpected or stale, on no results, on an absent peer of ``asked`` and on an absent part of
    padops that needs nothing optional. New behaviour of a peer in a version that nothing was recorded with fails only a
    ``strict`` run.

    The footer of a part of a run says how often each divergence was met and seen: only all parts tell which are stale.
    That of a run that a signal has cut short says how many cases each peer has left; such a run has failed, and tells
    nothing stale.
    """
    results = [result for one in ran for result in one.results]
    absent = [one.peer for one in ran if one.handshake is None]
    missing = [peer.name for peer in absent if peer.name in asked or peer.row.in_house and not peer.row.extra]
    if cut_short:
        left = {one.peer.name: one.left for one in ran if one.handshake is not None and one.left}
        return {**_footer(results, set(), set(), missing, strict), "exit": 1, "cut_short": left}
    if shard == WHOLE:
        stale, gone = {id for one in ran for id in one.stale}, {id for one in ran for id in one.gone}
        return _footer(results, stale, gone, missing, strict)
    counts = {one.peer.name: {id: [met, one.seen.get(id, 0)] for id, met in one.met.items()} for one in ran}
    return {**_footer(results, set(), set(), missing, strict), "missing": missing, "divergences": counts}


def _footer(
    results: Sequence[dict[str, Any]], stale: set[str], gone: set[str], missing: Sequence[str], strict: bool
) -> dict[str, Any]:
    unexpected, new = (sum(result[key] for result in results) for key in ("unexpected", "new"))
    failed = unexpected or stale or missing or not results or strict and (new or gone)
    return {
        "results": len(results),
        "unexpected": unexpected,
        "stale": sorted(stale),
        "new": new,
        "gone": sorted(gone),
        "strict": strict,
        "exit": int(bool(failed)),
    }


def merge(parts: Sequence[Record]) -> Record:
    """The report of the whole run, from one of each part in any order.

    Raises:
        RecordError: One is missing, comes twice, or is of another run.
    """
    if any("shard" not in part.header for part in parts):
        raise RecordError("a report of a whole run is no part of one")
    if short := ["{}/{}".format(*part.header["shard"]) for part in parts if "cut_short" in part.footer]:
        raise RecordError(f"part {short[0]} was cut short: run it again")
    parts = sorted(parts, key=lambda part: part.header["shard"])
    given, total = [part.header["shard"] for part in parts], len(parts)
    if not parts or given != [[i + 1, total] for i in range(total)]:
        names = ", ".join(f"{i}/{n}" for i, n in given)
        raise RecordError(f"the parts are {names}, expected each of 1/n to n/n once")
    first = parts[0].header
    for part in parts:
        _same_run(first, part.header)
    peers = {row["name"]: "recorded" in row for row in first["peers"]}
    results = [result for peer in peers for result in _in_order(parts, peer)]
    stale, gone = (
        {
            id
            for peer, excused in peers.items()
            if excused is wanted
            for id in _not_seen(part.footer["divergences"][peer] for part in parts)
        }
        for wanted in (False, True)
    )
    strict = any(part.footer["strict"] for part in parts)
    header = {key: value for key, value in first.items() if key != "shard"}
    machines = [part.header["machine"] for part in parts]
    keys = dict.fromkeys(key for machine in machines for key in machine)
    header["machine"] = {key: _joined(machine[key] for machine in machines if key in machine) for key in keys}
    missing = sorted({name for part in parts for name in part.footer["missing"]})
    return Record(header, results, {"kind": "footer", **_footer(results, stale, gone, missing, strict)})


def _same_run(first: dict[str, Any], other: dict[str, Any]) -> None:
    for key in ("padops", "level", "seed", "peers"):
        if first[key] != other[key]:
            i, n = other["shard"]
            raise RecordError(f"parts 1/{n} and {i}/{n} are of two runs: {key} is {first[key]} and {other[key]}")


def _in_order(parts: Sequence[Record], peer: str) -> Iterator[dict[str, Any]]:
    """A peer's results in the order of one run, where the parts take turns."""
    rows = [[result for result in part.results if result["peer"] == peer] for part in parts]
    return (result for turn in zip_longest(*rows) for result in turn if result is not None)


def _not_seen(counts: Iterable[dict[str, list[int]]]) -> set[str]:
    """The divergences that some part has met and none has seen."""
    met: set[str] = set()
    seen: set[str] = set()
    for count in counts:
        met |= {id for id, (times, _) in count.items() if times}
        seen |= {id for id, (_, times) in count.items() if times}
    return met - seen


def _joined(values: Iterable[Any]) -> Any:
    """What all say, or the different ones in a row."""
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else ", ".join(map(str, different))


def add_merge(commands: Any) -> None:
    """Adds ``merge`` to the commands of ``padops conformance``."""
    about = "Make the report of a run from those of its parts, which --shard has made. Exit codes are those of the run."
    parser = commands.add_parser("merge", help="make one report from those of --shard", description=about)
    parser.add_argument("parts", nargs="+", metavar="DIR", help=f"the folder of a part, with its {FILE}")
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="write the report into this folder")
    parser.set_defaults(run=_merge)


def _merge(options: argparse.Namespace) -> int:
    folder = Path(options.out)
    try:
        whole = merge([read(Path(part) / FILE) for part in options.parts])
        if why := prepare(folder):
            return fail(why)
        write_report(folder, whole.header, whole.results, whole.footer)
    except (OSError, RecordError) as error:
        return fail(error)
    print(counts_of(whole.footer))
    return int(whole.footer["exit"])


def prepare(folder: Path) -> str | None:
    """Makes the folder of a report, and says why one cannot be written there, or None.

    Raises:
        OSError: The folder cannot be made.
    """
    from padops.conformance.render import FILES
    from padops.files.targets import refusal

    folder.mkdir(parents=True, exist_ok=True)
    return refusal(folder / name for name in (FILE, *FILES.values()))


def write_report(
    folder: Path, header: dict[str, Any], results: Iterable[dict[str, Any]], footer: dict[str, Any]
) -> None:
    """Writes a report in every form into a folder, which is there.

    Raises:
        OSError: It cannot be written.
    """
    from padops.conformance.known import KNOWN
    from padops.conformance.render import write_all

    write(folder / FILE, header, results, footer)
    report = read(folder / FILE)
    write_all(report.header, report.results, report.footer, KNOWN, folder)
