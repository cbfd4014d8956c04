"""``dask.array.pad``."""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import DASK

_PEER = "dask"
_SHORT = "it takes one period of the data at most, and gives a smaller output than asked for, without an error"

KNOWN = (
    Divergence(
        "dask-reflect-short", _PEER, "differ", rule="P2",
        versions=DASK, modes=("reflect",), tags={"reflect-beyond-size"}, reason=_SHORT,
    ),
    Divergence(
        "dask-period-short", _PEER, "differ", rule="P2",
        versions=DASK, modes=("symmetric", "wrap"), tags={"beyond-size"}, reason=_SHORT,
    ),
    Divergence(
        "dask-empty-axis", _PEER, "error", rule="P5",
        versions=DASK, modes=("constant",), tags={"empty-axis-padded"}, expected="output",
        says="division or modulo by zero", reason="an axis without elements cannot be padded",
    ),
    Divergence(
        "dask-empty-data", _PEER, "error", rule="P5", versions=DASK, tags={"empty-data"}, expected="output",
        reason="data without elements are refused, with errors of its own parts",
    ),
    Divergence(
        "dask-string-fill", _PEER, "error", rule="P7",
        versions=DASK, modes=("constant",), dtypes=("string",), expected="output",
        says="must be composed of integral typed values", reason="a fill that is a text is refused",
    ),
)  # fmt: skip
