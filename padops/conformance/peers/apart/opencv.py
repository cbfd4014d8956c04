"""OpenCV's dnn module, with the engine that came with OpenCV 5, on the model of ONNX."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from padops.conformance.model import declare_shapes, feeds, make_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Request, unsupported_where

ENVIRONMENT = {
    "name": "opencv",
    "families": ("onnx",),
    # onnx-ir is for the converter, which makes the models without Pad.
    "requires": (
        "opencv-python-headless==5.0.0.93",
        "numpy==2.4.6",
        "ml_dtypes==0.5.4",
        "onnx==1.23.2",
        "onnx-ir==1.1.0",
    ),
    # Its importer needs shapes. It ends its process often, or hangs.
    "form": "declared",
    "max_cases": 400,
    "forks": True,
    "seconds": 5,
    "without_pad": {"name": "without-pad-opencv", "form": "declared", "max_cases": 500, "forks": True, "seconds": 10},
}

PACKAGES = ("opencv-python-headless",)
REFUSALS = (cv2.error,)

# Python's arrays become matrices of these; of 64-bit integers 32 bits arrive, and float16 comes back as float.
TYPES = ("float", "double", "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32")

# How it says that it pads five axes at most, and has no fill of a type.
_UNSUPPORTED = ("PAD_MAX_DIMS", "is not supported in function 'tensorToScalar'")


def run_case(request: Request) -> np.ndarray:
    """The model of ONNX."""
    request.require_type(TYPES)
    model = declare_shapes(make_model(request, request.inputs, standard=True), request.data.ndim)
    with unsupported_where(_UNSUPPORTED, cv2.error):
        return _run(model.SerializeToString(), feeds(request, request.inputs))


def run_without_pad(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves."""
    request.require_type(TYPES)
    made = declare_shapes(without_pad(request), request.data.ndim)
    return _run(made.SerializeToString(), feeds(request, request.inputs))


def _run(content: bytes, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The output of a model of ONNX, fed by name."""
    net = cv2.dnn.readNetFromONNX(np.frombuffer(content, np.uint8), cv2.dnn.ENGINE_NEW)
    for name, array in fed.items():
        net.setInput(array, name)
    return np.asarray(net.forward())
