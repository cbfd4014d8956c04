"""padops itself: the native library in onnxruntime."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import onnxruntime

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request
from padops.conformance.peers.sessions import REFUSALS, require_type, run_model, session_options

PACKAGES = ("onnxruntime",)

__all__ = ["PACKAGES", "REFUSALS", "run_case"]


@cache
def _options() -> onnxruntime.SessionOptions:
    options = session_options()
    options.register_custom_ops_library(os.environ["PADOPS_LIBRARY"])
    return options


def run_case(request: Request) -> np.ndarray:
    """The model of the domain padops."""
    require_type(request.dtype.name)
    model = make_model(request, request.inputs).SerializeToString()
    return run_model(model, feeds(request, request.inputs), _options())
