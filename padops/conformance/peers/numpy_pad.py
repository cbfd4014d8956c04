"""``numpy.pad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from padops.conformance.peers.request import Request

PACKAGES = ("numpy",)
REFUSALS = (ValueError, MemoryError)

Pairs = Sequence[tuple[int, int]]


def prepare(data: np.ndarray, pairs: Pairs, mode: str, fill: Any = 0) -> Callable[[], np.ndarray]:
    """Return a function that pads by (begin, end) of every axis; the benchmark times only this function."""
    amounts = np.array(pairs, np.int64).reshape(-1, 2)
    options: dict[str, Any] = {"constant_values": fill} if mode == "constant" else {"mode": mode}
    return lambda: np.pad(data, amounts, **options)


def pad(data: np.ndarray, pairs: Pairs, mode: str, fill: np.ndarray | None) -> np.ndarray:
    """Return the output of the function that ``prepare`` returns."""
    return prepare(data, pairs, mode, fill)()


def arguments(request: Request) -> tuple[np.ndarray, Pairs, str, np.ndarray | None]:
    return request.data, request.pairs("numpy.pad", may_crop=False), request.mode, request.value
