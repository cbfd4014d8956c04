"""OpenVINO's execution provider, on the processor: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

import numpy as np

from padops.conformance.divergences import Divergence
from padops.conformance.peers import other_providers
from padops.conformance.peers.other_providers import LOST_ERRORS, REFUSALS, beside, errors_of, of_kernel, renamed
from padops.conformance.peers.request import Request

ENVIRONMENT = {
    "name": "ort-openvino",
    "families": ("onnx",),
    "provider": "OpenVINOExecutionProvider",
    "form": "declared",  # it takes no unknown ranks
    "max_cases": 1800,
    "forks": True,  # it ends its process where a crop leaves nothing
    "requires": (
        "onnxruntime-openvino==1.24.1", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0",
        "rich==15.0.0",
    ),
    "beside": {"name": "padops-beside-openvino", "max_cases": 1800, "forks": True},
    "lowered_for": {"name": "padops-for-openvino", "max_cases": 1200, "forks": True},
}  # fmt: skip

PACKAGES = ("onnxruntime-openvino",)

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "run_beside", "run_case", "run_lowered_for"]


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, in a session with the provider and the CPU's behind it."""
    return other_providers.run_stock(request, other_providers.OPENVINO)


def run_beside(request: Request) -> np.ndarray:
    """The same in a ``padops.InferenceSession``."""
    return other_providers.run_beside(request, other_providers.OPENVINO)


def run_lowered_for(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --for`` leaves of it, in the session of ``run_case``."""
    return other_providers.run_lowered_for(request, other_providers.OPENVINO)


RECORDED = ">=1.24.1,<=1.24.1"
_STOCK, _BESIDE, _LOWERED = "ort-openvino", "padops-beside-openvino", "padops-for-openvino"
# What the CPU's own Pad does that does not show behind the provider, or is among the rows below already.
_HIDDEN = {
    "ort-wrap-before-19", "ort-empty-output", "ort-unused-fill", "ort-reflect-limit", "ort-int32-axes",
    "ort-repeated-axes", "ort-cropped-to-nothing", "ort-wrap-of-nothing", "ort-float16-nan",
    "ort-reflect-reads-beyond",
}  # fmt: skip

_OWN = (
    Divergence(
        "ort-openvino-axes", _STOCK, ("error", "differ", "crash"), rule="P8", versions=RECORDED, tags={"axes"},
        expected="output", reason="axes are refused where they are not all axes, and lose the fill where they are",
    ),
    Divergence(
        "ort-openvino-wrap", _STOCK, "error", rule="P2", versions=RECORDED, modes=("wrap",), expected="output",
        reason="there is no mode wrap",
    ),
    Divergence(
        "ort-openvino-cut-away", _STOCK, ("crash", "error", "differ"), rule="P5", versions=RECORDED,
        tags={"cropped-away"}, expected="output", reason="a crop that leaves nothing of an axis ends the process",
    ),
    Divergence(
        "ort-openvino-reflect-limit", _STOCK, ("error", "differ", "crash"), rule="P4", versions=RECORDED,
        modes=("reflect",), tags={"reflect-beyond-left"}, expected="output",
        reason="an amount of a reflection may be n - 1 at most",
    ),
    Divergence(
        "ort-openvino-fill-not-one", _STOCK, "error", rule="P7", versions=RECORDED, tags={"fill-not-one"},
        expected="output", reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "ort-openvino-int64", _STOCK, "differ", rule="P7", versions=RECORDED, dtypes=("int64",), expected="output",
        reason="int64 is computed in 32 bits",
    ),
    Divergence(
        "ort-openvino-fill", _STOCK, "differ", rule="P7", versions=RECORDED, modes=("constant",), tags={"fill"},
        expected="output",
        reason="a fill goes through float, which has 24 bits of an integer and no negative zero; beside constant "
        "amounts one that "
        "is given at run time becomes 0",
    ),
    Divergence(
        "ort-openvino-value", _STOCK, "error", rule="P7", versions=RECORDED, dtypes=("float", "float16"), opsets=(1,
        10),
        tags={"fill"}, expected="output", reason="a value that is NaN or infinite is refused, in modes that do not "
        "use it, too",
    ),
    Divergence(
        "ort-openvino-float16-nan", _STOCK, "differ", rule="P7", versions=RECORDED, dtypes=("float16",),
        expected="output", some={"nan", "fill-nan"}, reason="NaNs of float16 become quiet",
    ),
    Divergence(
        "ort-openvino-row-of-pads", _STOCK, "error", rule="P8", versions=RECORDED, tags={"pads-row", "dynamic"},
        expected="output", reason="amounts of shape [1, 2r] are refused at run time, too",
    ),
    Divergence(
        "ort-openvino-computed", _STOCK, "error", rule="P8", versions=RECORDED, tags={"dynamic"}, expected="output",
        some={"empty-data", "empty-output", "nothing-to-do"}, reason="amounts at run time are refused in corners",
    ),
    errors_of(_STOCK, ("differ", "crash"), RECORDED, "what breaks a rule is not refused: it gives an output, or ends "
    "the process"),
)  # fmt: skip
_KERNEL = of_kernel(_STOCK, "1.24.1", RECORDED, _HIDDEN)
KNOWN = (
    *_OWN,
    *_KERNEL,
    *beside(_BESIDE, RECORDED),
    *renamed(_OWN, ("ort-openvino-int64", "ort-openvino-float16-nan"), _BESIDE),
    Divergence(
        "padops-beside-openvino-errors", _BESIDE, "differ", rule="P5", versions=RECORDED, modes=("edge",),
        tags={"cropped-away"}, expected="error", reason="what a crop leaves nothing of is extended, and not refused",
    ),
    Divergence(
        "padops-beside-openvino-row-of-pads", _BESIDE, "error", rule="P8", versions=RECORDED,
        dtypes=("int4", "uint4"), tags={"pads-row", "constant-amounts"}, opsets=(25, 25), says="input must be a 1D",
        reason="the converted model is refused, too: nobody has a kernel for the Identity before the Pad",
    ),
    Divergence(
        "padops-beside-openvino-int32-axes", _BESIDE, "error", rule="P8", versions=RECORDED,
        dtypes=("int4", "uint4"), tags={"axes-int32", "constant-amounts"}, says="ParseData type mismatch",
        reason="the converted model is refused, too: nobody has a kernel for the Identity before the Pad",
    ),
    Divergence(
        f"{_LOWERED}-errors", _LOWERED, ("differ", "crash"), rule="P5", versions=RECORDED, expected="error",
        reason=f"{LOST_ERRORS}the provider does not refuse: it takes a 0 there, and a Range with steps of 0 ends the "
        "process",
    ),
    Divergence(
        f"{_LOWERED}-int64", _LOWERED, "differ", rule="P7", versions=RECORDED, dtypes=("int64",), expected="output",
        reason="the provider computes int64 in 32 bits, whatever the operator is",
    ),
    Divergence(
        f"{_LOWERED}-uint32", _LOWERED, "differ", rule="P7", versions=RECORDED, dtypes=("uint32",), modes=("constant",),
        tags={"fill"}, expected="output", reason="the provider takes constants of uint32 for int32",
    ),
    Divergence(
        f"{_LOWERED}-float16-nan", _LOWERED, "differ", rule="P7", versions=RECORDED, dtypes=("float16",),
        some={"nan", "fill-nan"}, expected="output", reason="NaNs of float16 become quiet",
    ),
    Divergence(
        f"{_LOWERED}-empty", _LOWERED, ("error", "differ"), rule="P5", versions=RECORDED,
        some={"empty-data", "empty-output", "cropped-away"}, expected="output",
        reason="the provider compiles no graph whose output is a constant, and takes no data without elements",
    ),
    Divergence(
        f"{_LOWERED}-unused", _LOWERED, ("error", "crash"), rule="P7", versions=RECORDED, modes=("edge", "reflect",
        "wrap"),
        tags={"fill", "dynamic"}, expected="output",
        reason="behind an input that no node reads, such as a fill that the mode does not use, the provider mistakes "
        "one for another",
    ),
)  # fmt: skip
