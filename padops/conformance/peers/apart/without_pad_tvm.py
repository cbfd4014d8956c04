"""Models without Pad in TVM."""

from __future__ import annotations

import numpy as np

from padops.conformance.model import feeds
from padops.conformance.peers.apart.tvm import require_type, run_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Request

ENVIRONMENT = {
    "name": "without-pad-tvm",
    "environment": "tvm",
    "families": ("onnx", "openvino", "ngraph", "same"),
    "max_cases": 150,
    "forks": True,
    "seconds": 20,
}

PACKAGES = ("apache-tvm", "onnx-ir")


def run_case(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves of a model in which all but the data are constants.

    Raises:
        Unsupported: Not asked with such a type, or there is no such form of the case.
        Exception: It refuses the model.
    """
    require_type(request)
    request = request.fixed()
    made = without_pad(request)
    return run_model(made, feeds(request, request.inputs))
