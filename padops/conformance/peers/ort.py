"""The Pad of onnxruntime itself, at every opset it knows."""

from __future__ import annotations

import numpy as np

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, unsupported_where
from padops.conformance.peers.sessions import REFUSALS, require_type, run_model, stock_options

PACKAGES = ("onnxruntime",)

__all__ = ["PACKAGES", "REFUSALS", "run_case"]

# How it says that it has no kernel for a type, or does not know an opset or a type at all.
_UNSUPPORTED = (
    "Could not find an implementation for",
    "is under development and support for this is limited",
    "Opset",
    "in type constraint",
    "Unsupported model IR version",
    "not supported",
)


def run_case(request: Request) -> np.ndarray:
    """The same node as a model of ONNX has it."""
    require_type(request.dtype.name)
    model = make_model(request, request.inputs, standard=True).SerializeToString()
    with unsupported_where(_UNSUPPORTED):
        return run_model(model, feeds(request, request.inputs), stock_options())
