"""ONNX's own reference implementation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx.defs import onnx_opset_version
from onnx.reference import ReferenceEvaluator

from padops.conformance.model import feeds, make_model, without_pad
from padops.conformance.peers.request import Refused, Request, Unsupported

PACKAGES = ("onnx", "numpy")
REFUSALS = (RuntimeError, ValueError, MemoryError)


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the first output of an ONNX model; ``fed`` has the inputs by name."""
    outputs = ReferenceEvaluator(model).run(None, dict(fed))
    assert isinstance(outputs, list)  # a dict would have intermediate values
    return np.asarray(outputs[0])


def arguments(request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    if request.opset > onnx_opset_version():
        raise Unsupported(f"this onnx knows opsets up to {onnx_opset_version()}")
    return make_model(request, standard=True), feeds(request)


def run_without_pad(request: Request) -> np.ndarray:
    """Run the model converted with ``--without-pad``; ONNX's reference defines what the operators return."""
    try:
        return pad(without_pad(request), feeds(request))
    except IndexError as error:
        raise Refused(f"IndexError: {error}") from error
