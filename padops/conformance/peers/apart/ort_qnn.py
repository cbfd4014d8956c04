"""QNN's execution provider, its HTP emulated: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

import numpy as np

from padops.conformance.divergences import Divergence
from padops.conformance.peers import other_providers
from padops.conformance.peers.other_providers import LOST_ERRORS, REFUSALS, errors_of, of_kernel, renamed
from padops.conformance.peers.request import Request

ENVIRONMENT = {
    "name": "ort-qnn",
    "families": ("onnx",),
    "provider": "QNNExecutionProvider",
    "form": "fixed",  # it takes no open dims, and no amounts that are given
    "within": 2e-3,  # it computes float in float16
    "max_cases": 300,
    "forks": True,  # it ends its process where it is asked what it cannot do
    "requires": (
        "onnxruntime==1.32.0", "onnxruntime-qnn==2.7.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2",
        "onnx-ir==1.1.0", "rich==15.0.0",
    ),
    "beside": {"name": "padops-beside-qnn", "max_cases": 300, "forks": True},
    "lowered_for": {"name": "padops-for-qnn", "max_cases": 900, "forks": True},
}  # fmt: skip

PACKAGES = ("onnxruntime-qnn", "onnxruntime")

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "run_beside", "run_case", "run_lowered_for"]


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, in a session with the provider and the CPU's behind it."""
    return other_providers.run_stock(request, other_providers.QNN)


def run_beside(request: Request) -> np.ndarray:
    """The same in a ``padops.InferenceSession``."""
    return other_providers.run_beside(request, other_providers.QNN)


def run_lowered_for(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --for`` leaves of it, in the session of ``run_case``."""
    return other_providers.run_lowered_for(request, other_providers.QNN)


RECORDED = ">=2.7.0,<=2.7.0"
_STOCK, _BESIDE, _LOWERED = "ort-qnn", "padops-beside-qnn", "padops-for-qnn"
_EXTENDS = ("edge", "reflect", "wrap")
# What the CPU's own Pad does that does not show behind the provider, or is among the rows below already.
_HIDDEN = {
    "ort-huge-empty", "ort-repeated-axes", "ort-float16-nan", "ort-rank-0", "ort-cropped-to-nothing",
    "ort-wrap-of-nothing", "ort-empty-output", "ort-wrap-before-19",
}  # fmt: skip

_OWN = (
    Divergence(
        "ort-qnn-edge", _STOCK, ("error", "differ"), rule="P2", versions=RECORDED, modes=("edge",), dtypes=("float",
        "float16"),
        expected="output", reason="a session with mode edge cannot be created",
    ),
    Divergence(
        "ort-qnn-empty", _STOCK, "error", rule="P5", versions=RECORDED, some={"empty-data", "empty-output"},
        expected="output",
        reason="a session with data or an output without elements cannot be created",
    ),
    Divergence(
        "ort-qnn-rank-0", _STOCK, ("crash", "error"), rule="P5", versions=RECORDED, tags={"rank-0"}, expected="output",
        reason="a reflection of rank 0 ends the process when onnxruntime asks the provider whether it takes it",
    ),
    Divergence(
        "ort-qnn-rank-5", _STOCK, "error", rule="P1", versions=RECORDED, modes=("constant",), dtypes=("float",),
        expected="output",
        without={"rank-0"}, says="QNN", reason="constant Pads of five dims cannot be compiled",
    ),
    errors_of(_STOCK, ("differ", "crash", "error"), RECORDED,
    "amounts beyond any memory, and a fill of no element, end the process"),
)  # fmt: skip
_KERNEL = of_kernel(_STOCK, "1.32.0", RECORDED, _HIDDEN, constant_amounts=True)
KNOWN = (
    *_OWN,
    *_KERNEL,
    # Of what padops lets pass beside the others, all is among the errors here.
    *renamed(_OWN, ("ort-qnn-errors",), _BESIDE),
    Divergence(
        "padops-beside-qnn-float16-fill", _BESIDE, "error", rule="P7", versions=RECORDED, modes=_EXTENDS,
        dtypes=("float16",), tags={"fill-not-one"}, expected="output",
        says="Value tensor should be a 1D tensor of size 1",
        reason="float16 is left to onnxruntime's own Pad, unless the option float16 is native",
    ),
    Divergence(
        f"{_LOWERED}-errors", _LOWERED, ("differ", "crash", "error"), rule="P8", versions=RECORDED, expected="error",
        reason=f"{LOST_ERRORS}no operator sees; a mode that the version does not know is onnxruntime's",
    ),
    Divergence(
        f"{_LOWERED}-double", _LOWERED, "error", rule="P7", versions=RECORDED, dtypes=("double",), expected="output",
        says="Failed to compose", reason="the provider takes nodes of double that it cannot compile, whatever the "
        "operator is",
    ),
    Divergence(
        f"{_LOWERED}-empty", _LOWERED, "error", rule="P5", versions=RECORDED, some={"empty-data", "empty-output",
        "cropped-away"},
        expected="output", reason="a session with data or an output without elements cannot be created",
    ),
    Divergence(
        f"{_LOWERED}-integers", _LOWERED, ("differ", "error"), rule="P7", versions=RECORDED, dtypes=("int64", "int32",
        "uint32"),
        expected="output",
        reason="where onnxruntime's own Pad is not right, other operators of integers are computed in 32 bits, their "
        "constants in "
        "float, and some cannot be compiled",
    ),
    Divergence(
        f"{_LOWERED}-interior", _LOWERED, "error", rule="P6", versions=RECORDED, tags={"interior"}, expected="output",
        says="Failed to finalize", reason="a Gather puts the fill between the elements, and the provider cannot "
        "compile one",
    ),
)  # fmt: skip
