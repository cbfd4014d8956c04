"""What each line of a report may say: a file that another program, or nobody, has written is told apart from one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

SCHEMA = 2
IDLE = ("unsupported", "skipped")  # outcomes where nothing was compared
WRONG = ("differ", "error", "crash")
OUTCOMES = ("agree", *WRONG, *IDLE)
MAX_RANK = 64

Check = Callable[[Any], str]  # what a value has to be, where it is not that; else an empty text


class FieldError(ValueError):
    """A field says what it may not; the message names it."""


def _is(kind: type | tuple[type, ...], words: str, holds: Callable[[Any], bool] = lambda value: True) -> Check:
    """A value of a type, of which more may have to hold; true and false are no numbers."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return lambda value: "" if type(value) in kinds and holds(value) else words


def _list_of(check: Check, count: int | None = None) -> Check:
    def of(value: Any) -> str:
        if type(value) is not list or count not in (None, len(value)):
            return "a list" if count is None else f"a list of {count}"
        return next((f"a list, each of it {words}" for words in map(check, value) if words), "")

    return of


def _mapping_of(check: Check) -> Check:
    def of(value: Any) -> str:
        if type(value) is not dict:
            return "an object"
        return next((f"an object, each of it {words}" for words in map(check, value.values()) if words), "")

    return of


def _object(fields: Mapping[str, Check], optional: Mapping[str, Check]) -> Check:
    """An object with these fields and no others."""

    def of(value: Any) -> str:
        if type(value) is not dict:
            return "an object"
        try:
            check_fields(value, fields, optional)
        except FieldError as error:
            return f"an object of a report ({error})"
        return ""

    return of


def _or_null(check: Check) -> Check:
    return lambda value: "" if value is None else f"{words} or null" if (words := check(value)) else ""


def _any_of(*checks: Check) -> Check:
    return lambda value: "" if "" in (found := [check(value) for check in checks]) else " or ".join(found)


def check_fields(said: Mapping[str, Any], fields: Mapping[str, Check], optional: Mapping[str, Check]) -> None:
    """Checks an object: it has all of these fields, perhaps some optional ones, and no others.

    Raises:
        FieldError: A field is missing, is not known, or has a value that it may not have.
    """
    for name in fields:
        if name not in said:
            raise FieldError(f"there is no {name}")
    known = {**fields, **optional}
    for name, value in said.items():
        if name not in known:
            raise FieldError(f"{brief(name)} is no field of it")
        if words := known[name](value):
            raise FieldError(f"{name} is {brief(value)}, expected {words}")


def brief(value: Any) -> str:
    """A value in an error: a list or an object by its length, of a long text or number the beginning."""
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = {None: "null", True: "true", False: "false"}[value] if value is None or type(value) is bool else ascii(value)
    return text if len(text) <= 60 else text[:60] + "…"


TEXT = _is(str, "a text")
COUNT = _is(int, "a whole number from 0 on", lambda value: value >= 0)
NUMBER = _is((int, float), "a number from 0 on", lambda value: math.isfinite(value) and value >= 0)
INTEGER = _is(int, "a whole number")
FLAG = _is(bool, "true or false")
SCALARS = {int, float, str, bool}
SCALAR = _is(tuple(SCALARS), "a number, a text, true or false", lambda value: not _is_endless(value))


def _is_endless(value: Any) -> bool:
    return type(value) is float and not math.isfinite(value)


def _array(value: Any) -> str:
    """What ``arrays.describe`` gives: the values are lists as the shape says, where they are there."""
    fields = {"dtype": TEXT, "shape": _list_of(COUNT)}
    if words := _object(fields, {"values": lambda values: ""})(value):
        return words
    shape = value["shape"]
    if len(shape) > MAX_RANK:
        return f"an array of at most {MAX_RANK} dims"
    if "values" in value and not _fits(value["values"], [0] if 0 in shape else shape):
        return "an array whose values fit its shape"
    return ""


def _fits(values: Any, shape: list[int]) -> bool:
    if not shape:
        return not SCALAR(values)
    if len(shape) == 1:  # most of a report: no call for each
        kinds = set(map(type, values)) if type(values) is list and len(values) == shape[0] else {None}
        return kinds <= {int, str, bool} or kinds <= SCALARS and not any(map(_is_endless, values))
    return type(values) is list and len(values) == shape[0] and all(_fits(part, shape[1:]) for part in values)


_PEER = {"name": TEXT, "versions": _mapping_of(TEXT)}
_PART = _is(
    list, "[i, n] with i from 1 to n", lambda part: [type(i) for i in part] == [int, int] and 1 <= part[0] <= part[1]
)

HEADER = {
    "kind": TEXT,
    "schema": _is(int, str(SCHEMA), lambda value: value == SCHEMA),
    "padops": TEXT,
    "level": TEXT,
    "seed": INTEGER,
    "machine": _mapping_of(_any_of(TEXT, _or_null(INTEGER))),
    "peers": _list_of(_object(_PEER, {"python": TEXT, "recorded": TEXT, "within": NUMBER})),
    "absent": _list_of(_object({"name": TEXT, "reason": TEXT}, {})),
}
HEADER_MAY = {"shard": _PART}

RESULT = {
    "kind": TEXT,
    **dict.fromkeys(("case", "origin", "op", "mode", "dtype", "peer", "detail", "repro"), TEXT),
    "rank": COUNT,
    "rules": _list_of(TEXT),
    "outcome": _is(str, f"one of {', '.join(OUTCOMES)}", lambda value: value in OUTCOMES),
    "divergence": _or_null(TEXT),
    "unexpected": FLAG,
    "new": FLAG,
}
RESULT_MAY = {
    "inputs": _list_of(_or_null(_array)),
    "attributes": _mapping_of(_any_of(SCALAR, _list_of(SCALAR))),
    "expected": _any_of(_object({"error": _or_null(TEXT)}, {}), _array),
    "got": _or_null(_array),
}

FOOTER = {
    "kind": TEXT,
    **dict.fromkeys(("results", "unexpected", "new"), COUNT),
    **dict.fromkeys(("stale", "gone"), _list_of(TEXT)),
    "strict": FLAG,
    "exit": _is(int, "0 or 1", lambda value: value in (0, 1)),
}
FOOTER_MAY = {
    "missing": _list_of(TEXT),
    "divergences": _mapping_of(_mapping_of(_list_of(COUNT, 2))),
    "cut_short": _mapping_of(COUNT),
}


def check_header(said: Mapping[str, Any]) -> None:
    """Checks the first line.

    Raises:
        FieldError: As of :func:`check_fields`; or a peer comes twice.
    """
    if said.get("schema") != SCHEMA:  # which says more than any other field
        raise FieldError(f"schema is {brief(said.get('schema'))}, expected {SCHEMA}")
    check_fields(said, HEADER, HEADER_MAY)
    names = [row["name"] for row in said["peers"]]
    if twice := [name for name in names if names.count(name) > 1]:
        raise FieldError(f"peers has {brief(twice[0])} twice")


def check_result(said: Mapping[str, Any], peers: set[str]) -> None:
    """Checks a result of one of these peers.

    Raises:
        FieldError: As of :func:`check_fields`; or the peer is none of these, or what is wrong is neither known nor
            told.
    """
    check_fields(said, RESULT, RESULT_MAY)
    if said["peer"] not in peers:
        raise FieldError(f"peer is {brief(said['peer'])}, which is none of the header's")
    told = (said["divergence"] is not None) + said["unexpected"] + said["new"]
    if told != (said["outcome"] in WRONG):
        raise FieldError(
            f"outcome is {said['outcome']} with {told} of divergence, unexpected and new, "
            f"expected {int(said['outcome'] in WRONG)}"
        )


def check_footer(said: Mapping[str, Any], header: Mapping[str, Any], results: list[dict[str, Any]]) -> None:
    """Checks the last line of a report against the first and the results between them.

    Raises:
        FieldError: As of :func:`check_fields`; or a count is not that of the results; or a part lacks what it must say.
    """
    check_fields(said, FOOTER, FOOTER_MAY)
    for name in ("unexpected", "new"):
        count = sum(result[name] for result in results)
        if said[name] != count:
            raise FieldError(f"{name} is {said[name]}, but {count:,} results are")
    if "shard" in header and "cut_short" not in said:
        peers = {row["name"] for row in header["peers"]}
        if "missing" not in said or not peers <= said.get("divergences", {}).keys():
            raise FieldError("a part of a run has to say missing, and divergences of each peer")
