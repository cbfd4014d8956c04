"""Models without Pad in OpenVINO, through its frontend for ONNX."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir  # noqa: F401, without it the peer is absent

from padops.conformance.model import feeds
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.openvino import run_model
from padops.conformance.peers.request import Request

PACKAGES = ("openvino", "onnx-ir")


def run_case(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves. It declares its shapes, as those of ``openvino-onnx`` do."""
    request = replace(request, static=True)
    made = without_pad(request)
    return run_model(made.SerializeToString(), feeds(request, request.inputs), request.data)
