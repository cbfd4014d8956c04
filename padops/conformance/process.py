"""A peer's process, seen from outside: started, fed, and started again when it dies."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from padops.conformance.lines import GarbledAnswer, question, receive_answer, receive_hello, send_case
from padops.conformance.model import RuleBroken
from padops.conformance.peers import environments, is_made, python_of
from padops.conformance.peers.request import Unsupported
from padops.conformance.worker import receive, send
from padops.files.interrupts import ending_of
from padops.processes import LateError, Pipes, kill_group, wait_for

if TYPE_CHECKING:
    from padops.conformance.peers import PeerRow

WORKER = Path(__file__).with_name("worker.py")
BATCH = 50
GIVE_UP = 20  # deaths without an answer between them
# Threads of their own would take the processor from the other peers.
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}


class AbsentPeer(Exception):
    """The implementation is not there."""


class Stopped(Exception):
    """The run is to end: the process has been killed, and no other one is started."""


class Stop:
    """Ends the processes of a run, which threads of their own wait for, at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self.asked = False

    def now(self) -> None:
        """Kills those that are running. Their threads then raise ``Stopped``, and so does who would start another."""
        with self._lock:
            self.asked = True
            for process in self._processes:
                if process.returncode is None:
                    kill_group(process)

    def start(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """A process that ends with the others.

        Raises:
            Stopped: They have ended.
        """
        with self._lock:  # else one could be started after ``now`` has looked
            if self.asked:
                raise Stopped
            process = start()
            self._processes.add(process)
            return process

    def end(self, pipes: Pipes) -> None:
        """Ends a process; its number may then be that of another one."""
        with self._lock:
            self._processes.discard(pipes.process)
        pipes.end()


class Process:
    """One peer's process; it is started with the first use."""

    def __init__(self, row: PeerRow, python: str | None, stop: Stop | None = None) -> None:
        """Starts the peer of ``row``: in ``python``, or in the peer's interpreter, or in this one; ``stop`` ends it."""
        self._row, self._given, self._stop = row, python, stop or Stop()
        self._pipes: Pipes | None = None
        self._errors = tempfile.TemporaryFile()
        self._answered = 0  # by the process that is running

    def start(self) -> dict[str, Any]:
        """Starts the process, and gives the versions and its Python, or of a command its name and families.

        Raises:
            AbsentPeer: The implementation cannot be imported, or the process dies of it.
            Stopped: The run is to end.
        """
        from padops.runtime.library import get_library_path

        environment = {**os.environ, **QUIET, "PADOPS_LIBRARY": get_library_path()}
        command, folder = self._command()
        self._answered = 0
        try:
            # A session of its own, so that children end with it.
            self._pipes = Pipes(self._stop.start(lambda: subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment,
                start_new_session=True, cwd=folder,
            )))  # fmt: skip
            handshake: dict[str, Any] = self._receive(receive_hello if self._row.command else receive)
        except (OSError, EOFError, GarbledAnswer, LateError) as error:
            words = str(error) or self._last_words()
            self.close()
            self._check_stop()
            raise AbsentPeer(f"{command[0]} did not start it: {words}") from error
        if "absent" in handshake:
            self.close()
            raise AbsentPeer(handshake["absent"])
        return handshake

    def _command(self) -> tuple[list[str], Path | None]:
        """What is started, and in which folder: that of its environment, or None for this one."""
        row = self._row
        if row.isolated and self._given is None and not is_made(row.environment):
            makes = f"python3 scripts/peers.py {row.environment} makes it, and @PYTHON names another interpreter"
            raise AbsentPeer(f"it has no environment: {makes}")
        if row.command:
            return list(row.command), environments() / row.environment if row.isolated else None
        own = str(python_of(row.environment)) if row.isolated else sys.executable
        forks = ["fork"] if row.forks else []
        return [self._given or own, "-W", "ignore", str(WORKER), row.entry_point, *forks], None

    def ask(self, requests: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
        """An answer for each request, as ``worker.py`` gives them, or ``("crash", text)`` where the process died.

        Memory that one case has ruined may end the process at a later one. So a crash counts where the case is the
        first of a fresh process; elsewhere the case is asked once more.
        """
        position, deaths = 0, 0
        size = 1 if self._row.command else BATCH  # a command answers each line before it gets the next one
        while position < len(requests):
            if deaths == GIVE_UP:
                yield "skipped", f"the process died {GIVE_UP} times in a row"
                position += 1
                continue
            for answer in self._ask_batch(requests[position : position + size]):
                if answer[0] == "crash" and self._answered:
                    self._answered = 0
                    break
                deaths = deaths + 1 if answer[0] == "crash" else 0
                position += 1
                yield answer

    def _ask_batch(self, batch: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
        """The answers up to the first crash."""
        if self._pipes is None:
            self.start()
        try:
            self._send(batch)
            for _ in batch:
                answer = self._receive(receive_answer if self._row.command else receive)
                if answer[0] == "died":
                    yield "crash", self._with_last_words(f"the process ended with {ending_of(answer[1])}")
                    self._answered = 0
                    return
                yield answer
                self._answered += 1
        except (EOFError, BrokenPipeError, LateError) as error:
            text = self._with_last_words(self._end_of_it(error))
            self.close()
            self._check_stop()
            yield "crash", text
        except GarbledAnswer as error:
            self.close()
            self._check_stop()
            yield "broken", str(error)
        except Unsupported as error:  # there is no model without Pad of it
            yield "unsupported", str(error)
        except RuleBroken as error:
            yield "refused", str(error)

    def _end_of_it(self, error: Exception) -> str:
        """How a process has ended that gives no more answers."""
        if isinstance(error, LateError):
            return str(error)
        code = wait_for(self._running().process)
        return "the process closed its output" if code is None else f"the process ended with {ending_of(code)}"

    def _send(self, batch: Sequence[dict[str, Any]]) -> None:
        """Sends the questions within the limit; the process is ended where it does not read them."""
        row = self._row
        asked = [question(sent, row.lowered, row.provider) for sent in batch] if row.command else []

        def talk(questions: IO[bytes], answers: IO[bytes]) -> None:
            if not row.command:
                send(questions, batch)
            for case in asked:
                send_case(questions, case)

        self._running().within(self._row.seconds, talk)

    def _receive(self, receive: Callable[[IO[bytes]], Any]) -> Any:
        """One message within the limit; the process is ended where none comes."""
        return self._running().within(self._row.seconds, lambda questions, answers: receive(answers))

    def end(self) -> None:
        """Ends the process for good."""
        self.close()
        self._errors.close()

    def close(self) -> None:
        """Ends the process; the next question starts another one."""
        if self._pipes is not None:
            self._stop.end(self._pipes)
            self._pipes = None

    def _running(self) -> Pipes:
        """The process, once it is started."""
        assert self._pipes is not None
        return self._pipes

    def _check_stop(self) -> None:
        """Has the thread end, where the process has died because the run is to."""
        if self._stop.asked:
            raise Stopped

    def _with_last_words(self, how: str) -> str:
        words = self._last_words()
        return f"{how}: {words}" if words else how

    def _last_words(self) -> str:
        """What the process has printed lately; it is forgotten with that."""
        self._errors.seek(0)
        words = " ".join(self._errors.read()[-400:].decode(errors="replace").split())
        self._errors.seek(0)
        self._errors.truncate()
        return words
