"""Runs cases on peers and judges the answers."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from padops.conformance.case import Case, seed_of
from padops.conformance.divergences import EXAMPLES, Divergence, DivergenceTracker, add_peers, judged_as, not_recorded
from padops.conformance.judging import Prepared, result_of
from padops.conformance.peers import ALL, PEERS, Peer, PeerRow
from padops.conformance.process import AbsentPeer, Process, Stop, Stopped
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
    jobs: int | None = None,
    shard: tuple[int, int] = (1, 1),
) -> list[PeerRun]:
    """Runs every case on every peer that has the operator.

    A slow peer gets fewer cases at the lower levels of ``cases.LEVELS``. ``progress`` is called with a peer's name, the
    cases that it has done and those that it gets. ``jobs`` peers work at a time; None: one on each core. ``shard`` (i,
    n) takes the i-th of every n of each peer's cases.

    Raises:
        CutShort: SIGINT or SIGTERM came while the peers were at work.
    """
    prepared = [Prepared.of(case) for case in cases]
    slow_first = sorted(range(len(peers)), key=lambda i: not peers[i].row.max_cases)  # no core is left alone with one
    stop = Stop()
    running: dict[int, Future[PeerRun]] = {}
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        run = lambda peer: _run_peer(prepared, peer, known, level, progress, shard, stop)
        try:
            for i in slow_first:
                running[i] = pool.submit(run, peers[i])
            # A signal that another thread receives, or that comes just before the wait, does not end a wait.
            left: set[Future[PeerRun]] = set(running.values())
            while left:
                done, left = wait(left, LISTENS, FIRST_EXCEPTION)
                for one in done:
                    one.result()
            return [running[i].result() for i in range(len(peers))]
        except BaseException as ending:  # whatever it is, the pool would wait until every peer has had all of its cases
            with uninterrupted():
                stop.now()
                pool.shutdown(cancel_futures=True)
            if isinstance(ending, (KeyboardInterrupt, SystemExit)):
                raise CutShort([_until_now(peer, running.get(i)) for i, peer in enumerate(peers)], ending) from ending
            raise


def _until_now(peer: Peer, running: Future[PeerRun] | None) -> PeerRun:
    """What a peer did until the run was cut short."""
    if running is None or running.cancelled():
        return PeerRun(peer, absent=NOT_BEGUN)
    return running.result()


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
    prepared: Sequence[Prepared],
    peer: Peer,
    known: Sequence[Divergence],
    level: str,
    progress: Progress,
    shard: tuple[int, int],
    stop: Stop,
) -> PeerRun:
    """Runs one peer, in a process that ``stop`` ends, on its share of the cases; the rest is as of ``run_cases``."""
    started = time.monotonic()
    process = Process(peer.row, peer.python, stop)
    ran = PeerRun(peer)
    mine = share(prepared, peer.row, level)[shard[0] - 1 :: shard[1]]
    try:
        ran.handshake = process.start()
        versions = ran.handshake["versions"]
        ran.recorded, version = not_recorded(peer.row, versions), judged_as(peer.row, versions)
        concerned = [divergence for divergence in known if divergence.concerns(peer.name, version)]
        tracker = DivergenceTracker(concerned, bool(ran.recorded))
        _ask(process, mine, ran, tracker, progress)
        ran.met, ran.seen = tracker.met, tracker.seen
    except AbsentPeer as error:
        ran.absent = str(error)
    except Stopped:
        ran.left = len(mine) - len(ran.results)
        if ran.handshake is None:
            ran.absent = NOT_BEGUN
    finally:
        ran.seconds = time.monotonic() - started
        process.end()
    return ran


def _ask(
    process: Process, mine: Sequence[Prepared], ran: PeerRun, tracker: DivergenceTracker, progress: Progress
) -> None:
    """Puts the answers of a peer that is there into ``ran``."""
    try:
        for item, answer in zip(
            mine, process.ask([ran.peer.row.prepared(item.case.request()) for item in mine]), strict=True
        ):
            ran.results.append(result_of(item, ran.peer, tracker, answer))
            progress(ran.peer.name, len(ran.results), len(mine))
    except AbsentPeer as error:  # it has died and does not start again, which no divergence explains
        text = f"the process did not start again: {error}"
        for i, item in enumerate(mine[len(ran.results) :]):
            answer = ("skipped" if i else "crash", text)
            ran.results.append(result_of(item, ran.peer, DivergenceTracker((), tracker.excused), answer))
