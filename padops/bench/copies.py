"""Plain copies: the memory speed of this machine, which limits every Pad."""

from __future__ import annotations

import ctypes
import threading
from itertools import pairwise
from typing import Any

import numpy as np

from padops.bench.sessions import Call, padops
from padops.bench.workloads import Memory, Workload

MIN_BYTES = 1 << 16  # bytes below which a call costs more than the copy


class _Team:
    """Threads that copy parts at a signal, and end with the process. ctypes releases the GIL meanwhile."""

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


def copy_by_one(target: np.ndarray) -> Call:
    """libc's memmove."""
    source = np.ones(target.size, np.uint8)
    part = target.ctypes.data, source.ctypes.data, target.size

    def call(kept: Any = (target, source)) -> None:  # keeps the arrays, and so their addresses, alive
        ctypes.memmove(*part)

    return call


def copy_by_all(target: np.ndarray, threads: int) -> Call | None:
    """libc's memmove by several threads, each on a part."""
    if threads == 1 or target.size < MIN_BYTES:
        return None
    source = np.ones(target.size, np.uint8)
    bounds = [target.size * i // threads for i in range(threads + 1)]
    parts = [(target.ctypes.data + a, source.ctypes.data + a, b - a) for a, b in pairwise(bounds)]
    team = _Team(parts[1:])

    def call(kept: Any = (target, source)) -> None:
        team.begin()
        ctypes.memmove(*parts[0])
        team.wait()

    return call


def copy_by_padops(target: np.ndarray, threads: int) -> Call | None:
    """A Pad of padops that adds nothing: a copy by the runtime's threads, past the caches if they are too small."""
    if target.size < MIN_BYTES:
        return None
    nothing = Workload("copy", target.shape, (0,), (0,), dtype="uint8")
    return padops(nothing, Memory(np.ones(target.size, np.uint8), target), threads)
