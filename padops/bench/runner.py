"""Measures the times: all implementations of a workload take turns, many times; the medians count."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from padops.bench.implementations import IMPLEMENTATIONS
from padops.bench.sessions import Call
from padops.bench.workloads import Memory, Workload

NOT_COMPARED = ("copy", "copy by all", "copy by padops", "as float")  # their outputs are not the workload's
MIN_ROUNDS = 5
_WARM, _TIMED, _SAMPLE = 2e-3, 10e-3, 200e-6  # seconds of a block: untimed and timed; of several short calls together
_WATCHED = 12e-3  # seconds: three ticks of a kernel that counts at 250 Hz what its threads use


class OutputsDiffer(RuntimeError):
    """The outputs of two implementations differ, so their times mean nothing."""


@dataclass(frozen=True)
class Measurement:
    """One implementation on one workload, both by name."""

    workload: str
    implementation: str
    threads: int  # that it could use
    output_bytes: int  # that one call writes
    median: float  # seconds of one call
    spread: float  # seconds between the quartiles
    samples: int  # the number of times that the median is of


@dataclass(frozen=True)
class Placed(Measurement):
    """One network in a session with execution providers."""

    parts: int  # in which the providers run it; see ``beside.NodePlacement``
    copies: int  # Memcpys between a device and the CPU
    elsewhere: int  # nodes that the CPU's provider and padops run
    failure: str  # "refused: " or "wrong: " with the reason if nothing could be timed; then all numbers are 0


def time_workload(
    workload: Workload, implementations: Sequence[str], threads: int, seconds: float
) -> list[Measurement]:
    """Times every implementation, of those named, that can do the workload, for some seconds together.

    Raises:
        OutputsDiffer: An implementation's output is not padops'.
    """
    memory = Memory.of(workload)
    made = {name: IMPLEMENTATIONS[name](workload, memory, threads) for name in implementations}
    calls = {name: call for name, call in made.items() if call is not None}
    compare(workload, memory, calls)
    return measure(workload.name, workload.output_bytes, threads, calls, seconds)


def compare(workload: Workload, memory: Memory, calls: Mapping[str, Call]) -> None:
    """Compares every output with that of padops, the first of ``calls``, bit by bit.

    The target in ``memory`` is refilled before each call.

    Raises:
        OutputsDiffer: An implementation's output is not padops'.
    """
    outputs: dict[str, bytes | list[str]] = {}
    for name, call in calls.items():
        if name in NOT_COMPARED:
            continue
        memory.target[:] = 0xA5  # erases the output of the implementation before
        outputs[name] = bits_of(call())
        if outputs[name] != outputs.get("padops", outputs[name]):
            raise OutputsDiffer(f"{workload.name}: {name} differs from padops {_difference(outputs, name)}")


def _difference(outputs: Mapping[str, bytes | list[str]], name: str) -> str:
    """Where an output differs from padops', in bytes or strings."""
    wanted, given = outputs["padops"], outputs[name]
    if len(wanted) != len(given):
        return f"in size: {len(given)}, not {len(wanted)}"
    wrong = [i for i, pair in enumerate(zip(wanted, given)) if pair[0] != pair[1]]
    return f"in {len(wrong)} of {len(wanted)} places, the first at {wrong[0]}"


def bits_of(output: Any) -> bytes | list[str]:
    """The bytes of a call's output; strings as a list."""
    array = output if isinstance(output, np.ndarray) else output.numpy()
    return array.tobytes() if array.dtype.kind in "biufV" else array.reshape(-1).tolist()


def measure(name: str, output_bytes: int, threads: int, calls: Mapping[str, Call], seconds: float) -> list[Measurement]:
    """Times calls that do the same and write ``output_bytes`` each, for some seconds together."""
    results = []
    for implementation, taken in _times(calls, seconds).items():
        low, median, high = statistics.quantiles(taken, n=4)
        results.append(Measurement(name, implementation, threads, output_bytes, median, high - low, len(taken)))
    return results


def _times(calls: Mapping[str, Call], seconds: float) -> dict[str, list[float]]:
    """Seconds of single calls. The implementations take turns; each runs as if it were alone."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    rounds = 0
    while time.perf_counter() < end or rounds < MIN_ROUNDS:
        rounds += 1
        for name, call in calls.items():
            _rest()
            times[name] += _block(call)
    return times


def _block(call: Call) -> list[float]:
    begin, warm = time.perf_counter(), 0
    while warm == 0 or time.perf_counter() - begin < _WARM:
        call()
        warm += 1
    each = (time.perf_counter() - begin) / warm
    repeats = max(1, int(_SAMPLE / each))  # so that the clock's own cost does not count
    taken: list[float] = []
    while not taken or sum(taken) * repeats < _TIMED:
        begin = time.perf_counter()
        for _ in range(repeats):
            call()
        taken.append((time.perf_counter() - begin) / repeats)
    return taken


def _rest(limit: float = 10.0) -> None:
    """Waits until no thread of this process is working.

    Thread pools spin after a call (ONNX Runtime's for some 40 ms) on cores that the next implementation needs.
    """
    begin = time.perf_counter()
    while True:
        wall, used = time.perf_counter(), time.process_time()
        time.sleep(_WATCHED)
        if time.process_time() - used < 0.1 * (time.perf_counter() - wall):
            return
        if wall - begin > limit:
            raise TimeoutError(f"the threads of an implementation have not come to rest in {limit:g} s")
