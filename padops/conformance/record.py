"""The report of a run as a file: one JSON object a line, the first a header and the last a footer.

A file that another program, or nobody, has written is told apart from one: a line has the fields that are stated here.
The parts of a run that was spread over machines become one.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from padops.conformance.peers import Peer
from padops.files.staging import write_whole
from padops.plural import plural

FILE = "conformance.jsonl"
SCHEMA = 2
IDLE = ("unsupported", "skipped")  # outcomes where nothing was compared
WRONG = ("differ", "error", "crash")
OUTCOMES = ("agree", *WRONG, *IDLE)

# What each line may say. A name with "?" may be absent, {str: x} has any names, of several in brackets one holds, and
# in a list the only one is of all elements.
ANY = object()
SCALAR = (int, float, str, bool)
ARRAY = {"dtype": str, "shape": [int], "values?": ANY}
PEER = {"name": str, "versions": {str: str}, "python?": str, "recorded?": str, "within?": (int, float)}
HEADER = {
    "kind": str, "schema": int, "padops": str, "level": str, "seed": int, "machine": {str: (str, int, None)},
    "peers": [PEER], "absent": [{"name": str, "reason": str}], "shard?": [int, int],
}  # fmt: skip
RESULT = {
    "kind": str, "case": str, "origin": str, "op": str, "mode": str, "dtype": str, "peer": str, "detail": str,
    "repro": str, "rank": int, "rules": [str], "outcome": {*OUTCOMES}, "divergence": (None, str), "unexpected": bool,
    "new": bool, "inputs?": [(None, ARRAY)], "attributes?": {str: (*SCALAR, [SCALAR])},
    "expected?": ({"error": (None, str)}, ARRAY), "got?": (None, ARRAY),
}  # fmt: skip
FOOTER = {
    "kind": str, "results": int, "unexpected": int, "new": int, "stale": [str], "gone": [str], "strict": bool,
    "exit": {0, 1}, "missing?": [str], "divergences?": {str: {str: [int, int]}}, "cut_short?": {str: int},
}  # fmt: skip


@dataclass
class PeerRun:
    """What one peer did.

    Attributes:
        handshake: Its Python and versions, or None where it is absent.
        absent: Why the peer is absent, or None.
        met: How many of its cases each divergence has matched.
        seen: How many of these came out as it says.
        left: The number of its cases that an interrupt left unasked; None without an interrupt.
        recorded: The versions that the divergences were recorded with, where its own is none of them; else empty.
    """

    peer: Peer
    handshake: dict[str, Any] | None = None
    absent: str | None = None
    results: list[dict[str, Any]] = field(default_factory=list)
    met: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    seconds: float = 0
    left: int | None = None
    recorded: str = ""

    @property
    def not_seen(self) -> list[str]:
        """Divergences that do not occur: their cases ran, and none came out as they say."""
        return [id for id, count in self.met.items() if count and not self.seen.get(id)]

    @property
    def stale(self) -> list[str]:
        """Those of a version that they were recorded with: they no longer occur."""
        return [] if self.recorded else self.not_seen

    @property
    def gone(self) -> list[str]:
        """Those of another version: they do not occur there."""
        return self.not_seen if self.recorded else []


class RecordError(ValueError):
    """A report that is not whole, or none at all."""


@dataclass(frozen=True)
class Record:
    """A whole report.

    Attributes:
        header: The first line, of ``HEADER``.
        results: One object for each case and peer, of ``RESULT``.
        footer: The last line, of ``FOOTER``.
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
    """Writes a report in one step: there is a whole file, or the one of before."""
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
    lines = [(f"{path}:{i}", line) for i, line in enumerate(Path(path).read_bytes().split(b"\n"), 1) if line]
    objects = [_object(place, line) for place, line in lines]
    kinds = [found.get("kind") for found in objects]
    if not kinds or kinds[0] != "header":
        raise RecordError(f"{path}: not a report: the first line is no header")
    header, results, footer = objects[0], objects[1:-1], objects[-1]
    if header.get("schema") != SCHEMA:  # which says more than any other field
        raise RecordError(f"{lines[0][0]}: header: schema is {_brief(header.get('schema'))}, expected {SCHEMA}")
    _check(f"{lines[0][0]}: header", header, HEADER)
    peers = [row["name"] for row in header["peers"]]
    if twice := [name for name in peers if peers.count(name) > 1]:
        raise RecordError(f"{lines[0][0]}: header: peers has {_brief(twice[0])} twice")
    if kinds[-1] != "footer" or any(kind != "result" for kind in kinds[1:-1]):
        raise RecordError(f"{path}: not a whole report: there is no footer at the end")
    for (place, _), result in zip(lines[1:], results):
        _check_result(f"{place}: result", result, set(peers))
    _check_footer(f"{lines[-1][0]}: footer", header, results, footer)
    return Record(header, results, footer)


def _check_result(place: str, result: dict[str, Any], peers: set[str]) -> None:
    """Checks a result of one of these peers: what is wrong is known or told."""
    _check(place, result, RESULT)
    if result["peer"] not in peers:
        raise RecordError(f"{place}: peer is {_brief(result['peer'])}, which is none of the header's")
    told = (result["divergence"] is not None) + result["unexpected"] + result["new"]
    wrong = int(result["outcome"] in WRONG)
    if told != wrong:
        what = f"outcome is {result['outcome']} with {told} of divergence, unexpected and new"
        raise RecordError(f"{place}: {what}, expected {wrong}")


def _check_footer(place: str, header: dict[str, Any], results: list[dict[str, Any]], footer: dict[str, Any]) -> None:
    """Checks the last line against the others: its counts, and what the footer of a part has to say."""
    _check(place, footer, FOOTER)
    if footer["results"] != len(results):
        raise RecordError(f"{place}: {plural(len(results), 'result')}, but the footer says {footer['results']}")
    for name in ("unexpected", "new"):
        if footer[name] != (count := sum(result[name] for result in results)):
            raise RecordError(f"{place}: {name} is {footer[name]}, but {count:,} results are")
    if "shard" in header and "cut_short" not in footer:
        peers = {row["name"] for row in header["peers"]}
        if "missing" not in footer or not peers <= footer.get("divergences", {}).keys():
            raise RecordError(f"{place}: a part of a run has to say missing, and divergences of each peer")


def _object(place: str, line: bytes) -> dict[str, Any]:
    """The object of a line of a report, which has no number beyond a double."""
    try:
        found = json.loads(line.decode(), parse_float=_finite, parse_constant=_finite)
    except UnicodeDecodeError as error:
        raise RecordError(f"{place}: not UTF-8: byte {error.start} is 0x{line[error.start]:02x}") from error
    except ValueError as error:
        raise RecordError(f"{place}: not a whole report: {error}") from error
    except RecursionError as error:
        raise RecordError(f"{place}: lists or objects in one another, more than can be read") from error
    if not isinstance(found, dict):
        raise RecordError(f"{place}: not a report: {_brief(found)}, expected an object")
    return found


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"a number is {text}")
    return number


def _check(place: str, said: dict[str, Any], kind: Any) -> None:
    if fault := _fault(said, kind, ""):
        raise RecordError(f"{place}: {fault}")


def _fault(value: Any, kind: Any, name: str) -> str:
    """In which field a value is not as stated, and how; true and false are no numbers. Else an empty text."""
    if isinstance(kind, tuple):
        faults = [_fault(value, one, name) for one in kind]
        return "" if "" in faults else faults[-1]
    if isinstance(kind, list) and type(value) is list and len(kind) in (1, len(value)):
        return next(filter(None, (_fault(*row, name) for row in zip(value, kind * len(value)))), "")
    if isinstance(kind, dict) and type(value) is dict:
        if str in kind:
            return next(filter(None, (_fault(one, kind[str], name) for one in value.values())), "")
        known = {field.rstrip("?"): inner for field, inner in kind.items()}
        if lacking := [field for field in kind if field[-1] != "?" and field not in value]:
            return f"there is no {lacking[0]}"
        if unknown := [field for field in value if field not in known]:
            return f"{_brief(unknown[0])} is no field of it"
        faults = [fault for field, one in value.items() if (fault := _fault(one, known[field], field))]
        return faults[0] if faults else "" if kind is not ARRAY or _fits(value) else f"{name} does not fit its shape"
    if kind is ANY or value is kind or type(value) is kind or isinstance(kind, set) and value in [*kind]:
        return ""
    words = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "null"}
    sort = "a list" if isinstance(kind, list) else "an object"
    expected = f"one of {', '.join(map(str, kind))}" if isinstance(kind, set) else sort
    return f"{name} is {_brief(value)}, expected {expected if isinstance(kind, (set, list, dict)) else words[kind]}"


def _fits(array: dict[str, Any]) -> bool:
    """Whether the values of an array, where they are there, are lists as the shape says."""
    found = np.array(array.get("values", 0), object)
    if "values" not in array or 0 in array["shape"]:
        return "values" not in array or not found.size
    return list(found.shape) == array["shape"] and all(type(one) in SCALAR for one in found.flat)


def _brief(value: Any) -> str:
    """A value in an error: a list or an object by its length, of a long text or number the beginning."""
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = {None: "null", True: "true", False: "false"}[value] if value is None or type(value) is bool else ascii(value)
    return text if len(text) <= 60 else text[:60] + "…"


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
        for key in ("padops", "level", "seed", "peers"):
            if first[key] != (other := part.header[key]):
                i, n = part.header["shard"]
                raise RecordError(f"parts 1/{n} and {i}/{n} are of two runs: {key} is {first[key]} and {other}")
    results, stale, gone = [], set[str](), set[str]()
    for row in first["peers"]:
        peer = row["name"]
        shares = [[result for result in part.results if result["peer"] == peer] for part in parts]
        results += [result for turn in zip_longest(*shares) for result in turn if result is not None]  # they take turns
        counts = [count for part in parts for count in part.footer["divergences"][peer].items()]
        met, seen = ({id for id, times in counts if times[i]} for i in (0, 1))
        (gone if "recorded" in row else stale).update(met - seen)
    strict = any(part.footer["strict"] for part in parts)
    header = {key: value for key, value in first.items() if key != "shard"}
    machines: dict[str, list[Any]] = {}
    for key, value in dict.fromkeys(row for part in parts for row in part.header["machine"].items()):
        machines.setdefault(key, []).append(value)
    header["machine"] = {
        key: said[0] if len(said) == 1 else ", ".join(map(str, said)) for key, said in machines.items()
    }
    missing = sorted({name for part in parts for name in part.footer["missing"]})
    return Record(header, results, {"kind": "footer", **_footer(results, stale, gone, missing, strict)})
