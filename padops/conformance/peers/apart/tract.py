"""tract, Sonos' inference engine in Rust, on the model of ONNX."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

os.environ["RUST_BACKTRACE"] = "0"

import numpy as np
import tract

from padops.conformance.model import declare_shapes, feeds, make_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import INTEGERS, Request, unsupported_where

ENVIRONMENT = {
    "name": "tract",
    "families": ("onnx",),
    "versions": (2, 99),
    # onnx-ir is for the converter, which makes the models without Pad.
    "requires": ("tract==0.23.9", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0"),
    "form": "fixed",
    # It ends its process often, or hangs.
    "max_cases": 400,
    "forks": True,
    "seconds": 5,
    "without_pad": {"name": "without-pad-tract", "form": "fixed", "max_cases": 1000, "forks": True, "seconds": 10},
}

PACKAGES = ("tract",)
REFUSALS = (tract.TractError,)

# float16 is left out: its arrays come back as uint16.
TYPES = ("float", "double", "bool", *INTEGERS)

# How it says that it does not know an opset or a mode.
_UNSUPPORTED = ("Unsupported operator set", "Unsupported mode", "expected list of non-negative ints")


def run_case(request: Request) -> np.ndarray:
    """The model of ONNX."""
    request.require_type(TYPES)
    model = declare_shapes(make_model(request, request.inputs, standard=True), request.data.ndim)
    with unsupported_where(_UNSUPPORTED, tract.TractError):
        return _run(model.SerializeToString(), feeds(request, request.inputs))


def run_without_pad(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves."""
    request.require_type(TYPES)
    return _run(without_pad(request).SerializeToString(), feeds(request, request.inputs))


def _run(content: bytes, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The first output of a model of ONNX, fed in its order; an error says no more than why it is refused."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "case.onnx")
            path.write_bytes(content)
            runnable = tract.onnx().load(path).into_model().into_runnable()
        return np.asarray(runnable.run(list(fed.values()))[0].to_numpy())
    except tract.TractError as error:
        raise tract.TractError(str(error).partition("Stack backtrace")[0].strip()) from error
