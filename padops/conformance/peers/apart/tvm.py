"""TVM: the model of ONNX by its relax importer, compiled for the processor."""

from __future__ import annotations

import os
from collections.abc import Mapping

os.environ["TVM_NUM_THREADS"] = "1"

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from padops.conformance.model import declare_shapes, feeds, make_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import INTEGERS, Request

ENVIRONMENT = {
    "name": "tvm",
    "families": ("onnx",),
    "versions": (2, 99),  # of version 1 it looks for an attribute that only version 2 has
    # onnx-ir is for the converter, which makes the models without Pad.
    "requires": ("apache-tvm==0.27.0.post1", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0"),
    "form": "fixed",
    # It compiles every case anew.
    "max_cases": 400,
    "forks": True,
    "seconds": 20,
    "without_pad": {"name": "without-pad-tvm", "form": "fixed", "max_cases": 150, "forks": True, "seconds": 20},
}

PACKAGES = ("apache-tvm",)
REFUSALS = (ValueError, tvm.error.OpError)

TYPES = ("float", "double", "float16", "bool", *INTEGERS)


def run_case(request: Request) -> np.ndarray:
    """The model of ONNX."""
    request.require_type(TYPES)
    model = declare_shapes(make_model(request, request.inputs, standard=True), request.data.ndim)
    return _run(model, feeds(request, request.inputs))


def run_without_pad(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves."""
    request.require_type(TYPES)
    return _run(without_pad(request), feeds(request, request.inputs))


def _run(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The output of a model of ONNX, fed in its order."""
    module = relax.transform.LegalizeOps()(from_onnx(model, keep_params_in_input=False))
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    return np.asarray(machine["main"](*[tvm.runtime.tensor(array) for array in fed.values()]).numpy())
