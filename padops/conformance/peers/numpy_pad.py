"""``numpy.pad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from padops.conformance.divergences import Divergence
from padops.conformance.peers.request import Request

PACKAGES = ("numpy",)
REFUSALS = (ValueError, MemoryError)

Pairs = Sequence[tuple[int, int]]


def prepare(data: np.ndarray, pairs: Pairs, mode: str, fill: Any = 0) -> Callable[[], np.ndarray]:
    """A Pad of an array by (begin, end) of every axis, as a call without arguments, which alone the benchmark times.

    Args:
        data: An array of rank r.
        pairs: r pairs.
        mode: NumPy's word.
        fill: One element of the data's type; read in mode constant alone.
    """
    amounts = np.array(pairs, np.int64).reshape(-1, 2)
    options: dict[str, Any] = {"constant_values": fill} if mode == "constant" else {"mode": mode}
    return lambda: np.pad(data, amounts, **options)


def pad(data: np.ndarray, pairs: Pairs, mode: str, fill: np.ndarray | None) -> np.ndarray:
    """The output of that call."""
    return prepare(data, pairs, mode, fill)()


def arguments(request: Request) -> tuple[np.ndarray, Pairs, str, np.ndarray | None]:
    """Those of ``pad``."""
    return request.data, request.pairs("numpy.pad", may_crop=False), request.mode, request.value


RECORDED = ">=2.1.3,<=2.4.6"
KNOWN = (
    Divergence(
        "numpy-rank-0", "numpy", "error", rule="P5",
        versions=RECORDED, tags={"rank-0"}, expected="output", says="zero-size array",
        reason="an array of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "numpy-empty-axis", "numpy", "error", rule="P5",
        versions=RECORDED, modes=("edge", "reflect", "symmetric", "wrap"), tags={"empty-axis-padded", "empty-output"},
        expected="output", says="can't extend empty axis",
        reason="an axis without elements is refused though the output has none either",
    ),
    Divergence(
        "numpy-huge-empty", "numpy", "differ", rule="P10",
        versions=RECORDED, tags={"huge", "empty-data"}, expected="error",
        rules=("P10",),
        reason="there is no limit to the shape of an array without elements but that of its bytes",
    ),
)  # fmt: skip
