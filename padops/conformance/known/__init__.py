"""Every known divergence of a real Pad from the rules of docs/semantics.md, a file for each implementation.

Of several that match, the first one that the outcome fits counts. ``divergences.py`` says what the fields mean.
"""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known import (
    dask_pads,
    engines,
    frameworks,
    numpy_pads,
    onnxruntime,
    openvino,
    provider,
    standard,
    without_pad,
)
from padops.conformance.known.examples import EXAMPLES

__all__ = ["EXAMPLES", "KNOWN"]

KNOWN: tuple[Divergence, ...] = (
    *standard.KNOWN,
    *without_pad.KNOWN,
    *onnxruntime.KNOWN,
    *provider.KNOWN,
    *numpy_pads.KNOWN,
    *openvino.KNOWN,
    *frameworks.KNOWN,
    *engines.KNOWN,
    *dask_pads.KNOWN,
)
