"""Takes the times: all implementations of a workload in turn, again and again, and their medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from padops.bench.implementations import IMPLEMENTATIONS
from padops.bench.sessions import Call
from padops.bench.workloads import Memory, Workload

NOT_COMPARED = ("copy", "copy by all", "copy by padops", "as float")  # they write something else
MIN_ROUNDS = 5
_WARM, _TIMED, _SAMPLE = 2e-3, 10e-3, 200e-6  # seconds of a block: untimed and timed; of several short calls together
_WATCHED = 12e-3  # seconds: three ticks of a kernel that counts at 250 Hz what its threads use


class OutputsDiffer(RuntimeError):
    """Two implementations do not agree, so their times mean nothing."""


@dataclass(frozen=True)
class Measurement:
    """One implementation on one workload.

    Attributes:
        workload: Its name.
        implementation: Its name.
        threads: How many it could use.
        output_bytes: What it had to write.
        median: Seconds of one call.
        spread: Seconds between the quartiles.
        samples: How many times the median is of.
    """

    workload: str
    implementation: str
    threads: int
    output_bytes: int
    median: float
    spread: float
    samples: int

    def row(self) -> dict[str, Any]:
        return asdict(self)


def time_workloads(
    workloads: Iterable[Workload],
    threads: int,
    implementations: Sequence[str] = tuple(IMPLEMENTATIONS),
    seconds: float = 2.0,
    progress: Callable[[str], None] = lambda name: None,
) -> list[Measurement]:
    """Times every implementation that can do each workload.

    Args:
        workloads: What to pad.
        threads: For each implementation.
        implementations: Names of ``IMPLEMENTATIONS``.
        seconds: To spend on one workload.
        progress: Called with the name of each workload before it starts.

    Raises:
        OutputsDiffer: An implementation's output is not padops'.
    """
    results = []
    for workload in workloads:
        progress(workload.name)
        memory = Memory.of(workload)
        made = {name: IMPLEMENTATIONS[name](workload, memory, threads) for name in implementations}
        calls = {name: call for name, call in made.items() if call is not None}
        compare(workload, memory, calls)
        results += measure(workload.name, workload.output_bytes, threads, calls, seconds)
    return results


def compare(workload: Workload, memory: Memory, calls: Mapping[str, Call]) -> None:
    """Every output against padops', bit by bit.

    Args:
        workload: What is padded.
        memory: Whose target is filled anew before each call.
        calls: By implementation, padops first.

    Raises:
        OutputsDiffer: An implementation's output is not padops'.
    """
    outputs: dict[str, bytes | list[str]] = {}
    for name, call in calls.items():
        if name in NOT_COMPARED:
            continue
        memory.target[:] = 0xA5  # what another implementation has written there must not count
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
    """What a call returned, as what its memory holds; strings as a list.

    Args:
        output: An array, or a tensor that can be one.
    """
    array = output if isinstance(output, np.ndarray) else output.numpy()
    return array.tobytes() if array.dtype.kind in "biufV" else array.reshape(-1).tolist()


def measure(name: str, output_bytes: int, threads: int, calls: Mapping[str, Call], seconds: float) -> list[Measurement]:
    """Times calls that do the same.

    Args:
        name: Of the workload.
        output_bytes: Bytes that one call writes.
        threads: Of each implementation.
        calls: By implementation.
        seconds: To spend on all of them together.
    """
    results = []
    for implementation, taken in _times(calls, seconds).items():
        low, median, high = statistics.quantiles(taken, n=4)
        results.append(Measurement(name, implementation, threads, output_bytes, median, high - low, len(taken)))
    return results


def _times(calls: Mapping[str, Call], seconds: float) -> dict[str, list[float]]:
    """Seconds of single calls. The implementations take turns; in its turn each runs as a model does that is alone."""
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
    """Waits until no thread of this process is at work.

    Pools of threads spin after a call, ONNX Runtime's for some 40 ms, on cores that the next implementation is to have.
    """
    begin = time.perf_counter()
    while True:
        wall, used = time.perf_counter(), time.process_time()
        time.sleep(_WATCHED)
        if time.process_time() - used < 0.1 * (time.perf_counter() - wall):
            return
        if wall - begin > limit:
            raise TimeoutError(f"the threads of an implementation have not come to rest in {limit:g} s")
