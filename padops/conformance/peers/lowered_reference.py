"""Models without Pad in ONNX's own reference implementation, which says what the operators mean."""

from __future__ import annotations

import numpy as np
import onnx_ir  # noqa: F401, without it the peer is absent

from padops.conformance.model import feeds
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Request

PACKAGES = ("onnx", "numpy", "onnx-ir")


def run_case(request: Request) -> np.ndarray:
    """``ReferenceEvaluator`` on what ``padops convert --target onnx --without-pad`` leaves."""
    from onnx.reference import ReferenceEvaluator

    made = without_pad(request)
    outputs = ReferenceEvaluator(made).run(None, feeds(request, request.inputs))
    assert isinstance(outputs, list)  # a dict is for intermediate values
    return np.asarray(outputs[0])
