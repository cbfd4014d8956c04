"""Runs cases on peers and judges the answers."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from padops.conformance.case import Case, seed_of
from padops.conformance.divergences import EXAMPLES, Divergence, DivergenceTracker, add_peers, judged_as, not_recorded
from padops.conformance.judging import Prepared, result_of
from padops.conformance.peers import ALL, PEERS, Peer, PeerRow
from padops.conformance.process import AbsentPeer, Process, Stopped
from padops.conformance.record import PeerRun
from padops.files.interrupts import uninterrupted

Progress = Callable[[str, int, int], None]


def parse_peers(text: str) -> list[Peer]:
    """``NAME``, ``PATH.py``, which may have several peers, or ``PATH.py:function``, each with ``@/path/to/python``.

    Raises:
        ValueError: There is no such peer.
    """
    name, _, python = text.partition("@")
    if name in PEERS:
        return [Peer(text, PEERS[name], python or None)]
    # Either path may have an @ in it: the one that counts stands behind the file and the function.
    own = re.match(r"(.*?\.py)(?::([^\W\d]\w*))?(?:@(.*))?\Z", text, re.DOTALL)
    if own is None:
        raise ValueError(f"there is no peer {text!r}: expected one of {', '.join(PEERS)} or PATH.py:function")
    place, function, python = own[1], own[2], own[3] or ""
    path = Path(place).resolve()
    if not path.is_file():
        raise ValueError(f"peer {text!r}: there is no file {path}")
    rows = [PeerRow(f"{path.stem}:{function}", f"{path}:{function}", ALL)] if function else add_peers(path)
    return [Peer(row.name + (f"@{python}" if python else ""), row, python or None) for row in rows]


def parse_peer(text: str) -> Peer:
    """The peer, or the first of those, as of ``parse_peers``."""
    return parse_peers(text)[0]


def parse_command(text: str) -> Peer:
    """The peer that a command line starts, a program in the protocol of ``lines.py``; it says itself who it is.

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


LISTENS = 0.1  # seconds after which a signal is heard at the latest
NOT_BEGUN = "the run was cut short before its turn"


class CutShort(Exception):
    """A signal has ended the run; the processes of all peers have ended, too.

    Attributes:
        ran: What each peer did until then.
        ending: The exception that the signal raised.
    """

    def __init__(self, ran: list[PeerRun], ending: KeyboardInterrupt | SystemExit) -> None:
        super().__init__("the run was cut short")
        self.ran, self.ending = ran, ending


def run_cases(
    cases: Sequence[Case],
    peers: Sequence[Peer],
    known: Sequence[Divergence],
    level: str = "default",
    progress: Progress = lambda name, done, total: None,
) -> list[PeerRun]:
    """Runs every case on every peer that has the operator; a slow peer gets fewer cases at the lower levels.

    ``progress`` is called with a peer's name, the cases that it has done and those that it gets. One peer for each core
    works at a time.

    Raises:
        CutShort: SIGINT or SIGTERM came while the peers were at work.
    """
    prepared = [Prepared.of(case) for case in cases]
    ran = [PeerRun(peer, absent=NOT_BEGUN) for peer in peers]
    processes = [Process(peer.row, peer.python) for peer in peers]
    slow_first = sorted(range(len(peers)), key=lambda i: not peers[i].row.max_cases)  # no core is left alone with one
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        run = lambda i: _run_peer(ran[i], processes[i], share(prepared, peers[i].row, level), known, progress)
        try:
            left = {pool.submit(run, i) for i in slow_first}
            while left:  # a signal that another thread receives, or that comes just before a wait, does not end it
                done, left = wait(left, LISTENS, FIRST_EXCEPTION)
                for one in done:
                    one.result()
        except BaseException as ending:  # whatever it is, the pool would wait until every peer has had all of its cases
            with uninterrupted():
                for process in processes:
                    process.stop()
                pool.shutdown(cancel_futures=True)
                for process in processes:
                    process.end()
            if isinstance(ending, (KeyboardInterrupt, SystemExit)):
                raise CutShort(ran, ending) from ending
            raise
    return ran


def share(prepared: Sequence[Prepared], row: PeerRow, level: str) -> list[Prepared]:
    """The cases that a peer is asked for: of a slow one some, the examples of divergences first."""
    mine = [item for item in prepared if row.takes(item.features)]
    max_cases = {"quick": row.max_cases // 3, "default": row.max_cases}.get(level, 0)
    if not max_cases or len(mine) <= max_cases:
        return mine
    examples = set(EXAMPLES.values())
    mine.sort(key=lambda item: (item.case.id not in examples, seed_of(item.case.id)))
    chosen = {item.case.id for item in mine[:max_cases]}
    return [item for item in prepared if item.case.id in chosen]


def _run_peer(
    ran: PeerRun, process: Process, mine: Sequence[Prepared], known: Sequence[Divergence], progress: Progress
) -> None:
    """Runs one peer on its share of the cases; ``ran`` gets what it does."""
    started, peer = time.monotonic(), ran.peer
    try:
        ran.handshake, ran.absent = process.start(), None
        versions = ran.handshake["versions"]
        ran.recorded, version = not_recorded(peer.row, versions), judged_as(peer.row, versions)
        concerned = [divergence for divergence in known if divergence.concerns(peer.name, version)]
        tracker = DivergenceTracker(concerned, bool(ran.recorded))
        requests = (peer.row.prepared(item.case.request()) for item in mine)
        try:
            for item, answer in zip(mine, process.ask(requests), strict=True):
                ran.results.append(result_of(item, peer, tracker, answer))
                progress(peer.name, len(ran.results), len(mine))
        except AbsentPeer as error:  # it has died and does not start again, which no divergence explains
            text = f"the process did not start again: {error}"
            for i, item in enumerate(mine[len(ran.results) :]):
                answer = ("skipped" if i else "crash", text)
                ran.results.append(result_of(item, peer, DivergenceTracker((), tracker.excused), answer))
        ran.not_seen = tracker.not_seen
    except AbsentPeer as error:
        ran.absent = str(error)
    except Stopped:
        ran.left = len(mine) - len(ran.results)
    finally:
        ran.seconds = time.monotonic() - started
        process.end()
