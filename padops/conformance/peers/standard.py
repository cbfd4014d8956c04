"""padops without its library, on onnxruntime alone: the functions that a converted model carries, and lowered models.

Those without Pad run elsewhere too: the functions ``run_without_pad`` of other peers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir  # noqa: F401, without it the peer is absent

from padops.conformance.model import feeds
from padops.conformance.peers.converted import converted_model
from padops.conformance.peers.request import Request
from padops.conformance.peers.sessions import REFUSALS, require_type, run_model, stock_options

PACKAGES = ("onnxruntime", "onnx-ir")

__all__ = ["PACKAGES", "REFUSALS", "run_fallback", "run_lowered", "run_without_pad"]


def run_fallback(request: Request) -> np.ndarray:
    """The model of the native peer, with what ``padops convert`` adds to it."""
    return _run_here(request, target="padops")


def run_lowered(request: Request) -> np.ndarray:
    """The model of the native peer, as ``padops convert --target onnx`` leaves it."""
    return _run_here(request, target="onnx")


def run_without_pad(request: Request) -> np.ndarray:
    """The same with ``--without-pad``."""
    return _run_here(request, target="onnx", without_pad=True)


def _run_here(request: Request, **options: Any) -> np.ndarray:
    require_type(request.dtype.name)
    made = converted_model(request, **options)
    return run_model(made.SerializeToString(), feeds(request, request.inputs), stock_options())
