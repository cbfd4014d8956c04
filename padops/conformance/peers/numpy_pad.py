"""``numpy.pad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from padops.conformance.divergences import Divergence
from padops.conformance.peers.request import Request

PACKAGES = ("numpy",)
REFUSALS = (ValueError, MemoryError)

Pairs = Sequence[tuple[int, int]]


def prepare(data: np.ndarray, pairs: Pairs, mode: str, fill: Any = 0) -> Callable[[], np.ndarray]:
    """A Pad by (begin, end) of every axis, as a call without arguments, which alone the benchmark times.

    The mode is NumPy's word; only mode constant reads the fill, one element of the data's type.
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
_row = partial(Divergence, peer="numpy", versions=RECORDED)
KNOWN = (
    _row("numpy-rank-0", "error", "P5", "an array of rank 0 is refused, where there is nothing to pad",
         expected="output", tags={"rank-0"}, says="zero-size array"),
    _row("numpy-empty-axis", "error", "P5", "an axis without elements is refused though the output has none either",
         modes=("edge", "reflect", "symmetric", "wrap"), expected="output", tags={"empty-axis-padded", "empty-output"},
         says="can't extend empty axis"),
    _row("numpy-huge-empty", "differ", "P10",
         "there is no limit to the shape of an array without elements but that of its bytes", expected="error",
         rules=("P10",), tags={"huge", "empty-data"}),
)  # fmt: skip
