"""ONNX's own reference implementation."""

from __future__ import annotations

import numpy as np

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("onnx", "numpy")


def run_case(request: Request) -> np.ndarray:
    """``ReferenceEvaluator`` on the model of ONNX.

    Raises:
        Unsupported: The installed onnx does not know the opset.
    """
    from onnx.defs import onnx_opset_version
    from onnx.reference import ReferenceEvaluator

    if request.opset > onnx_opset_version():
        raise Unsupported(f"this onnx knows opsets up to {onnx_opset_version()}")
    model = make_model(request, request.inputs, standard=True)
    outputs = ReferenceEvaluator(model).run(None, feeds(request, request.inputs))
    assert isinstance(outputs, list)  # a dict is for intermediate values
    return np.asarray(outputs[0])
