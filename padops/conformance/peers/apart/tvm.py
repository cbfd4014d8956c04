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

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, standard_model
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


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The output of a model of ONNX, fed in its order."""
    module = relax.transform.LegalizeOps()(from_onnx(model, keep_params_in_input=False))
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    return np.asarray(machine["main"](*[tvm.runtime.tensor(array) for array in fed.values()]).numpy())


def arguments(request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Those of ``pad``: the model of ONNX and what it is fed with."""
    request.require_type(TYPES)
    return standard_model(request, ranked=True), feeds(request, request.inputs)


def run_without_pad(request: Request) -> np.ndarray:
    """That of what ``padops convert --target onnx --without-pad`` leaves."""
    request.require_type(TYPES)
    return pad(without_pad(request), feeds(request, request.inputs))


RECORDED = ">=0.27.0.1,<=0.27.0.1"  # 0.27.0.post1
_EXTENDS = ("edge", "reflect", "wrap")
KNOWN = (
    Divergence(
        "tvm-reflect-limit", "tvm", "differ", rule="P4", versions=RECORDED, modes=("reflect",),
        tags={"reflect-beyond-left"},
        reason="a reflection longer than n - 1 reads memory beyond the data",
    ),
    Divergence(
        "tvm-wrap-limit", "tvm", "differ", rule="P2", versions=RECORDED, modes=("wrap",), tags={"beyond-left"},
        reason="a wrap over more than one period reads memory beyond the data",
    ),
    Divergence(
        "tvm-full", "tvm", "differ", rule="P3", versions=RECORDED, modes=_EXTENDS, tags={"mixed"},
        without={"full-is-crop"},
        reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "tvm-nothing-left", "tvm", ("differ", "error", "crash"), rule="P5",
        versions=RECORDED, modes=_EXTENDS, some={"empty-axis-padded", "cropped-away"},
        expected="error", reason="where there is nothing to extend, the output comes from outside of the data",
    ),
    Divergence(
        "tvm-negative-output", "tvm", "error", rule="P1", versions=RECORDED, tags={"negative-output"}, expected="error",
        says="std::bad_alloc", reason="a negative output dim is not refused: it is asked of memory, as a huge one",
    ),
    Divergence(
        "tvm-row-of-pads", "tvm", "error", rule="P8",
        versions=RECORDED, tags={"pads-row"}, expected="output", says="equal division",
        reason="pads of shape [1, 2r] are split along their first dim",
    ),
    Divergence(
        "tvm-fill-shape", "tvm", "error", rule="P7", versions=RECORDED, some={"fill-not-scalar"}, expected="output",
        says="Python scalar", reason="the fill is read as a number in modes that do not use it",
    ),
    Divergence(
        "tvm-rank-0", "tvm", "error", rule="P5", versions=RECORDED, tags={"rank-0"}, expected="output",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "tvm-nan-fill", "tvm", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), tags={"fill-nan", "grows"}, expected="output",
        reason="the fill becomes a number of Python, on whose way a NaN loses its bits",
    ),
    Divergence(
        "tvm-huge", "tvm", ("differ", "crash"), rule="P10", versions=RECORDED, tags={"huge"}, expected="error",
        reason="amounts beyond any memory are not refused, and end the process",
    ),
)  # fmt: skip
