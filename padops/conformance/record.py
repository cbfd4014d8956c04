"""The report as a file: one JSON object a line, the first a header and the last a footer.

A file that another program, or nobody, has written is told apart from one: a line has the fields that are stated here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

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
