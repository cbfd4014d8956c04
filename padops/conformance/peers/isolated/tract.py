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

from padops.conformance.divergences import Divergence
from padops.conformance.peers.converted import arguments_of, pad_without_pad
from padops.conformance.peers.request import INTEGERS

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
UNSUPPORTED = ("Unsupported operator set", "Unsupported mode", "expected list of non-negative ints")


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The first output of a model of ONNX, fed in the order of its inputs.

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

RECORDED = ">=0.23.9,<=0.23.9"
_row = partial(Divergence, peer="tract", versions=RECORDED)
KNOWN = (
    _row("tract-crop", "crash", "P1",
         "a negative amount ends the process: it is taken for one that is positive and huge", tags={"negative"}),
    _row("tract-fill-wins", "differ", "P7", "a fill that is given makes the Pad a constant one, whatever its mode says",
         modes=("edge", "reflect"), tags={"fill", "grows"}),
    _row("tract-reflect-limit", ("differ", "crash"), "P4",
         "a reflection longer than n - 1 gives zeros, or ends the process", modes=("reflect",),
         tags={"reflect-beyond-left"}),
    _row("tract-rank-of-inputs", "error", "P7", "a fill must have the shape [], and amounts one axis",
         expected="output", some={"fill-not-scalar", "pads-row"}, says="Impossible to unify"),
    _row("tract-bool", "error", "P1", "data of bool are refused once the Pad has something to do", dtypes=("bool",),
         expected="output", says="Bool is not a number"),
    _row("tract-empty", ("differ", "crash"), "P5",
         "where there is nothing to extend, the output holds stray memory, or the process ends",
         modes=("edge", "reflect"), expected="error", tags={"empty-axis-padded"}),
    _row("tract-huge", "crash", "P10", "amounts beyond any memory end the process, or run without an end",
         expected="error", tags={"huge"}),
    _row("tract-wrong-axes", ("differ", "crash"), "P8",
         "axes that name one axis twice or lie outside of the rank, and amounts of another number, are not refused",
         expected="error", tags={"amounts-wrong"}),
)  # fmt: skip
