"""``numpy.pad``."""

from __future__ import annotations

import numpy as np

from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("numpy",)


def run(request: Request) -> np.ndarray:
    """``numpy.pad`` of the amounts of every axis."""
    amounts = request.amounts()
    if any(a.interior for a in amounts):
        raise Unsupported("numpy.pad has no interior padding")
    if any(min(a.begin, a.end) < 0 for a in amounts):
        raise Unsupported("numpy.pad takes no negative amounts")
    pairs = np.array([(a.begin, a.end) for a in amounts], np.int64).reshape(-1, 2)
    if request.mode == "constant":
        return np.pad(request.data, pairs, constant_values=request.fill)
    return np.pad(request.data, pairs, mode=request.mode)
