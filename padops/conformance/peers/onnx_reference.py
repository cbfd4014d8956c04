"""ONNX's own reference implementation."""

from __future__ import annotations

import numpy as np
import onnx

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Refused, Request, Unsupported

PACKAGES = ("onnx", "numpy")
REFUSALS = (RuntimeError, ValueError, MemoryError)


def run_case(request: Request) -> np.ndarray:
    """``ReferenceEvaluator`` on the model of ONNX.

    Raises:
        Unsupported: The installed onnx does not know the opset.
    """
    from onnx.defs import onnx_opset_version

    if request.opset > onnx_opset_version():
        raise Unsupported(f"this onnx knows opsets up to {onnx_opset_version()}")
    return _run(make_model(request, request.inputs, standard=True), request)


def run_without_pad(request: Request) -> np.ndarray:
    """The same on what ``padops convert --target onnx --without-pad`` leaves; it says what the operators mean.

    Raises:
        Refused: An index is out of bounds, which a broken rule becomes in such a model.
    """
    try:
        return _run(without_pad(request), request)
    except IndexError as error:
        raise Refused(f"IndexError: {error}") from error


def _run(model: onnx.ModelProto, request: Request) -> np.ndarray:
    from onnx.reference import ReferenceEvaluator

    outputs = ReferenceEvaluator(model).run(None, feeds(request, request.inputs))
    assert isinstance(outputs, list)  # a dict is for intermediate values
    return np.asarray(outputs[0])
