"""tinygrad on the processor, which reads the model of ONNX itself."""

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

from padops.conformance.divergences import Divergence
from padops.conformance.peers.converted import arguments_of
from padops.conformance.peers.request import INTEGERS

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


arguments = partial(arguments_of, TYPES)

RECORDED = ">=0.14.0,<=0.14.0"
_EXTENDS = ("edge", "reflect", "wrap")
_row = partial(Divergence, peer="tinygrad", versions=RECORDED)
KNOWN = (
    _row("tinygrad-reflect-limit", "error", "P4",
         "an amount of a reflection may be n - 1 at most, and none at all where n = 0", modes=("reflect",),
         expected="output", some={"reflect-beyond-left", "empty-data"}, says="should be less than the input size"),
    _row("tinygrad-wrap-limit", "error", "P4", "an amount of a wrap may be n at most", modes=("wrap",),
         expected="output", tags={"beyond-left"}, says="wrapping around more than once"),
    _row("tinygrad-full", ("differ", "error"), "P3", "negative amounts crop after the extension, not before it",
         modes=_EXTENDS, expected="output", tags={"mixed"}, without={"full-is-crop"},
         link="https://github.com/onnx/onnx/issues/4294"),
    _row("tinygrad-cropped-away", "differ", "P5", "where a crop leaves nothing, the data before the crop are extended",
         modes=_EXTENDS, expected="error", tags={"cropped-away"}),
    _row("tinygrad-overcropped", "error", "P3", "a crop longer than its axis is refused", expected="output",
         tags={"overcropped"}, says="invalid shrink"),
    _row("tinygrad-empty", "error", "P5", "an axis without elements is refused though the output has none either",
         modes=("edge",), expected="output", tags={"empty-axis-padded", "empty-output"}, says="invalid shrink"),
    _row("tinygrad-row-of-pads", "error", "P8", "pads of shape [1, 2r] are taken for one number", tags={"pads-row"},
         says="list index out of range"),
    _row("tinygrad-no-axes", "error", "P8", "an empty list of axes counts as all axes", expected="output",
         tags={"axes-empty"}, says="list index out of range"),
    _row("tinygrad-fill-shape", "error", "P7", "a fill with an axis is refused", expected="output",
         tags={"fill-not-scalar"}),
    _row("tinygrad-float-bits", "differ", "P7", "NaNs get other bits on their way, and a fill of -0 loses its sign",
         dtypes=("float", "double", "float16"), expected="output", tags={"grows"}, some={"nan", "fill-nan", "fill"}),
    _row("tinygrad-wrap-before-19", "differ", "P9",
         "wrap is taken at every opset, though the specification has it from 19 on", modes=("wrap",), expected="error",
         rules=("P9",), tags={"mode-unknown"}),
    _row("tinygrad-short-pads", "error", "P8",
         "amounts that are too few are not refused: reading them ends in an IndexError", expected="error",
         tags={"amounts-wrong"}, says="list index out of range"),
    _row("tinygrad-huge", "error", "P10",
         "amounts beyond any memory are not refused: the system's mmap fails, or a number is too large for C",
         expected="error", tags={"huge"}),
    _row("tinygrad-wrong-axes", "differ", "P8",
         "axes that name one axis twice or lie outside of the rank, and amounts of another number, are not refused",
         expected="error", tags={"amounts-wrong"}),
)  # fmt: skip
