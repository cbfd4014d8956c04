"""Takes the times: all contestants of a workload in turn, again and again, and their medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from padops.bench.contestants import CONTESTANTS
from padops.bench.workloads import Workload


class OutputsDiffer(RuntimeError):
    """Two contestants do not agree, so their times mean nothing."""


@dataclass(frozen=True)
class Measurement:
    """One contestant on one workload.

    Attributes:
        workload: Its name.
        contestant: Its name.
        threads: How many it could use.
        output_bytes: What it had to write.
        median: Seconds of one call.
        spread: Seconds between the quartiles.
        rounds: How many times it was called in turn with the others.
    """

    workload: str
    contestant: str
    threads: int
    output_bytes: int
    median: float
    spread: float
    rounds: int

    def row(self) -> dict[str, Any]:
        return asdict(self)


def run(
    workloads: Iterable[Workload],
    threads: int,
    contestants: Sequence[str] = tuple(CONTESTANTS),
    seconds: float = 1.5,
    progress: Callable[[str], None] = lambda name: None,
) -> list[Measurement]:
    """Times every contestant that can do each workload.

    Args:
        workloads: What to pad.
        threads: For each contestant.
        contestants: Names of ``CONTESTANTS``.
        seconds: To spend on one workload.
        progress: Called with the name of each workload before it starts.

    Raises:
        OutputsDiffer: A contestant's output is not padops'.
    """
    results = []
    for workload in workloads:
        progress(workload.name)
        made = {name: CONTESTANTS[name](workload, threads) for name in contestants}
        calls = {name: call for name, call in made.items() if call is not None}
        _compare(workload, calls)
        times = _times(calls, seconds)
        for name, taken in times.items():
            quartiles = statistics.quantiles(taken, n=4)
            results.append(
                Measurement(
                    workload.name,
                    name,
                    threads,
                    workload.output_bytes,
                    statistics.median(taken),
                    quartiles[2] - quartiles[0],
                    len(taken),
                )
            )
    return results


def _compare(workload: Workload, calls: dict[str, Callable[[], Any]]) -> None:
    """Every output against padops', where the contestant's memory can be read."""
    outputs = {name: _array(call()) for name, call in calls.items() if name != "copy"}
    expected = outputs.pop("padops", None)
    for name, output in outputs.items():
        if expected is None or output is None:
            continue
        if output.shape != expected.shape or not np.array_equal(output, expected):
            raise OutputsDiffer(f"{workload.name}: {name} does not give what padops gives")


def _array(output: Any) -> np.ndarray | None:
    """The values of what a call returned; None for types that NumPy lacks."""
    if isinstance(output, np.ndarray):
        return output
    try:
        return output.numpy()
    except (RuntimeError, TypeError):
        return None


def _times(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, list[float]]:
    """Calls in turn; short ones several at a time, so that the clock's own cost does not count."""
    repeats = {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        repeats[name] = max(1, min(200, int(200e-6 / max(time.perf_counter() - start, 1e-9))))
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 9:
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append((time.perf_counter() - start) / repeats[name])
    return times
