"""The process that measures, and what it has measured so far: one workload at a time, so that an interrupt loses none."""

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

PROVIDER_SHARE = 4  # as much for one of the provider's, where hundredths count
LISTENS = 0.1  # seconds after which a signal is heard at the latest
ENDING = 0.5  # seconds that the process has to take its files away

Step = Callable[[int, float], Sequence[Measurement]]  # of a number of threads, and seconds


class MeasuringError(Exception):
    """Nothing more can be measured; the message says why."""


@dataclass(frozen=True)
class Work:
    """What is to be measured.

    Attributes:
        workloads: Names of workloads.
        drawn: Workloads that a seed has drawn.
        models: Models, as they are and converted.
        provided: What to measure with the execution provider: keys of ``provider.MEASURED``.
        provided_models: Models to measure with the execution provider.
        providers: Execution providers beside which padops stands, first choice first.
        networks: What to measure on them: keys of ``padded_networks.ALL``.
        network_models: Models to measure on them.
        seconds: For one of them.
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
        """Each of them: its name and what measures it."""
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
    """Measures in a process of its own: pools of threads, once started, keep their size.

    Whatever ends this function ends the process.

    Args:
        work: What to measure.
        threads: How many may work.
        keep: Called with the measurements of each workload.
        progress: Called with the name of each workload before it starts.

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
                alive = process.is_alive()  # where a copy of it holds the pipe, that does not end
            try:
                if not alive and not reading.poll():
                    raise EOFError
                kind, content = reading.recv()
            except EOFError:
                process.join()
                raise MeasuringError(
                    f"the process that measured has ended with {ending_of(process.exitcode)}"
                ) from None
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
    """The process that measures: what it sends is ``(kind, content)``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both; the other process decides
    signal.signal(signal.SIGTERM, end_process)
    try:
        with Needing("padops bench"):
            answers.send(_measure_all(work, threads, answers))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # which ends what libraries do at their exit without a word
    except DependencyError as error:
        answers.send(("failed", str(error)))
    except SystemExit:  # temporary files are gone; other libraries would take a second to take leave
        os._exit(1)


def _measure_all(work: Work, threads: int, answers: Connection) -> tuple[str, str]:
    """Sends the measurements of each workload; what is left to send says how that has ended."""
    from padops.convert import PadopsError

    try:
        for name, step in work.steps():
            answers.send(("next", name))
            answers.send(("measured", step(threads, work.seconds)))
    except (OSError, ValueError, RuntimeError, PadopsError) as error:  # RuntimeError: of sessions, and OutputsDiffer
        return "failed", str(error)
    return "done", ""
