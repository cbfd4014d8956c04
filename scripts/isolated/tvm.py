"""TVM: the ONNX model, read by the relax importer and compiled for the processor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

os.environ["TVM_NUM_THREADS"] = "1"

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from padops.conformance.peers.request import INTEGERS

from .importers import arguments_of, pad_without_pad

ENVIRONMENT = {
    "name": "tvm",
    "families": ("onnx",),
    "versions": (2, 99),  # for Pad-1, the importer reads an attribute that only Pad-2 has
    # onnx-ir is for the converter, which makes the models without Pad.
    "requires": ("apache-tvm==0.27.0.post1", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0"),
    "form": "fixed",
    # TVM compiles every case anew.
    "max_cases": 400,
    "forks": True,
    "seconds": 20,
    "without_pad": {"name": "without-pad-tvm", "form": "fixed", "max_cases": 150, "forks": True, "seconds": 20},
}

PACKAGES = ("apache-tvm",)
REFUSALS = (ValueError, tvm.error.OpError)

TYPES = ("float", "double", "float16", "bool", *INTEGERS)


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Runs an ONNX model, fed in its input order, and returns its output."""
    module = relax.transform.LegalizeOps()(from_onnx(model, keep_params_in_input=False))
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    return np.asarray(machine["main"](*[tvm.runtime.tensor(array) for array in fed.values()]).numpy())


arguments = partial(arguments_of, TYPES)
run_without_pad = partial(pad_without_pad, pad, TYPES)
