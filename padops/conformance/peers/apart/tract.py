"""tract, Sonos' inference engine in Rust, on the model of ONNX."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

os.environ["RUST_BACKTRACE"] = "0"

import numpy as np
import onnx
import tract

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, standard_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import INTEGERS, Request

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


def arguments(request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Those of ``pad``: the model of ONNX and what it is fed with."""
    request.require_type(TYPES)
    return standard_model(request, ranked=True), feeds(request, request.inputs)


def run_without_pad(request: Request) -> np.ndarray:
    """That of what ``padops convert --target onnx --without-pad`` leaves."""
    request.require_type(TYPES)
    return pad(without_pad(request), feeds(request, request.inputs))


RECORDED = ">=0.23.9,<=0.23.9"
KNOWN = (
    Divergence(
        "tract-crop", "tract", "crash", rule="P1", versions=RECORDED, tags={"negative"},
        reason="a negative amount ends the process: it is taken for one that is positive and huge",
    ),
    Divergence(
        "tract-fill-wins", "tract", "differ", rule="P7",
        versions=RECORDED, modes=("edge", "reflect"), tags={"fill", "grows"},
        reason="a fill that is given makes the Pad a constant one, whatever its mode says",
    ),
    Divergence(
        "tract-reflect-limit", "tract", ("differ", "crash"), rule="P4",
        versions=RECORDED, modes=("reflect",), tags={"reflect-beyond-left"},
        reason="a reflection longer than n - 1 gives zeros, or ends the process",
    ),
    Divergence(
        "tract-rank-of-inputs", "tract", "error", rule="P7",
        versions=RECORDED, some={"fill-not-scalar", "pads-row"}, expected="output",
        says="Impossible to unify", reason="a fill must have the shape [], and amounts one axis",
    ),
    Divergence(
        "tract-bool", "tract", "error", rule="P1",
        versions=RECORDED, dtypes=("bool",), expected="output", says="Bool is not a number",
        reason="data of bool are refused once the Pad has something to do",
    ),
    Divergence(
        "tract-empty", "tract", ("differ", "crash"), rule="P5",
        versions=RECORDED, modes=("edge", "reflect"), tags={"empty-axis-padded"}, expected="error",
        reason="where there is nothing to extend, the output holds stray memory, or the process ends",
    ),
    Divergence(
        "tract-huge", "tract", "crash", rule="P10", versions=RECORDED, tags={"huge"}, expected="error",
        reason="amounts beyond any memory end the process, or run without an end",
    ),
    Divergence(
        "tract-wrong-axes", "tract", ("differ", "crash"), rule="P8",
        versions=RECORDED, tags={"amounts-wrong"}, expected="error",
        reason="axes that name one axis twice or lie outside of the rank, and amounts of another number, are not "
        "refused",
    ),
)  # fmt: skip
