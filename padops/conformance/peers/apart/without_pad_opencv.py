"""Models without Pad in OpenCV's dnn module."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from padops.conformance.model import declare_shapes, feeds
from padops.conformance.peers.apart.opencv import require_type, run_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Request

ENVIRONMENT = {
    "name": "without-pad-opencv",
    "environment": "opencv",
    "families": ("onnx", "openvino", "ngraph", "same"),
    "max_cases": 500,
    "forks": True,
    "seconds": 10,
}

PACKAGES = ("opencv-python-headless", "onnx-ir")


def run_case(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves, with declared shapes, which the importer needs.

    Raises:
        Unsupported: A matrix of OpenCV has no such type, or there is no such form of the case.
        cv2.error: It refuses the model.
    """
    require_type(request)
    request = replace(request, static=True)
    made = declare_shapes(without_pad(request), request.data.ndim)
    return run_model(made.SerializeToString(), feeds(request, request.inputs))
