"""Runs cases on peers; each peer has a process of its own."""

from __future__ import annotations

import os
import pickle
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from padops.conformance.divergences import EXAMPLES, Divergence, add_peers
from padops.conformance.features import Prepared
from padops.conformance.judging import PeerRun
from padops.conformance.lines import GarbledAnswer, question, receive_answer, receive_hello
from padops.conformance.model import RuleBroken
from padops.conformance.peers import ALL, PEERS, Peer, environments, is_made, python_of
from padops.conformance.peers.request import Request, Unsupported
from padops.files.interrupts import uninterrupted
from padops.processes import LateError, Pipes, how_ended, kill_group, wait_for

WORKER = Path(__file__).with_name("worker.py")
GIVE_UP = 20  # consecutive deaths without an answer
# With several threads, a peer would take the processor from the other peers.
QUIET = dict.fromkeys(("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"), "1")
QUIET |= {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}


class AbsentPeer(Exception):
    """The implementation is absent."""


class Stopped(Exception):
    """The run is ending: the process was killed, and no other process starts."""


def _ended_with(code: int | None) -> str:
    how = f"ended with {how_ended(code).removeprefix('exit ')}"
    return f"the process {'closed its output' if code is None else how}"


class Process:
    """One peer's process; it starts at its first use."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._pipes: Pipes | None = None
        self._errors = tempfile.TemporaryFile()
        self._is_fresh = True  # the process has not answered yet
        self._lock = threading.Lock()  # otherwise a process could start after the check in ``stop``
        self._stopped = False

    def start(self) -> dict[str, Any]:
        """Start the process; return the peer's Python and versions, or a command's name, families and versions."""
        from padops.runtime.library import get_library_path

        environment = {**os.environ, **QUIET, "PADOPS_LIBRARY": get_library_path()}
        peer = self._peer
        if peer.environment and peer.python is None and not is_made(peer.environment):
            makes = f"python3 scripts/peers.py {peer.environment} makes it, and @PYTHON names another interpreter"
            raise AbsentPeer(f"the environment is missing: {makes}")
        python = peer.python or (str(python_of(peer.environment)) if peer.environment else sys.executable)
        forks = ["fork"] if peer.forks else []
        command = [*peer.command] or [python, "-W", "ignore", str(WORKER), peer.entry_point, *forks]
        folder = environments() / peer.environment if peer.command and peer.environment else None
        self._is_fresh = True
        try:
            with self._lock:
                if self._stopped:
                    raise Stopped
                # A session of its own, so that its children end with the process.
                self._pipes = Pipes(subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment,
                    start_new_session=True, cwd=folder,
                ))  # fmt: skip
            handshake: dict[str, Any] = self._receive(b"", receive_hello)
        except (OSError, EOFError, GarbledAnswer, LateError, pickle.UnpicklingError) as error:
            handshake = {"absent": f"{command[0]} did not start the peer: {str(error) or self._last_words()}"}
        if "absent" in handshake:
            self.close()
            raise AbsentPeer(handshake["absent"])
        return handshake

    def _receive(self, asked: bytes, of_command: Callable[[IO[bytes]], Any]) -> Any:
        """Send bytes and receive a message in time; ``of_command`` reads the message of a peer that is a command."""
        receive = of_command if self._peer.command else pickle.load

        def talk(questions: IO[bytes], answers: IO[bytes]) -> Any:
            questions.write(asked)
            questions.flush()
            return receive(answers)

        assert self._pipes is not None
        return self._pipes.within(self._peer.seconds, talk)

    def ask(self, cases: Iterable[Request]) -> Iterator[tuple[str, Any]]:
        """Yield an answer for each case: the pair that ``worker.py`` sends, or ``("crash", text)`` if the process died.

        Memory that one case corrupts may crash the process at a later case. So a crash counts only if the case is the
        first of a fresh process; otherwise the case runs once more.
        """
        deaths = 0
        for case in cases:
            if deaths == GIVE_UP:
                yield "skipped", f"the process died {GIVE_UP} times in a row"
                continue
            was_fresh = self._is_fresh
            answer = self._answer_to(case)
            if answer[0] == "crash" and not was_fresh:
                answer = self._answer_to(case)
            deaths = deaths + 1 if answer[0] == "crash" else 0
            yield answer

    def _answer_to(self, case: Request) -> tuple[str, Any]:
        """Send a case to the process, and return the answer; end a process that gives no valid answer."""
        if self._pipes is None:
            self.start()
        assert self._pipes is not None
        peer, asked = self._peer, self._peer.prepared(case)
        try:
            sent = question(asked, peer.lowered, peer.provider) if peer.command else pickle.dumps(asked.sent(), 4)
            kind, content = self._receive(sent, receive_answer)
        except (Unsupported, RuleBroken) as error:  # the case has no converted model
            return "unsupported" if isinstance(error, Unsupported) else "refused", str(error)
        except GarbledAnswer as error:
            self.close()
            return "broken", str(error)
        except (LateError, EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            how = str(error) if isinstance(error, LateError) else _ended_with(wait_for(self._pipes.process))
            answer = "crash", how + self._last_words(": ")
            self.close()
            return answer
        self._is_fresh = kind == "died"  # another child answers the next case
        return ("crash", _ended_with(content) + self._last_words(": ")) if self._is_fresh else (kind, content)

    def stop(self) -> None:
        """Kill the process from another thread; the waiting thread raises ``Stopped``."""
        with self._lock:
            self._stopped = True
            if self._pipes is not None and self._pipes.process.returncode is None:
                kill_group(self._pipes.process)

    def close(self, last: bool = False) -> None:
        """End the process; the next case starts a new process. Raise Stopped in a stopped run if not ``last``."""
        with self._lock:  # the system may reuse the id of an ended process
            pipes, self._pipes = self._pipes, None
        if pipes is not None:
            pipes.end()
        if last:
            self._errors.close()
        elif self._stopped:
            raise Stopped

    def _last_words(self, before: str = "") -> str:
        """Return and delete the latest error output of the process, with the prefix ``before``; "" without output."""
        self._errors.seek(0)
        words = " ".join(self._errors.read()[-400:].decode(errors="replace").split())
        self._errors.seek(0)
        self._errors.truncate()
        return f"{before}{words}" if words else ""


Progress = Callable[[str, int, int], None]  # receives a peer's name, and its numbers of finished cases and of all cases


def parse_peers(text: str) -> list[Peer]:
    """Parse ``NAME``, ``PATH.py`` (all its peers) or ``PATH.py:function``; ``@/path/to/python`` may follow."""
    name, _, python = text.partition("@")
    if name in PEERS:
        return [replace(PEERS[name], name=text, python=python or None)]
    # Either path may contain an @: the separator is the @ behind the file and the function.
    own = re.match(r"(.*?\.py)(?::([^\W\d]\w*))?(?:@(.*))?\Z", text, re.DOTALL)
    if own is None:
        raise ValueError(f"there is no peer {text!r}: expected one of {', '.join(PEERS)} or PATH.py:function")
    place, function, python = own[1], own[2], own[3] or ""
    path = Path(place).resolve()
    if not path.is_file():
        raise ValueError(f"peer {text!r}: there is no file {path}")
    peers = [Peer(f"{path.stem}:{function}", f"{path}:{function}", ALL)] if function else add_peers(path)
    return [replace(peer, name=f"{peer.name}@{python}", python=python) if python else peer for peer in peers]


def parse_command(text: str) -> Peer:
    """Return the peer of a command line; the program uses the protocol of ``lines.py``, and reports the peer's name."""
    peer = Peer("command", "", ("onnx",), command=tuple(shlex.split(text)))
    if not peer.command:
        raise ValueError(f"peer command {text!r} names no program")
    process = Process(peer)
    try:
        hello = process.start()
    except AbsentPeer as error:
        raise ValueError(f"peer command {text!r}: {error}") from error
    finally:
        process.close(last=True)
    return replace(peer, name=hello["name"], families=tuple(hello["families"]))


LISTENS = 0.1  # the most seconds until the run notices a signal
NOT_BEGUN = "the run was cut short before its turn"


class CutShort(Exception):
    """A signal has ended the run; ``ending`` is the exception of the signal, ``ran`` has the results until then."""

    def __init__(self, ran: list[PeerRun], ending: KeyboardInterrupt | SystemExit) -> None:
        self.ran, self.ending = ran, ending


def run_cases(
    cases: Sequence[Request],
    peers: Sequence[Peer],
    known: Sequence[Divergence],
    level: str = "default",
    progress: Progress = lambda name, done, total: None,
) -> list[PeerRun]:
    """Run every case on every peer that has the operator; a slow peer gets fewer cases at the lower levels."""
    prepared = [Prepared.of(case) for case in cases]
    ran = [PeerRun(peer, absent=NOT_BEGUN) for peer in peers]
    processes = [Process(peer) for peer in peers]
    slow_first = sorted(range(len(peers)), key=lambda i: not peers[i].max_cases)  # so that no slow peer is left last
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        run = lambda i: _run_peer(ran[i], processes[i], share(prepared, peers[i], level), known, progress)
        try:
            left = {pool.submit(run, i) for i in slow_first}
            while left:  # a signal in another thread, or just before a wait, does not end the wait
                done, left = wait(left, LISTENS, FIRST_EXCEPTION)
                for one in done:
                    one.result()
        except BaseException as ending:  # of any kind: else the pool would wait for all cases of every peer
            with uninterrupted():
                for process in processes:
                    process.stop()
                pool.shutdown(cancel_futures=True)
            if isinstance(ending, (KeyboardInterrupt, SystemExit)):
                raise CutShort(ran, ending) from ending
            raise
    return ran


def share(prepared: Sequence[Prepared], peer: Peer, level: str) -> list[Prepared]:
    """Return the cases that a peer runs; for a slow peer, choose only some, examples of divergences first."""
    mine = [item for item in prepared if peer.takes(item)]
    max_cases = {"quick": peer.max_cases // 3, "default": peer.max_cases}.get(level, 0)
    if not max_cases or len(mine) <= max_cases:
        return mine
    examples = set(EXAMPLES.values())
    first = sorted(mine, key=lambda item: (item.case.id not in examples, crc32(item.case.id.encode())))[:max_cases]
    chosen = {item.case.id for item in first}
    return [item for item in mine if item.case.id in chosen]


def _run_peer(
    ran: PeerRun, process: Process, mine: Sequence[Prepared], known: Sequence[Divergence], progress: Progress
) -> None:
    """Run one peer on its share of the cases; ``ran`` receives the results."""
    try:
        ran.begin(process.start(), known)
        try:
            for item, answer in zip(mine, process.ask(item.case for item in mine), strict=True):
                ran.add(item, answer)
                progress(ran.peer.name, len(ran.results), len(mine))
        except AbsentPeer as error:  # the peer died and does not start again, which no divergence explains
            ran.known = ()
            for i, item in enumerate(mine[len(ran.results) :]):
                ran.add(item, ("skipped" if i else "crash", f"the process did not start again: {error}"))
    except AbsentPeer as error:
        ran.absent = str(error)
    except Stopped:
        ran.left = len(mine) - len(ran.results)
    finally:
        process.close(last=True)
