"""Runs onnxruntime in a copy of this process, since it may crash, for one when it divides an integer by 0."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from padops.convert.verify.sessions import DoesNotRun, Feeds, Session

SECONDS = 60.0  # the limit for one run of a part, and for loading it
WHOLE_SECONDS = 3600.0  # the limit for all runs of two whole models
SURVIVAL_SECONDS = 30  # the limit for a run that only shows whether onnxruntime survives it

Answering = Callable[[Any], Any]  # answers a question


class DiedError(DoesNotRun):
    """The copy died, or gave no answer in time and was killed; the message says which."""


def can_copy() -> bool:
    """Whether this process can be forked: on Linux, without other threads, which may hold locks."""
    return sys.platform == "linux" and threading.active_count() == 1 and not current_process().daemon


class ProcessCopy:
    """Answers questions in a copy of this process; after a crash, in a new copy. Without fork, in this process."""

    def __init__(self, prepare: Callable[[], Answering]) -> None:
        """Starts the copy, in which ``prepare`` returns the function that answers.

        Raises:
            DiedError: The copy died.
            Exception: ``prepare`` raised it.
        """
        self._prepare, self._copy = prepare, _Copy(prepare) if can_copy() else None
        self._here = prepare() if self._copy is None else None

    def ask(self, question: Any, seconds: float) -> Any:
        """The answer to a question that can be pickled. In this process, ``seconds`` do not count.

        Raises:
            DiedError: The copy died, or gave no answer in time.
            Exception: The answering function raised it.
        """
        if self._here is not None:
            return self._here(question)
        if self._copy is None:
            self._copy = _Copy(self._prepare)
        try:
            return self._copy.ask(question, seconds)
        except DiedError:
            self._copy = None
            raise

    def close(self) -> None:
        """Ends the copy."""
        if self._copy is not None:
            self._copy.close()


class _Copy:
    """A copy of this process that answers questions until it is closed."""

    def __init__(self, prepare: Callable[[], Answering]) -> None:
        forking = get_context("fork")
        self._pipe, theirs = forking.Pipe()
        self._process = forking.Process(target=_serve, args=(prepare, theirs, self._pipe), daemon=True)
        self._process.start()
        theirs.close()
        self._receive(SECONDS)

    def ask(self, question: Any, seconds: float) -> Any:
        self._pipe.send(question)
        return self._receive(seconds)

    def _receive(self, seconds: float) -> Any:
        try:
            if not self._pipe.poll(seconds):
                raise DiedError(f"onnxruntime gave no answer in {seconds:g} s")
            answer, error = self._pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode or 0
            self.close()
            how = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"
            raise DiedError(f"onnxruntime has ended its process ({how})") from None
        except BaseException:  # an interrupt among them
            self.close()
            raise
        if error is not None:
            raise error
        return answer

    def close(self) -> None:
        self._pipe.close()
        if self._process.is_alive():
            self._process.kill()
        self._process.join()


def _serve(prepare: Callable[[], Answering], pipe: Connection, other: Connection) -> None:
    """Answers questions until the pipe closes; runs in the copy."""
    other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and ends its copy
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _silence()
    answering, error = _reply(lambda question: prepare(), None)
    pipe.send((None, error))
    if error is not None:
        return
    with suppress(EOFError):  # the parent closed the pipe or has gone
        while True:
            pipe.send(_reply(answering, pipe.recv()))


def _silence() -> None:
    """Keeps a crash of this process from printing to the user's terminal."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    faulthandler.disable()


def _reply(answering: Answering, question: Any) -> tuple[Any, Exception | None]:
    """The answer, or the exception raised instead."""
    try:
        return answering(question), None
    except Exception as error:  # of any type: the parent raises it again
        return None, error


def survive(models: Sequence[Path], feeds: Feeds) -> bool:
    """Whether onnxruntime runs or refuses these inputs without a crash: some kernels divide by 0 for rare sizes.

    This runs in a ``ProcessCopy``, which may not make another one: so it forks.
    """
    if not hasattr(os, "fork"):
        return False  # without fork, they are not run
    child = os.fork()
    if child:
        return _ended_well(child)
    code = 1
    try:  # no exception, not even an interrupt, may return from this call in the child
        _silence()
        for path in models:
            with suppress(Exception):
                Session(path, True).run(feeds)
        code = 0
    finally:
        os._exit(code)


def _ended_well(child: int) -> bool:
    """Whether a child process ends in time with exit code 0; otherwise it is killed."""
    end, done, status = time.monotonic() + SURVIVAL_SECONDS, 0, 0
    try:
        while not done and time.monotonic() < end:
            time.sleep(0.005)
            done, status = os.waitpid(child, os.WNOHANG)
    finally:
        if not done:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return bool(done) and status == 0
