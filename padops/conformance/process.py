"""A peer's process, seen from outside: started, fed, and started again when it dies."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from padops.conformance.worker import receive, send

WORKER = Path(__file__).with_name("worker.py")
BATCH = 50
GIVE_UP = 20  # deaths without an answer between them
# Threads of their own would take the processor from the other peers.
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}


class AbsentPeer(Exception):
    """The implementation is not there."""


class Process:
    """One peer's process; it is started with the first use."""

    def __init__(self, home: str, python: str | None, seconds: float) -> None:
        """``home`` is what ``worker.py`` takes, ``python`` its interpreter, ``seconds`` the limit of a batch."""
        self._home, self._python, self._seconds = home, python or sys.executable, seconds
        self._process: subprocess.Popen | None = None
        self._errors = tempfile.TemporaryFile()
        self._late = False

    def start(self) -> dict[str, Any]:
        """Starts the process, and gives its Python and the versions.

        Raises:
            AbsentPeer: The implementation cannot be imported, or the process dies of it.
        """
        from padops.session import get_library_path

        environment = {**os.environ, **QUIET, "PADOPS_LIBRARY": get_library_path()}
        self._errors.seek(0)
        self._errors.truncate()
        try:
            self._process = subprocess.Popen(
                [self._python, "-W", "ignore", str(WORKER), self._home],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment,
            )  # fmt: skip
            told = self._receive()
        except (OSError, EOFError) as error:
            self.close()
            raise AbsentPeer(f"{self._python} did not start it: {error or self._last_words()}") from error
        if "absent" in told:
            self.close()
            raise AbsentPeer(told["absent"])
        return told

    def ask(self, requests: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
        """An answer for each request, as ``worker.py`` gives them, or ``("crash", text)`` where the process died."""
        deaths, position = 0, 0
        while position < len(requests):
            if deaths == GIVE_UP:
                yield "skipped", f"the process died {GIVE_UP} times in a row"
                position += 1
                continue
            if self._process is None:
                self.start()
            batch = requests[position : position + BATCH]
            try:
                send(self._process.stdin, batch)
                for _ in batch:
                    answer = self._receive()
                    position, deaths = position + 1, 0
                    yield answer
            except (EOFError, BrokenPipeError):
                text = self._death()
                position, deaths = position + 1, deaths + 1
                yield "crash", text

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None

    def _receive(self) -> Any:
        """One message within the limit; the process is ended where none comes."""
        process, self._late = self._process, False

        def end() -> None:
            self._late = True
            process.kill()

        timer = threading.Timer(self._seconds, end)
        timer.daemon = True
        timer.start()
        try:
            return receive(process.stdout)
        finally:
            timer.cancel()

    def _death(self) -> str:
        code = self._process.wait()
        how = f"no answer within {self._seconds:g} s" if self._late else f"the process ended with {_ending(code)}"
        words = self._last_words()
        self.close()
        return f"{how}: {words}" if words else how

    def _last_words(self) -> str:
        self._errors.seek(0)
        return " ".join(self._errors.read()[-400:].decode(errors="replace").split())


def _ending(code: int) -> str:
    import signal

    return signal.Signals(-code).name if code < 0 else f"code {code}"
