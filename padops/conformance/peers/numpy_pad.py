"""``numpy.pad``."""

from __future__ import annotations

import numpy as np

from padops.conformance.adapters import prepare_numpy_pad
from padops.conformance.peers.request import Request

PACKAGES = ("numpy",)
REFUSALS = (ValueError, MemoryError)


def run_case(request: Request) -> np.ndarray:
    """``numpy.pad`` of the amounts of every axis."""
    pairs = request.pairs("numpy.pad", may_crop=False)
    return prepare_numpy_pad(request.data, pairs, request.mode, request.value)()
