"""``dask.array.pad``, on arrays of one chunk."""

from __future__ import annotations

from collections.abc import Sequence

import dask
import dask.array
import numpy as np

from padops.conformance.peers.request import Request, Unsupported

ENVIRONMENT = {
    "name": "dask",
    "families": ("onnx", "openvino", "ngraph"),
    "function_only": True,
    "requires": ("dask[array]==2026.8.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2"),
    "max_cases": 900,
    "seconds": 10,
}

PACKAGES = ("dask",)
REFUSALS = (ValueError,)


def pad(data: np.ndarray, pairs: Sequence[tuple[int, int]], mode: str, fill: np.ndarray | None) -> np.ndarray:
    """Returns ``dask.array.pad`` by (begin, end) of every axis; ``fill`` is for mode constant."""
    given = {} if fill is None else {"constant_values": fill[()]}
    array = dask.array.from_array(data, chunks=-1)
    with dask.config.set(scheduler="synchronous"):
        return np.asarray(dask.array.pad(array, pairs, mode=mode, **given).compute())


def arguments(request: Request) -> tuple[np.ndarray, list[tuple[int, int]], str, np.ndarray | None]:
    """Returns the arguments of ``pad``.

    Raises:
        Unsupported: An amount is negative, interior or huge.
        Skipped: The operator refuses the amounts, or the fill does not have one element.
    """
    pairs = request.pairs("dask.array.pad", may_crop=False)
    if max(map(max, pairs), default=0) >= 1 << 31:
        raise Unsupported("amounts beyond 31 bits")  # dask would never finish a list of that many chunks
    return request.data, pairs, request.mode, request.value
