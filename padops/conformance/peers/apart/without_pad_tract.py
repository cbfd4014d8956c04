"""Models without Pad in tract."""

from __future__ import annotations

import numpy as np

from padops.conformance.model import feeds
from padops.conformance.peers.apart.tract import require_type, run_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Request

ENVIRONMENT = {
    "name": "without-pad-tract",
    "environment": "tract",
    "families": ("onnx", "openvino", "ngraph", "same"),
    "max_cases": 1000,
    "forks": True,
    "seconds": 10,
}

PACKAGES = ("tract", "onnx-ir")


def run_case(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves of a model in which all but the data are constants.

    Raises:
        Unsupported: Its Python interface has no such type, or there is no such form of the case.
        tract.TractError: It refuses the model.
    """
    require_type(request)
    request = request.fixed()
    made = without_pad(request)
    return run_model(made.SerializeToString(), feeds(request, request.inputs))
