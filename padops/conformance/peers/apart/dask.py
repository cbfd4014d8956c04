"""``dask.array.pad``, on arrays of one chunk."""

from __future__ import annotations

import dask
import dask.array
import numpy as np

from padops.conformance.peers.request import Request, Unsupported

ENVIRONMENT = {
    "name": "dask",
    "families": ("onnx", "openvino", "ngraph"),
    "function_only": True,
    "requires": ("dask[array]==2026.8.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2"),
    "forks": True,
}

PACKAGES = ("dask",)


def run_case(request: Request) -> np.ndarray:
    """``dask.array.pad`` of the amounts of every axis.

    Raises:
        Unsupported: An amount is negative or interior.
        Skipped: The operator does not take the amounts, or the fill has not one element.
    """
    pairs = request.pairs("dask.array.pad")
    if any(min(pair) < 0 for pair in pairs):
        raise Unsupported("dask.array.pad takes no negative amounts")
    fill = {} if request.value is None else {"constant_values": request.value[()]}
    array = dask.array.from_array(request.data, chunks=-1)
    with dask.config.set(scheduler="synchronous"):
        return np.asarray(dask.array.pad(array, pairs, mode=request.mode, **fill).compute())
