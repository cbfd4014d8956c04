"""Plain copies: what the memory of this machine can do, and so the limit of every Pad."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np


class _Helpers:
    """Threads that copy parts at a signal, and end with the process. ctypes lets go of the interpreter meanwhile."""

    def __init__(self, parts: list[tuple[int, int, int]]) -> None:
        self._start = [threading.Semaphore(0) for _ in parts]
        self._done = threading.Semaphore(0)
        for part, start in zip(parts, self._start):
            threading.Thread(target=self._work, args=(part, start), daemon=True).start()

    def _work(self, part: tuple[int, int, int], start: threading.Semaphore) -> None:
        while True:
            start.acquire()
            ctypes.memmove(*part)
            self._done.release()

    def begin(self) -> None:
        for start in self._start:
            start.release()

    def wait(self) -> None:
        for _ in self._start:
            self._done.acquire()


def best_copy(size: int, threads: int) -> Callable[[], Any]:
    """The fastest of the plain copies of ``size`` bytes with up to ``threads`` threads, chosen by a short trial.

    libc's memmove by one thread, and by all threads on a part each; it streams past the caches by itself once a part is
    large enough.
    """
    source, target = np.ones(size, np.uint8), np.zeros(size, np.uint8)
    kept = (source, target)  # the addresses below are good as long as these are

    def one() -> Any:
        ctypes.memmove(kept[1].ctypes.data, kept[0].ctypes.data, size)
        return kept[1]

    calls = [one]
    if threads > 1 and size >= 1 << 16:
        bounds = [size * i // threads for i in range(threads + 1)]
        parts = [(target.ctypes.data + a, source.ctypes.data + a, b - a) for a, b in zip(bounds, bounds[1:])]
        helpers = _Helpers(parts[1:])

        def all_threads() -> Any:
            helpers.begin()
            ctypes.memmove(*parts[0])
            helpers.wait()
            return kept[1]

        calls.append(all_threads)
    return min(calls, key=_trial)


def _trial(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(7):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
