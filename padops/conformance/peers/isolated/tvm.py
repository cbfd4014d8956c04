"""TVM: the model of ONNX by its relax importer, compiled for the processor."""

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

from padops.conformance.divergences import Divergence
from padops.conformance.peers.converted import arguments_of, pad_without_pad
from padops.conformance.peers.request import INTEGERS

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


arguments = partial(arguments_of, TYPES)
run_without_pad = partial(pad_without_pad, pad, TYPES)

RECORDED = ">=0.27.0.1,<=0.27.0.1"  # 0.27.0.post1
_EXTENDS = ("edge", "reflect", "wrap")
_row = partial(Divergence, peer="tvm", versions=RECORDED)
KNOWN = (
    _row("tvm-reflect-limit", "differ", "P4", "a reflection longer than n - 1 reads memory beyond the data",
         modes=("reflect",), tags={"reflect-beyond-left"}),
    _row("tvm-wrap-limit", "differ", "P2", "a wrap over more than one period reads memory beyond the data",
         modes=("wrap",), tags={"beyond-left"}),
    _row("tvm-full", "differ", "P3", "negative amounts crop after the extension, not before it", modes=_EXTENDS,
         tags={"mixed"}, without={"full-is-crop"}, link="https://github.com/onnx/onnx/issues/4294"),
    _row("tvm-nothing-left", ("differ", "error", "crash"), "P5",
         "where there is nothing to extend, the output comes from outside of the data", modes=_EXTENDS,
         expected="error", some={"empty-axis-padded", "cropped-away"}),
    _row("tvm-negative-output", "error", "P1",
         "a negative output dim is not refused: it is asked of memory, as a huge one", expected="error",
         tags={"negative-output"}, says="std::bad_alloc"),
    _row("tvm-row-of-pads", "error", "P8", "pads of shape [1, 2r] are split along their first dim", expected="output",
         tags={"pads-row"}, says="equal division"),
    _row("tvm-fill-shape", "error", "P7", "the fill is read as a number in modes that do not use it", expected="output",
         some={"fill-not-scalar"}, says="Python scalar"),
    _row("tvm-rank-0", "error", "P5", "a tensor of rank 0 is refused, where there is nothing to pad", expected="output",
         tags={"rank-0"}),
    _row("tvm-nan-fill", "differ", "P7", "the fill becomes a number of Python, on whose way a NaN loses its bits",
         modes=("constant",), expected="output", tags={"fill-nan", "grows"}),
    _row("tvm-huge", ("differ", "crash"), "P10", "amounts beyond any memory are not refused, and end the process",
         expected="error", tags={"huge"}),
)  # fmt: skip
