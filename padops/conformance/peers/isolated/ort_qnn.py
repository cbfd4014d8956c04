"""QNN's execution provider, its HTP emulated: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

from functools import partial

from padops.conformance.divergences import Divergence
from padops.conformance.peers.other_providers import (
    LOST_ERRORS,
    QNN,
    REFUSALS,
    arguments_of,
    errors_of,
    of_kernel,
    pad,
    renamed,
    runs_on,
)

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

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "arguments", "pad", "run_beside", "run_case", "run_lowered_for"]


run_case, run_beside, run_lowered_for = runs_on(QNN)
arguments = partial(arguments_of, QNN)

RECORDED = ">=2.7.0,<=2.7.0"
_STOCK, _BESIDE, _LOWERED = "ort-qnn", "padops-beside-qnn", "padops-for-qnn"
_EXTENDS = ("edge", "reflect", "wrap")
# What the CPU's own Pad does that does not show behind the provider, or is among the rows below already.
_HIDDEN = {
    "ort-huge-empty", "ort-repeated-axes", "ort-float16-nan", "ort-rank-0", "ort-cropped-to-nothing",
    "ort-wrap-of-nothing", "ort-empty-output", "ort-wrap-before-19",
}  # fmt: skip

_stock = partial(Divergence, peer=_STOCK, versions=RECORDED)
_OWN = (
    _stock("ort-qnn-edge", ("error", "differ"), "P2", "a session with mode edge cannot be created", modes=("edge",),
           dtypes=("float", "float16"), expected="output"),
    _stock("ort-qnn-empty", "error", "P5", "a session with data or an output without elements cannot be created",
           expected="output", some={"empty-data", "empty-output"}),
    _stock("ort-qnn-rank-0", ("crash", "error"), "P5",
           "a reflection of rank 0 ends the process when onnxruntime asks the provider whether it takes it",
           expected="output", tags={"rank-0"}),
    _stock("ort-qnn-rank-5", "error", "P1", "constant Pads of five dims cannot be compiled", modes=("constant",),
           dtypes=("float",), expected="output", without={"rank-0"}, says="QNN"),
    errors_of(_STOCK, ("differ", "crash", "error"), RECORDED,
    "amounts beyond any memory, and a fill of no element, end the process"),
)  # fmt: skip
_KERNEL = of_kernel(_STOCK, "1.32.0", RECORDED, _HIDDEN, constant_amounts=True)
_lowered = partial(Divergence, peer=_LOWERED, versions=RECORDED)
KNOWN = (
    *_OWN,
    *_KERNEL,
    # Of what padops lets pass beside the others, all is among the errors here.
    *renamed(_OWN, ("ort-qnn-errors",), _BESIDE),
    Divergence("padops-beside-qnn-float16-fill", "error", "P7",
               "float16 is left to onnxruntime's own Pad, unless the option float16 is native", _BESIDE, RECORDED,
               modes=_EXTENDS, dtypes=("float16",), expected="output", tags={"fill-not-one"},
               says="Value tensor should be a 1D tensor of size 1"),
    _lowered("padops-for-qnn-errors", ("differ", "crash", "error"), "P8",
             f"{LOST_ERRORS}no operator sees; a mode that the version does not know is onnxruntime's",
             expected="error"),
    _lowered("padops-for-qnn-double", "error", "P7",
             "the provider takes nodes of double that it cannot compile, whatever the operator is", dtypes=("double",),
             expected="output", says="Failed to compose"),
    _lowered("padops-for-qnn-empty", "error", "P5",
             "a session with data or an output without elements cannot be created", expected="output",
             some={"empty-data", "empty-output", "cropped-away"}),
    _lowered("padops-for-qnn-integers", ("differ", "error"), "P7",
             "where onnxruntime's own Pad is not right, other operators of integers are computed in 32 bits, their "
             "constants in float, and some cannot be compiled", dtypes=("int64", "int32", "uint32"), expected="output"),
    _lowered("padops-for-qnn-interior", "error", "P6",
             "a Gather puts the fill between the elements, and the provider cannot compile one", expected="output",
             tags={"interior"}, says="Failed to finalize"),
)  # fmt: skip
