"""Compares a peer's answers to its cases with the expected answers and the known divergences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from padops.conformance.arrays import Packed, describe, unpack
from padops.conformance.divergences import Divergence, in_range, judged_as
from padops.conformance.features import BEYOND, IDLE, Prepared
from padops.conformance.lines import plain
from padops.conformance.peers import Peer
from padops.plural import plural
from padops.spec.dtypes import element_bits


def judge(item: Prepared, answer: tuple[str, Any], peer: Peer) -> tuple[str, str]:
    """Judge an answer, in the form of ``worker.py``: return the outcome and the details ("" if there are none)."""
    kind, content = answer
    if kind == "output":
        if item.packed is None:
            return "differ", f"an output of shape {list(content[1])}, expected an error: {item.expected.message}"
        if content == item.packed or peer.within and _is_close(item.packed, content, peer.within):
            return "agree", ""
        return "differ", _difference(item.packed, content)
    if kind == "refused":
        if item.of_class == BEYOND and not peer.ours and not peer.name.startswith("without-pad-"):
            return "agree", f"refused, {BEYOND} (P4): {content}"
        if item.packed is not None:
            return "error", str(content)
        if peer.labels and f"[{item.expected.rule}]" not in content and not (peer.before and peer.before in content):
            return "error", f"{content}; expected an error of [{item.expected.rule}]"
        return "agree", ""
    return ("error" if kind == "broken" else kind), str(content)


def _is_close(expected: Packed, got: Packed, within: float) -> bool:
    """Return whether every float is close to the expected float; NaN is close to NaN, an infinity only to itself."""
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


@dataclass
class PeerRun:
    peer: Peer
    handshake: dict[str, Any] | None = None  # its Python and versions, or None if it is absent
    absent: str | None = None  # why the peer is absent, or None
    results: list[dict[str, Any]] = field(default_factory=list)
    left: int | None = None  # the number of cases that an interrupt left out; None without an interrupt
    recorded: str = ""  # the recorded versions if the peer's version is not among them; else empty
    known: Sequence[Divergence] = ()  # the divergences that concern the peer
    # For each divergence that matched a case: the number of cases with its outcome.
    seen: dict[str, int] = field(default_factory=dict)

    def begin(self, handshake: Mapping[str, Any], known: Sequence[Divergence]) -> None:
        """Receive the versions of the peer, and select the peer's divergences by these versions."""
        self.handshake, self.absent = {**handshake}, None
        version, self.recorded = judged_as(self.peer, handshake["versions"])
        name = self.peer.name.split("@")[0]
        self.known = [row for row in known if row.peer == name and in_range(version, row.versions)]

    def explain(self, item: Prepared, outcome: str, detail: str) -> str | None:
        """Return the id of the first divergence that explains an outcome, or None."""
        found = None
        for row in self.known if outcome not in IDLE else ():
            if row.matches(item):
                fits = outcome in row.outcomes and row.says in detail
                found = found or (row.id if fits else None)
                self.seen[row.id] = self.seen.get(row.id, 0) + fits
        return found

    def add(self, item: Prepared, answer: tuple[str, Any]) -> None:
        """Add the result of a case, in the form of a report."""
        case, peer = item.case, self.peer
        outcome, detail = judge(item, answer, peer)
        divergence = self.explain(item, outcome, detail)
        unexplained = outcome not in ("agree", *IDLE) and divergence is None
        result: dict[str, Any] = {
            "case": case.id,
            "origin": case.origin,
            "op": case.op,
            "mode": case.mode,
            "dtype": case.dtype.name,
            "rank": case.data.ndim,
            "rules": list(item.rules),
            "peer": peer.name,
            "outcome": outcome,
            "divergence": divergence,
            "unexpected": unexplained and not self.recorded,
            "new": unexplained and bool(self.recorded),
            "detail": detail[:600],
        }
        if outcome != "agree":
            expected = item.expected
            result["inputs"] = [describe(array) for array in case.inputs]
            result["attributes"] = {name: plain(value) for name, value in case.attributes.items()}
            result["expected"] = {"error": expected.message} if item.packed is None else describe(expected.output)
            result["got"] = describe(unpack(answer[1])) if answer[0] == "output" else None
        result["repro"] = f"padops conformance repro {case.id} --peer {peer.asked_as}" if peer.has_script else ""
        self.results.append(result)
