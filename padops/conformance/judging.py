"""Judges the answer of a peer to a case by the expected answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from padops.conformance.arrays import Packed, describe, unpack
from padops.conformance.divergences import DivergenceTracker
from padops.conformance.features import BEYOND, Prepared
from padops.conformance.lines import plain
from padops.conformance.peers import Peer, PeerRow, has_script
from padops.conformance.record import IDLE
from padops.plural import plural
from padops.spec.bits import element_bits


def judge(item: Prepared, answer: tuple[str, Any], row: PeerRow) -> tuple[str, str]:
    """Return the outcome of an answer of ``worker.py`` and, unless it is ``"agree"``, the difference.

    Implementations may refuse cases that the standard leaves open; padops runs them.
    """
    kind, content = answer
    if kind == "output":
        if item.packed is None:
            return "differ", f"an output of shape {list(content[1])}, expected an error: {item.expected.message}"
        if content == item.packed or row.within and _is_close(item.packed, content, row.within):
            return "agree", ""
        return "differ", _difference(item.packed, content)
    if kind == "refused":
        if item.of_class == BEYOND and row.runs_pads:
            return "agree", f"refused, {BEYOND} (P4): {content}"
        if item.packed is not None:
            return "error", str(content)
        if row.labels and f"[{item.expected.rule}]" not in content and not (row.before and row.before in content):
            return "error", f"{content}; expected an error of [{item.expected.rule}]"
        return "agree", ""
    return ("error" if kind == "broken" else kind), str(content)


def _is_close(expected: Packed, got: Packed, within: float) -> bool:
    """Return whether every float is close to the expected one: a NaN to every NaN, an infinity only to itself."""
    wanted, found = unpack(expected), unpack(got)
    if expected[:2] != got[:2] or wanted.dtype.kind != "f":
        return False
    with np.errstate(invalid="ignore", over="ignore"):
        one, other = wanted.astype(np.float64), found.astype(np.float64)
        return bool(np.isclose(other, one, rtol=within, atol=0, equal_nan=True).all())


def _difference(expected: Packed, got: Packed) -> str:
    """Describe in a line how two outputs differ."""
    if expected[:2] != got[:2]:
        return f"{got[0]}{list(got[1])}, expected {expected[0]}{list(expected[1])}"
    wanted, found = unpack(expected), unpack(got)
    wrong = np.atleast_1d(element_bits(wanted) != element_bits(found))
    first = int(np.flatnonzero(wrong)[0])
    place = [int(i) for i in np.unravel_index(first, expected[1])]
    one, other = (describe(array.reshape(-1)[first : first + 1])["values"][0] for array in (wanted, found))
    differ = f"{int(wrong.sum())} of {plural(wrong.size, 'element')} {'differs' if wrong.sum() == 1 else 'differ'}"
    return f"{differ}, the first at {place}: {other!r}, expected {one!r}"


def result_of(item: Prepared, peer: Peer, tracker: DivergenceTracker, answer: tuple[str, Any]) -> dict[str, Any]:
    """Return a peer's result of a case for a report; the tracker's divergences may explain the answer."""
    case = item.case
    outcome, detail = judge(item, answer, peer.row)
    divergence = tracker.explain(item, outcome, detail) if not peer.row.in_house else None
    unexplained = outcome not in ("agree", *IDLE) and divergence is None
    result: dict[str, Any] = {
        "case": case.id,
        "origin": case.origin,
        "op": case.op,
        "mode": case.mode,
        "dtype": case.dtype,
        "rank": case.rank,
        "rules": list(item.rules),
        "peer": peer.name,
        "outcome": outcome,
        "divergence": divergence,
        "unexpected": unexplained and not tracker.excused,
        "new": unexplained and tracker.excused,
        "detail": detail[:600],
    }
    if outcome != "agree":
        result["inputs"] = [describe(array) for array in case.arrays()]
        result["attributes"] = {name: plain(value) for name, value in case.attributes.items()}
        result["expected"] = {"error": item.expected.message} if item.packed is None else describe(item.expected.output)
        result["got"] = describe(unpack(answer[1])) if answer[0] == "output" else None
    asked_as = peer.name if peer.row.asked_as == peer.row.name else peer.row.asked_as
    result["repro"] = f"padops conformance repro {case.id} --peer {asked_as}" if has_script(peer.row) else ""
    return result
