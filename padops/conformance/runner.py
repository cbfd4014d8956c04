"""Runs cases on peers and judges the answers."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from padops.conformance.arrays import Packed, describe, pack, unpack
from padops.conformance.case import Case, Expected, expect, seed_of
from padops.conformance.divergences import Divergence, DivergenceTracker
from padops.conformance.features import CaseFeatures, features_of, rules_of
from padops.conformance.known import EXAMPLES
from padops.conformance.lines import plain
from padops.conformance.peers import ALL, PEERS, PeerRow
from padops.conformance.process import AbsentPeer, Process
from padops.conformance.record import IDLE
from padops.conformance.repro import has_script

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Peer:
    """A peer that has been asked for.

    Attributes:
        name: As reports call it, with the interpreter where it is another one.
        row: What it is.
        python: Its interpreter; None for this one.
    """

    name: str
    row: PeerRow
    python: str | None = None


def parse_peer(text: str) -> Peer:
    """``NAME``, ``NAME@/path/to/python`` or ``PATH:function``.

    Raises:
        ValueError: There is no such peer.
    """
    name, _, python = text.partition("@")
    if name in PEERS:
        return Peer(text, PEERS[name], python or None)
    # Either path may have an @ in it: the one that counts stands behind the function.
    own = re.match(r"(.*?\.py):([^\W\d]\w*)(?:@(.*))?\Z", text, re.DOTALL)
    if own is not None:
        place, function, python = own[1], own[2], own[3] or ""
        path = Path(place).resolve()
        if not path.is_file():
            raise ValueError(f"peer {text!r}: there is no file {path}")
        row = PeerRow(f"{path.stem}:{function}", f"{path}:{function}", ALL)
        return Peer(row.name + (f"@{python}" if python else ""), row, python or None)
    raise ValueError(f"there is no peer {text!r}: expected one of {', '.join(PEERS)} or PATH.py:function")


def parse_command(text: str) -> Peer:
    """The peer that a command starts; it says itself who it is.

    Args:
        text: A command line, for a program in the protocol of ``lines.py``.

    Raises:
        ValueError: It is no command line, or the program does not say who it is.
    """
    command = tuple(shlex.split(text))
    if not command:
        raise ValueError(f"peer command {text!r}: it names no program")
    row = PeerRow("command", "", ("onnx",), command=command)
    process = Process(row, None)
    try:
        hello = process.start()
    except AbsentPeer as error:
        raise ValueError(f"peer command {text!r}: {error}") from error
    finally:
        process.end()
    return Peer(hello["name"], replace(row, name=hello["name"], families=tuple(hello["families"])))


@dataclass(frozen=True)
class Prepared:
    """A case with all that is known of it before a peer runs it."""

    case: Case
    expected: Expected
    features: CaseFeatures
    packed: Packed | None

    @classmethod
    def of(cls, case: Case) -> Prepared:
        """Asks the reference."""
        expected = expect(case)
        return cls(case, expected, features_of(case, expected), pack(expected.output))


@dataclass
class PeerRun:
    """What one peer did.

    Attributes:
        peer: Which.
        handshake: Its Python and versions, or None where it is absent.
        absent: Why, or None.
        results: For the report.
        met: How many of its cases each divergence has matched.
        seen: How many of these came out as it says.
        seconds: How long it took.
    """

    peer: Peer
    handshake: dict[str, Any] | None = None
    absent: str | None = None
    results: list[dict[str, Any]] = field(default_factory=list)
    met: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    seconds: float = 0

    @property
    def stale(self) -> list[str]:
        """Divergences that no longer occur: their cases ran, and none came out as they say."""
        return [id for id, count in self.met.items() if count and not self.seen.get(id)]


def run_cases(
    cases: Sequence[Case],
    peers: Sequence[Peer],
    known: Sequence[Divergence],
    level: str = "default",
    progress: Progress = lambda name, done, total: None,
    jobs: int | None = None,
    shard: tuple[int, int] = (1, 1),
) -> list[PeerRun]:
    """Runs every case on every peer that has the operator.

    Args:
        cases: What to run.
        peers: Who runs it.
        known: The divergences that may occur.
        level: A key of ``cases.LEVELS``; a slow peer gets fewer cases at the lower ones.
        progress: Called with a peer's name, the cases that it has done and those that it gets.
        jobs: How many peers work at a time; None for one on each core.
        shard: ``(i, n)``: of each peer's cases the i-th of every n.
    """
    prepared = [Prepared.of(case) for case in cases]
    slow_first = sorted(range(len(peers)), key=lambda i: not peers[i].row.max_cases)  # no core is left alone with one
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        run = lambda peer: run_peer(prepared, peer, known, level, progress, shard)
        running = {i: pool.submit(run, peers[i]) for i in slow_first}
        return [running[i].result() for i in range(len(peers))]


def share(prepared: Sequence[Prepared], row: PeerRow, level: str) -> list[Prepared]:
    """The cases that a peer is asked for: of a slow one some, the examples of divergences first.

    Args:
        prepared: All cases.
        row: The peer.
        level: A key of ``cases.LEVELS``.
    """
    mine = [item for item in prepared if row.takes(item.features)]
    max_cases = {"quick": row.max_cases // 3, "default": row.max_cases}.get(level, 0)
    if not max_cases or len(mine) <= max_cases:
        return mine
    examples = set(EXAMPLES.values())
    mine.sort(key=lambda item: (item.case.id not in examples, seed_of(item.case.id)))
    chosen = {item.case.id for item in mine[:max_cases]}
    return [item for item in prepared if item.case.id in chosen]


def run_peer(
    prepared: Sequence[Prepared],
    peer: Peer,
    known: Sequence[Divergence],
    level: str,
    progress: Progress,
    shard: tuple[int, int] = (1, 1),
) -> PeerRun:
    """Runs one peer in its process.

    Args:
        prepared: All cases; the peer gets its share of them.
        peer: Who runs them.
        known: The divergences that may occur.
        level: A key of ``cases.LEVELS``.
        progress: Called with the peer's name, the cases that it has done and those that it gets.
        shard: As of ``run_cases``.
    """
    started = time.monotonic()
    process = Process(peer.row, peer.python)
    ran = PeerRun(peer)
    mine = share(prepared, peer.row, level)[shard[0] - 1 :: shard[1]]
    try:
        ran.handshake = process.start()
        version = next(iter(ran.handshake["versions"].values()), "")
        tracker = DivergenceTracker([divergence for divergence in known if divergence.concerns(peer.name, version)])
        _ask(process, mine, ran, tracker, progress)
        ran.met, ran.seen = tracker.met, tracker.seen
        ran.seconds = time.monotonic() - started
    except AbsentPeer as error:
        ran.absent = str(error)
    finally:
        process.end()
    return ran


def _ask(
    process: Process, mine: Sequence[Prepared], ran: PeerRun, tracker: DivergenceTracker, progress: Progress
) -> None:
    """Puts the answers of a peer that is there into ``ran``."""
    try:
        for item, answer in zip(mine, process.ask([item.case.request() for item in mine]), strict=True):
            ran.results.append(_result(item, ran.peer, tracker, answer))
            progress(ran.peer.name, len(ran.results), len(mine))
    except AbsentPeer as error:  # it has died and does not start again, which no divergence explains
        text = f"the process did not start again: {error}"
        for i, item in enumerate(mine[len(ran.results) :]):
            answer = ("skipped" if i else "crash", text)
            ran.results.append(_result(item, ran.peer, DivergenceTracker(()), answer))


def judge(item: Prepared, answer: tuple[str, Any], row: PeerRow) -> tuple[str, str]:
    """The outcome and, unless it is ``"agree"``, what is to say about it.

    Args:
        item: The case.
        answer: As ``worker.py`` gives it.
        row: Who says so.
    """
    kind, content = answer
    if kind == "output":
        if item.packed is None:
            return "differ", f"an output of shape {list(content[1])}, expected an error: {item.expected.message}"
        return ("agree", "") if content == item.packed else ("differ", _difference(item.packed, content))
    if kind == "refused":
        if item.packed is not None:
            return "error", str(content)
        if row.labels and f"[{item.expected.rule}]" not in content and not (row.before and row.before in content):
            return "error", f"{content}; expected an error of [{item.expected.rule}]"
        return "agree", ""
    return ("error" if kind == "broken" else kind), str(content)


def _difference(expected: Packed, got: Packed) -> str:
    """How two outputs differ, in a line."""
    if expected[:2] != got[:2]:
        return f"{got[0]}{list(got[1])}, expected {expected[0]}{list(expected[1])}"
    wanted, found = unpack(expected), unpack(got)
    if expected[0] == "string":
        wrong = np.array(expected[2], object) != np.array(got[2], object)
    else:
        raw = [np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}") for array in (wanted, found)]
        wrong = raw[0] != raw[1]
    first = int(np.flatnonzero(wrong)[0])
    place = [int(i) for i in np.unravel_index(first, expected[1])]
    one, other = (describe(array.reshape(-1)[first : first + 1])["values"][0] for array in (wanted, found))
    return f"{int(wrong.sum())} of {wrong.size} elements differ, the first at {place}: {other!r}, expected {one!r}"


def _result(item: Prepared, peer: Peer, tracker: DivergenceTracker, answer: tuple[str, Any]) -> dict[str, Any]:
    case = item.case
    outcome, detail = judge(item, answer, peer.row)
    divergence = tracker.explain(item.features, outcome, detail) if not peer.row.in_house else None
    result: dict[str, Any] = {
        "case": case.id,
        "origin": case.origin,
        "op": case.op,
        "mode": case.mode,
        "dtype": case.dtype,
        "rank": case.rank,
        "rules": list(rules_of(item.features)),
        "peer": peer.name,
        "outcome": outcome,
        "divergence": divergence,
        "unexpected": outcome not in ("agree", *IDLE) and divergence is None,
        "detail": detail[:600],
    }
    if outcome != "agree":
        result["inputs"] = [describe(array) for array in case.arrays()]
        result["attributes"] = {name: plain(value) for name, value in case.attributes.items()}
        result["expected"] = {"error": item.expected.message} if item.packed is None else describe(item.expected.output)
        result["got"] = describe(unpack(answer[1])) if answer[0] == "output" else None
    result["repro"] = f"padops conformance repro {case.id} --peer {peer.name}" if has_script(peer.row) else ""
    return result
