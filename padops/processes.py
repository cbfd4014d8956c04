"""Processes that answer through pipes: every wait has a limit, and a killed process takes its children with it.

A library in a process may start children, which inherit the pipes: a pipe may stay open after its process has ended.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import IO, Any, TypeVar

Answer = TypeVar("Answer")

LOOKS = 0.1  # seconds between checks whether a process has ended, if the pipe does not show it
ENDING = 5  # seconds within which a process must end by itself, and a killed process must be gone


class LateError(Exception):
    """A process did not answer in time and was killed."""


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and its children; the process must have been started with ``start_new_session``."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError, AttributeError):  # the process has ended, or the system has no groups
        process.kill()


def wait_for(process: subprocess.Popen[bytes]) -> int | None:
    """Returns the exit code of a process that is about to end; None if it has not ended by itself and was killed."""
    try:
        return process.wait(ENDING)
    except subprocess.TimeoutExpired:
        kill_group(process)
    with contextlib.suppress(subprocess.TimeoutExpired):  # a system call keeps the process alive
        process.wait(ENDING)
    return None


def how_ended(code: int | None) -> str:
    """Describes how a process ended, from ``subprocess``'s exit code: ``"SIGSEGV"``, or ``"exit code 1"``."""
    if code is None or code >= 0:
        return f"exit code {code}"
    names = {number.value: number.name for number in signal.Signals}  # real-time signals have no name
    return names.get(-code, f"signal {-code}")


def own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Returns the standard input and output of this process, as files that nothing else reads or writes.

    Afterwards, a library that reads standard input gets nothing, and text that a library prints goes to standard error.
    (No thread reads questions from ``sys.stdin``: in a forked child, multiprocessing first closes ``sys.stdin``, and
    closing would wait forever for a thread that reads from ``sys.stdin``.)
    """
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


class Pipes:
    """The standard input and output of a process that was started with ``start_new_session``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        self.process, self._both = process, (process.stdin, process.stdout)
        self._talking: threading.Thread | None = None
        self._ended = False

    def within(self, seconds: float, talk: Callable[[IO[bytes], IO[bytes]], Answer]) -> Answer:
        """Calls ``talk`` with the pipes to and from the process, in a thread; waits for at most ``seconds``.

        A thread that does not end is abandoned: a read from a pipe cannot be cancelled.

        Raises:
            LateError: ``talk`` took longer. The process was killed.
            EOFError: The process ended before ``talk`` returned.
        """
        if self._talking is not None:
            self._talking.join(ENDING)  # the thread has answered and is about to end
            if self._talking.is_alive():
                raise EOFError
        limit, ended, answer = time.monotonic() + seconds, False, Future[Answer]()

        def run() -> None:
            try:
                answer.set_result(talk(*self._both))
            except BaseException as error:  # raised again by the waiting thread
                answer.set_exception(error)
            if self._ended:
                self._close()

        self._talking = threading.Thread(target=run, daemon=True)
        self._talking.start()
        while not wait([answer], LOOKS).done:
            if not ended and self.process.poll() is not None:
                ended = True
                kill_group(self.process)  # its children, which hold the pipes
                limit = time.monotonic() + ENDING  # time to read the remaining output
            if time.monotonic() >= limit:
                if ended:
                    raise EOFError
                kill_group(self.process)
                raise LateError(f"no answer within {seconds:g} s")
        return answer.result()

    def end(self) -> None:
        """Kills the process with its children, and closes the pipes."""
        kill_group(self.process)
        wait_for(self.process)
        self._ended = True
        if self._talking is not None:
            self._talking.join(ENDING)
            if self._talking.is_alive():  # a process outside of the session holds a pipe
                return  # the thread closes both pipes later
        self._close()

    def _close(self) -> None:
        for pipe in self._both:
            with contextlib.suppress(BrokenPipeError):  # nobody has read the buffered bytes
                pipe.close()


class Pickled:
    """A Python program that answers pickled questions in a separate process, until ``close``; see ``serve``."""

    def __init__(self, name: str, seconds: float, program: Sequence[str]) -> None:
        """Starts Python with the arguments ``program``; each answer may take ``seconds``; errors call it ``name``."""
        self._name, self._seconds = name, seconds
        self.gone = ""  # why the process is gone: it has died, or was killed because it did not answer in time
        pipe, quiet, command = subprocess.PIPE, subprocess.DEVNULL, [sys.executable, *program]
        self._pipes = Pipes(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, start_new_session=True))

    def ask(self, question: Any) -> Any:
        """Returns the answer to a question; raises RuntimeError if the process refuses it, has died, or is late."""

        def talk(requests: IO[bytes], answers: IO[bytes]) -> Any:
            pickle.dump(question, requests)
            requests.flush()
            return pickle.load(answers)

        answer, refusal = None, ""
        if not self.gone:
            try:
                answer, refusal = self._pipes.within(self._seconds, talk)
            except LateError as error:
                self.gone = f"{self._name} gave {error}"
            except (BrokenPipeError, EOFError, pickle.UnpicklingError):  # the last: a cut-off answer
                self.gone = f"{self._name} has died ({how_ended(wait_for(self._pipes.process))})"
        if self.gone or refusal:
            raise RuntimeError(self.gone or refusal)
        return answer

    def close(self) -> None:
        """Kills the process with its children."""
        self._pipes.end()

    def terminate(self) -> None:
        """Asks the process to end, and returns at once; ``wait`` waits for the end."""
        self._pipes.process.terminate()

    def wait(self) -> None:
        """Waits for the process to end by itself; if it does not, kills it with its children."""
        wait_for(self._pipes.process)
        self._pipes.end()


def serve(answer: Callable[[Any], Any]) -> None:
    """Answers the questions of a ``Pickled`` until the pipe closes; sends an exception back as a one-line refusal."""
    requests, answers = own_pipes()
    with contextlib.suppress(EOFError):  # at the end of the questions
        while True:
            question = pickle.load(requests)
            try:
                reply = answer(question), ""
            except Exception as error:  # of any type: libraries raise their own
                reply = None, " ".join(str(error).split())
            pickle.dump(reply, answers)
            answers.flush()
