"""Measures in a process of its own, one workload at a time, so that an interrupt loses no finished measurement."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection

from padops.bench.runner import Measurement
from padops.extras import DependencyError, Needing
from padops.files.interrupts import end_process, ending_of

LISTENS = 0.1  # seconds between checks for signals
ENDING = 0.5  # seconds that the process has to remove its files

Step = Callable[[int, float], Sequence[Measurement]]  # measures with a number of threads, for some seconds


class MeasuringError(Exception):
    """The measuring cannot continue; the message tells why."""


def measure(
    steps: Sequence[tuple[str, Step]],
    threads: int,
    seconds: float,
    keep: Callable[[list[Measurement]], None],
    progress: Callable[[str], None],
) -> None:
    """Measures in a process of its own, because thread pools keep their size once started.

    ``progress`` gets the name of each step before it, ``keep`` the measurements after it.
    The process ends with this function, in any case.

    Raises:
        MeasuringError: A workload cannot be measured, or the process has died.
    """
    context = get_context("spawn")
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(steps, threads, seconds, writing), daemon=True)
    process.start()
    writing.close()
    try:
        while True:
            alive = True
            while not reading.poll(LISTENS) and alive:  # a signal that comes just before a wait does not end it
                alive = process.is_alive()  # a child of the process may keep the pipe open
            try:
                if not alive and not reading.poll():
                    raise EOFError
                kind, content = reading.recv()
            except EOFError:
                process.join()
                raise MeasuringError(f"the measuring process has ended with {ending_of(process.exitcode)}") from None
            if kind == "done":
                return
            if kind == "failed":
                raise MeasuringError(content)
            (progress if kind == "next" else keep)(content)
    finally:
        process.terminate()
        process.join(ENDING)
        process.kill()
        process.join()
        reading.close()


def _serve(steps: Sequence[tuple[str, Step]], threads: int, seconds: float, answers: Connection) -> None:
    """The measuring process: it sends ``(kind, content)``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to both processes; the parent decides
    signal.signal(signal.SIGTERM, end_process)
    try:
        with Needing("padops bench"):
            from padops.convert import PadopsError

            try:
                for name, step in steps:
                    answers.send(("next", name))
                    answers.send(("measured", step(threads, seconds)))
                answers.send(("done", ""))
            except (OSError, ValueError, RuntimeError, PadopsError) as error:  # RuntimeError: sessions, OutputsDiffer
                answers.send(("failed", str(error)))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # silently ends the exit handlers of libraries
    except DependencyError as error:
        answers.send(("failed", str(error)))
    except SystemExit:  # temporary files are gone; the exit handlers of libraries would take a second
        os._exit(1)
