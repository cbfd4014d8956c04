"""OpenCV's dnn module, with the engine of OpenCV 5, on the ONNX model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import cv2
import numpy as np
import onnx

from padops.conformance.model import feeds, without_pad
from padops.conformance.peers.request import Request

from .importers import arguments_of, declare_shapes

ENVIRONMENT = {
    "name": "opencv",
    "families": ("onnx",),
    # onnx-ir is for the converter, which makes the models without Pad.
    "requires": (
        "opencv-python-headless==5.0.0.93", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0",
    ),
    # OpenCV's importer needs shapes, and often crashes or hangs.
    "form": "declared",
    "max_cases": 400,
    "forks": True,
    "seconds": 5,
    "without_pad": {"name": "without-pad-opencv", "form": "declared", "max_cases": 500, "forks": True, "seconds": 10},
}  # fmt: skip

PACKAGES = ("opencv-python-headless",)
REFUSALS = (cv2.error,)

# Python's arrays become matrices of these types; 64-bit integers lose 32 bits, and float16 comes back as float.
TYPES = ("float", "double", "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32")

# OpenCV's errors for more than five axes, and for a type without fill.
UNSUPPORTED = ("PAD_MAX_DIMS", "is not supported in function 'tensorToScalar'")


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Runs an ONNX model, fed by name, and returns its output."""
    content = np.frombuffer(model.SerializeToString(), np.uint8)
    net = cv2.dnn.readNetFromONNX(content, cv2.dnn.ENGINE_NEW)
    for name, array in fed.items():
        net.setInput(array, name)
    return np.asarray(net.forward())


arguments = partial(arguments_of, TYPES)


def run_without_pad(request: Request) -> np.ndarray:
    """Runs the model converted with ``--without-pad``."""
    request.require_type(TYPES)
    return pad(declare_shapes(without_pad(request), request.data.ndim), feeds(request))
