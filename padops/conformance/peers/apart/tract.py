"""tract, Sonos' inference engine in Rust, on the model of ONNX."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import tract

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Unsupported

ENVIRONMENT = {
    "name": "tract",
    "families": ("onnx",),
    "requires": ("tract==0.23.9", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2"),
    "forks": True,
}

PACKAGES = ("tract",)
