"""tract, Sonos' inference engine in Rust, on the model of ONNX."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

os.environ["RUST_BACKTRACE"] = "0"

import numpy as np
import onnx
import tract

from padops.conformance.peers.request import INTEGERS

from .importers import arguments_of, pad_without_pad

ENVIRONMENT = {
    "name": "tract",
    "families": ("onnx",),
    "versions": (2, 99),
    # onnx-ir is for the converter, which makes the models without Pad.
    "requires": ("tract==0.23.9", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0"),
    "form": "fixed",
    # tract often crashes or hangs.
    "max_cases": 400,
    "forks": True,
    "seconds": 5,
    "without_pad": {"name": "without-pad-tract", "form": "fixed", "max_cases": 1000, "forks": True, "seconds": 10},
}

PACKAGES = ("tract",)
REFUSALS = (tract.TractError,)

# float16 is left out: its arrays come back as uint16.
TYPES = ("float", "double", "bool", *INTEGERS)

# tract's errors for an unknown opset or mode.
UNSUPPORTED = ("Unsupported operator set", "Unsupported mode", "expected list of non-negative ints")


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Returns the first output of an ONNX model, fed in the order of its inputs.

    Raises:
        tract.TractError: tract refuses the model; the message is its reason, without the stack.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "case.onnx")
            path.write_bytes(model.SerializeToString())
            runnable = tract.onnx().load(path).into_model().into_runnable()
        return np.asarray(runnable.run(list(fed.values()))[0].to_numpy())
    except tract.TractError as error:
        raise tract.TractError(str(error).partition("Stack backtrace")[0].strip()) from error


arguments = partial(arguments_of, TYPES)
run_without_pad = partial(pad_without_pad, pad, TYPES)
