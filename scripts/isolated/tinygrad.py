"""tinygrad on the processor, which reads the ONNX model itself."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

os.environ.update(DEV="CPU", CACHELEVEL="0")  # compiled programs are kept nowhere

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

from padops.conformance.peers.request import INTEGERS

from .importers import arguments_of

ENVIRONMENT = {
    "name": "tinygrad",
    "families": ("onnx",),
    "versions": (2, 99),
    "requires": ("tinygrad==0.14.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2"),
    "form": "fixed",
    # tinygrad compiles every case anew.
    "max_cases": 200,
}

PACKAGES = ("tinygrad",)
REFUSALS = (ValueError, AssertionError)  # tinygrad also checks inputs with assert

if shutil.which("clang") is None:
    raise ImportError("tinygrad compiles with clang, which is not on the PATH")

TYPES = ("float", "double", "float16", "bool", *INTEGERS)


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Runs an ONNX model, fed by name, and returns its output."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.onnx")
        path.write_bytes(model.SerializeToString())
        runner = OnnxRunner(path)
        return np.asarray(runner({name: Tensor(array) for name, array in fed.items()})["output"].numpy())


arguments = partial(arguments_of, TYPES)
