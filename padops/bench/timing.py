"""Measures the times: all implementations of a workload take turns, many times; the medians count.

A separate process measures one workload at a time, so that an interrupt loses no finished measurement.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from timeit import timeit
from typing import Any

import numpy as np

from padops.bench.implementations import IMPLEMENTATIONS, Call, session
from padops.bench.table import Measurement
from padops.bench.workloads import Memory, Workload
from padops.extras import needing
from padops.processes import Pickled, serve
from padops.progress import Progress

MIN_ROUNDS = 5
_WARM, _TIMED, _SAMPLE = 2e-3, 10e-3, 200e-6  # seconds of a block: untimed and timed; of several short calls together
_WATCHED = 12e-3  # seconds: three ticks of a kernel that counts the CPU time of threads at 250 Hz
_LIMIT = 3600  # seconds that one workload may take
_SIZE = 16000  # the size to try first for open dims of a model: a second of speech

Step = Callable[[int, float], Sequence[Measurement]]  # measures with a number of threads, for some seconds
Keep = Callable[[Sequence[Measurement]], None]


class OutputsDiffer(RuntimeError):
    """The outputs of two implementations differ, so their times mean nothing."""


def time_workload(workload: Workload, names: Sequence[str], threads: int, seconds: float) -> list[Measurement]:
    """Times every named implementation that can run the workload, for ``seconds`` in total."""
    memory = Memory.of(workload)
    made = {name: IMPLEMENTATIONS[name](workload, memory, threads) for name in names}
    calls = {name: call for name, call in made.items() if call is not None}
    compare(workload.name, memory.target, calls)
    return time_calls(workload.name, workload.output_bytes, threads, calls, seconds)


def time_model(path: Path, folder: str, threads: int, seconds: float) -> list[Measurement]:
    """Times a model converted, then unchanged; the caller owns ``folder``, because an interrupt kills this process."""
    import padops

    files = {"padops": Path(folder, path.name), "unmodified": path, "built-in": path}
    padops.convert(path, files["padops"])
    sessions = {}
    for kind, file in files.items():
        try:
            sessions[kind] = session(str(file), threads, kind)
        except Exception as error:  # onnxruntime's errors have no common base
            by = "stock onnxruntime" if kind == "built-in" else "onnxruntime with padops"
            raise padops.PadopsError(f"{by} does not run {path}: {error}") from error
    feeds = feeds_for(path, sessions["built-in"])
    calls = {kind: partial(made.run, None, feeds) for kind, made in sessions.items()}
    compare(str(path), np.empty(0), calls)
    size = sum(np.asarray(output).nbytes for output in calls["padops"]())
    return time_calls(str(Path(*path.parts[-2:])), size, threads, calls, seconds)


def feeds_for(source: Path, original: Any) -> dict[str, np.ndarray]:
    """Returns random inputs that a session of a model accepts."""
    import onnx

    from padops.convert import PadopsError
    from padops.convert.inputs.given import inputs_of
    from padops.convert.inputs.pads import hints_of
    from padops.convert.inputs.random_inputs import FIRST, random_inputs

    message = onnx.load(source, load_external_data=False)
    refusal: Exception | None = None
    for feeds in random_inputs(inputs_of(message), 0, FIRST.index(_SIZE), hints_of(message)):
        try:
            original.run(None, feeds)
            return feeds
        except Exception as error:  # onnxruntime's errors have no common base
            refusal = error
    raise PadopsError(f"{source} runs on none of the inputs that were tried: {refusal}")


def compare(name: str, target: np.ndarray, calls: Mapping[str, Call]) -> None:
    """Compares every output bit by bit with that of the first call; ``target`` is the memory that calls may write."""
    wanted: Sequence[Any] | None = None
    for by, call in calls.items():
        if by.startswith("copy"):  # its output differs from the workload's
            continue
        target[:] = 0xA5  # instead of the previous output
        given = bits_of(call())
        wanted = given if wanted is None else wanted
        if given != wanted:
            at = next((i for i, pair in enumerate(zip(wanted, given)) if pair[0] != pair[1]), len(wanted))
            raise OutputsDiffer(f"{name}: {by} differs from padops from place {at} on, of {len(wanted)}")


def bits_of(output: Any) -> bytes | list[Any]:
    """Returns the bytes of a call's output; strings, and several outputs, as a list."""
    if isinstance(output, list):
        return [bits_of(one) for one in output]
    array = output if isinstance(output, np.ndarray) else output.numpy()
    return array.tobytes() if array.dtype.kind in "biufV" else array.reshape(-1).tolist()


def time_calls(name: str, size: int, threads: int, calls: Mapping[str, Call], seconds: float) -> list[Measurement]:
    """Times equivalent calls in turns, for ``seconds`` in total; each runs as if it were alone."""
    times: dict[str, list[float]] = {by: [] for by in calls}
    end, rounds = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or rounds < MIN_ROUNDS:
        rounds += 1
        for by, call in calls.items():
            _rest()
            times[by] += _block(call)
    results = []
    for by, taken in times.items():
        low, median, high = statistics.quantiles(taken, n=4)
        results.append(Measurement(name, by, threads, size, median, high - low, len(taken)))
    return results


def _block(call: Call) -> list[float]:
    """Returns the seconds of single calls."""
    begin, warm = time.perf_counter(), 0
    while warm == 0 or time.perf_counter() - begin < _WARM:
        call()
        warm += 1
    # So that the clock's own cost does not count.
    repeats = max(1, int(_SAMPLE * warm / (time.perf_counter() - begin)))
    taken: list[float] = []
    while not taken or sum(taken) * repeats < _TIMED:
        taken.append(timeit(call, number=repeats) / repeats)
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


def measure(steps: Sequence[tuple[str, Step]], threads: int, seconds: float, keep: Keep, progress: Progress) -> None:
    """Measures in a process of its own, because thread pools keep their size once started."""
    with closing(Pickled("the measuring process", _LIMIT, ("-m", "padops.bench.timing"))) as process:
        for done, (name, step) in enumerate(steps):
            progress(name, done, len(steps))
            keep(process.ask((step, threads, seconds)))


def _measured(asked: tuple[Step, int, float]) -> Sequence[Measurement]:
    step, threads, seconds = asked
    with needing("padops bench"):
        return step(threads, seconds)


if __name__ == "__main__":
    serve(_measured)
