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
    "max_cases": 900,
    "seconds": 10,
}

PACKAGES = ("dask",)
REFUSALS = (ValueError,)


def run_case(request: Request) -> np.ndarray:
    """``dask.array.pad`` of the amounts of every axis.

    Raises:
        Unsupported: An amount is negative, interior or huge.
        Skipped: The operator does not take the amounts, or the fill has not one element.
    """
    pairs = request.pairs("dask.array.pad", may_crop=False)
    if max(map(max, pairs), default=0) >= 1 << 31:
        raise Unsupported("amounts beyond 31 bits")  # it would make a list of as many chunks, without an end
    fill = {} if request.value is None else {"constant_values": request.value[()]}
    array = dask.array.from_array(request.data, chunks=-1)
    with dask.config.set(scheduler="synchronous"):
        return np.asarray(dask.array.pad(array, pairs, mode=request.mode, **fill).compute())
