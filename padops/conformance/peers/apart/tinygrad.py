"""tinygrad on the processor, which reads the model of ONNX itself."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

os.environ.update(DEV="CPU", CACHELEVEL="0")  # compiled programs are kept nowhere

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, standard_model
from padops.conformance.peers.request import INTEGERS, Request

ENVIRONMENT = {
    "name": "tinygrad",
    "families": ("onnx",),
    "versions": (2, 99),
    "requires": ("tinygrad==0.14.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2"),
    "form": "fixed",
    # It compiles every case anew.
    "max_cases": 200,
}

PACKAGES = ("tinygrad",)
REFUSALS = (ValueError, AssertionError)  # it checks what it is given with assert, too

if shutil.which("clang") is None:
    raise ImportError("tinygrad compiles with clang, which is not on the PATH")

TYPES = ("float", "double", "float16", "bool", *INTEGERS)


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The output of a model of ONNX, fed by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.onnx")
        path.write_bytes(model.SerializeToString())
        runner = OnnxRunner(path)
        return np.asarray(runner({name: Tensor(array) for name, array in fed.items()})["output"].numpy())


def arguments(request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Those of ``pad``: the model of ONNX and what it is fed with."""
    request.require_type(TYPES)
    return standard_model(request, ranked=True), feeds(request, request.inputs)


RECORDED = ">=0.14.0,<=0.14.0"
_EXTENDS = ("edge", "reflect", "wrap")
KNOWN = (
    Divergence(
        "tinygrad-reflect-limit", "tinygrad", "error", rule="P4", versions=RECORDED, modes=("reflect",),
        some={"reflect-beyond-left", "empty-data"}, expected="output", says="should be less than the input size",
        reason="an amount of a reflection may be n - 1 at most, and none at all where n = 0",
    ),
    Divergence(
        "tinygrad-wrap-limit", "tinygrad", "error", rule="P4",
        versions=RECORDED, modes=("wrap",), tags={"beyond-left"}, expected="output",
        says="wrapping around more than once", reason="an amount of a wrap may be n at most",
    ),
    Divergence(
        "tinygrad-full", "tinygrad", ("differ", "error"), rule="P3",
        versions=RECORDED, modes=_EXTENDS, tags={"mixed"}, without={"full-is-crop"},
        expected="output", reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "tinygrad-cropped-away", "tinygrad", "differ", rule="P5",
        versions=RECORDED, modes=_EXTENDS, tags={"cropped-away"}, expected="error",
        reason="where a crop leaves nothing, the data before the crop are extended",
    ),
    Divergence(
        "tinygrad-overcropped", "tinygrad", "error", rule="P3",
        versions=RECORDED, tags={"overcropped"}, expected="output",
        says="invalid shrink", reason="a crop longer than its axis is refused",
    ),
    Divergence(
        "tinygrad-row-of-pads", "tinygrad", "error", rule="P8", versions=RECORDED, tags={"pads-row"},
        says="list index out of range", reason="pads of shape [1, 2r] are taken for one number",
    ),
    Divergence(
        "tinygrad-no-axes", "tinygrad", "error", rule="P8", versions=RECORDED, tags={"axes-empty"}, expected="output",
        says="list index out of range", reason="an empty list of axes counts as all axes",
    ),
    Divergence(
        "tinygrad-fill-shape", "tinygrad", "error", rule="P7",
        versions=RECORDED, tags={"fill-not-scalar"}, expected="output",
        reason="a fill with an axis is refused",
    ),
    Divergence(
        "tinygrad-float-bits", "tinygrad", "differ", rule="P7",
        versions=RECORDED, dtypes=("float", "double", "float16"), tags={"grows"},
        some={"nan", "fill-nan", "fill"}, expected="output",
        reason="NaNs get other bits on their way, and a fill of -0 loses its sign",
    ),
    Divergence(
        "tinygrad-wrap-before-19", "tinygrad", "differ", rule="P9",
        versions=RECORDED, modes=("wrap",), tags={"mode-unknown"},
        expected="error", rules=("P9",),
        reason="wrap is taken at every opset, though the specification has it from 19 on",
    ),
    Divergence(
        "tinygrad-short-pads", "tinygrad", "error", rule="P8", versions=RECORDED, tags={"amounts-wrong"},
        expected="error", says="list index out of range",
        reason="amounts that are too few are not refused: reading them ends in an IndexError",
    ),
    Divergence(
        "tinygrad-huge", "tinygrad", "error", rule="P10", versions=RECORDED, tags={"huge"}, expected="error",
        reason="amounts beyond any memory are not refused: the system's mmap fails, or a number is too large for C",
    ),
    Divergence(
        "tinygrad-wrong-axes", "tinygrad", "differ", rule="P8",
        versions=RECORDED, tags={"amounts-wrong"}, expected="error",
        reason="axes that name one axis twice or lie outside of the rank, and amounts of another number, are not "
        "refused",
    ),
)  # fmt: skip
