"""Measures in a process of its own, one workload at a time, so that an interrupt loses no finished measurement."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from padops.bench.runner import Measurement
from padops.bench.workloads import Workload
from padops.extras import DependencyError, Needing
from padops.files.interrupts import end_process, ending_of

PROVIDER_SHARE = 4  # times as many seconds for the provider, whose differences are hundredths
LISTENS = 0.1  # seconds between checks for signals
ENDING = 0.5  # seconds that the process has to remove its files

Step = Callable[[int, float], Sequence[Measurement]]  # measures with a number of threads, for some seconds


class MeasuringError(Exception):
    """The measuring cannot continue; the message tells why."""


@dataclass(frozen=True)
class Work:
    """The work of a run.

    Attributes:
        workloads: Names of workloads.
        drawn: Random workloads.
        models: Models to measure as they are and converted.
        provided: Measurements of padops' execution provider: keys of ``provider.MEASURED``.
        provided_models: Models to measure with padops' execution provider.
        providers: Other execution providers to measure with padops beside them, first choice first.
        networks: Networks to measure on ``providers``: keys of ``padded_networks.ALL``.
        network_models: Models to measure on ``providers``.
        seconds: The time for each of all these.
    """

    workloads: tuple[str, ...] = ()
    drawn: tuple[Workload, ...] = ()
    models: tuple[Path, ...] = ()
    provided: tuple[str, ...] = ()
    provided_models: tuple[Path, ...] = ()
    providers: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    network_models: tuple[Path, ...] = ()
    seconds: float = 2.0

    def __len__(self) -> int:
        named = (self.workloads, self.provided, self.networks)
        return sum(map(len, (*named, self.drawn, self.models, self.provided_models, self.network_models)))

    def steps(self) -> Iterator[tuple[str, Step]]:
        """The name of each measurement, and the function that measures it."""
        if self.workloads or self.drawn:
            from padops.bench.drawn import COMPARED
            from padops.bench.implementations import IMPLEMENTATIONS
            from padops.bench.runner import time_workloads
            from padops.bench.workloads import WORKLOADS

            for workload in WORKLOADS:
                if workload.name in self.workloads:
                    yield workload.name, partial(_workload, time_workloads, workload, tuple(IMPLEMENTATIONS))
            for workload in self.drawn:
                yield workload.name, partial(_workload, time_workloads, workload, COMPARED)
        if self.models:
            from padops.bench.models import measure_models

            for path in self.models:
                yield str(path), partial(measure_models, [path])
        if self.provided or self.provided_models:
            from padops.bench.provider import measure_provider

            for name in self.provided:
                yield name, partial(measure_provider, [name], [])
            for path in self.provided_models:
                yield str(path), partial(measure_provider, [], [path])
        if self.providers:
            from padops.bench.beside import measure_model, measure_network

            for name in self.networks:
                yield name, partial(measure_network, self.providers, name)
            for path in self.network_models:
                yield str(path), partial(measure_model, self.providers, path)


def _workload(
    measure: Callable[..., list[Measurement]],
    workload: Workload,
    with_whom: tuple[str, ...],
    threads: int,
    seconds: float,
) -> list[Measurement]:
    return measure([workload], threads, with_whom, seconds)


def measure(
    work: Work, threads: int, keep: Callable[[list[Measurement]], None], progress: Callable[[str], None]
) -> None:
    """Measures in a process of its own, because thread pools keep their size once started.

    The process ends with this function, in any case.

    Raises:
        MeasuringError: A workload cannot be measured, or the process has died.
    """
    context = get_context("spawn")
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(work, threads, writing), daemon=True)
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


def _serve(work: Work, threads: int, answers: Connection) -> None:
    """The measuring process: it sends ``(kind, content)``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to both processes; the parent decides
    signal.signal(signal.SIGTERM, end_process)
    try:
        with Needing("padops bench"):
            answers.send(_measure_all(work, threads, answers))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # silently ends the exit handlers of libraries
    except DependencyError as error:
        answers.send(("failed", str(error)))
    except SystemExit:  # temporary files are gone; the exit handlers of libraries would take a second
        os._exit(1)


def _measure_all(work: Work, threads: int, answers: Connection) -> tuple[str, str]:
    """Sends the measurements of each workload; returns the final message, which tells how the measuring ended."""
    from padops.convert import PadopsError

    try:
        for name, step in work.steps():
            answers.send(("next", name))
            answers.send(("measured", step(threads, work.seconds)))
    except (OSError, ValueError, RuntimeError, PadopsError) as error:  # RuntimeError: of sessions, and OutputsDiffer
        return "failed", str(error)
    return "done", ""
