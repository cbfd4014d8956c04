"""OpenVINO's execution provider, on the processor: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

from functools import partial

from padops.conformance.divergences import Divergence
from padops.conformance.peers.other_providers import (
    LOST_ERRORS,
    OPENVINO,
    REFUSALS,
    arguments_of,
    beside,
    errors_of,
    of_kernel,
    pad,
    renamed,
    runs_on,
)

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

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "arguments", "pad", "run_beside", "run_case", "run_lowered_for"]


run_case, run_beside, run_lowered_for = runs_on(OPENVINO)
arguments = partial(arguments_of, OPENVINO)

RECORDED = ">=1.24.1,<=1.24.1"
_STOCK, _BESIDE, _LOWERED = "ort-openvino", "padops-beside-openvino", "padops-for-openvino"
# What the CPU's own Pad does that does not show behind the provider, or is among the rows below already.
_HIDDEN = {
    "ort-wrap-before-19", "ort-empty-output", "ort-unused-fill", "ort-int32-axes",
    "ort-repeated-axes", "ort-cropped-to-nothing", "ort-wrap-of-nothing", "ort-float16-nan",
    "ort-reflect-reads-beyond",
}  # fmt: skip

_stock = partial(Divergence, peer=_STOCK, versions=RECORDED)
_OWN = (
    _stock("ort-openvino-axes", ("error", "differ", "crash"), "P8",
           "axes are refused where they are not all axes, and lose the fill where they are", expected="output",
           tags={"axes"}),
    _stock("ort-openvino-wrap", "error", "P2", "there is no mode wrap", modes=("wrap",), expected="output"),
    _stock("ort-openvino-cut-away", ("crash", "error", "differ"), "P5",
           "a crop that leaves nothing of an axis ends the process", expected="output", tags={"cropped-away"}),
    _stock("ort-openvino-reflect-limit", ("error", "differ", "crash"), "P4",
           "an amount of a reflection may be n - 1 at most", modes=("reflect",), expected="output",
           tags={"reflect-beyond-left"}),
    _stock("ort-openvino-fill-not-one", "error", "P7", "the fill is checked in modes that do not use it",
           expected="output", tags={"fill-not-one"}),
    _stock("ort-openvino-int64", "differ", "P7", "int64 is computed in 32 bits", dtypes=("int64",), expected="output"),
    _stock("ort-openvino-fill", "differ", "P7",
           "a fill goes through float, which has 24 bits of an integer and no negative zero; beside constant amounts "
           "one that is given at run time becomes 0", modes=("constant",), expected="output", tags={"fill"}),
    _stock("ort-openvino-value", "error", "P7",
           "a value that is NaN or infinite is refused, in modes that do not use it, too", dtypes=("float", "float16"),
           expected="output", opsets=(1, 10), tags={"fill"}),
    _stock("ort-openvino-float16-nan", "differ", "P7", "NaNs of float16 become quiet", dtypes=("float16",),
           expected="output", some={"nan", "fill-nan"}),
    _stock("ort-openvino-row-of-pads", "error", "P8", "amounts of shape [1, 2r] are refused at run time, too",
           expected="output", tags={"pads-row", "dynamic"}),
    _stock("ort-openvino-computed", "error", "P8", "amounts at run time are refused in corners", expected="output",
           tags={"dynamic"}, some={"empty-data", "empty-output", "nothing-to-do"}),
    errors_of(_STOCK, ("differ", "crash"), RECORDED, "what breaks a rule is not refused: it gives an output, or ends "
    "the process"),
)  # fmt: skip
_KERNEL = of_kernel(_STOCK, "1.24.1", RECORDED, _HIDDEN)
_lowered = partial(Divergence, peer=_LOWERED, versions=RECORDED)
_beside = partial(Divergence, peer=_BESIDE, versions=RECORDED)
KNOWN = (
    *_OWN,
    *_KERNEL,
    *beside(_BESIDE, RECORDED),
    *renamed(_OWN, ("ort-openvino-int64", "ort-openvino-float16-nan"), _BESIDE),
    _beside("padops-beside-openvino-errors", "differ", "P5",
            "what a crop leaves nothing of is extended, and not refused", modes=("edge",), expected="error",
            tags={"cropped-away"}),
    _beside("padops-beside-openvino-row-of-pads", "error", "P8",
            "the converted model is refused, too: nobody has a kernel for the Identity before the Pad",
            dtypes=("int4", "uint4"), opsets=(25, 25), tags={"pads-row", "constant-amounts"},
            says="input must be a 1D"),
    _beside("padops-beside-openvino-int32-axes", "error", "P8",
            "the converted model is refused, too: nobody has a kernel for the Identity before the Pad",
            dtypes=("int4", "uint4"), tags={"axes-int32", "constant-amounts"}, says="ParseData type mismatch"),
    _lowered("padops-for-openvino-errors", ("differ", "crash"), "P5",
             f"{LOST_ERRORS}the provider does not refuse: it takes a 0 there, and a Range with steps of 0 ends the "
             "process", expected="error"),
    _lowered("padops-for-openvino-int64", "differ", "P7",
             "the provider computes int64 in 32 bits, whatever the operator is", dtypes=("int64",), expected="output"),
    _lowered("padops-for-openvino-uint32", "differ", "P7", "the provider takes constants of uint32 for int32",
             modes=("constant",), dtypes=("uint32",), expected="output", tags={"fill"}),
    _lowered("padops-for-openvino-float16-nan", "differ", "P7", "NaNs of float16 become quiet", dtypes=("float16",),
             expected="output", some={"nan", "fill-nan"}),
    _lowered("padops-for-openvino-empty", ("error", "differ"), "P5",
             "the provider compiles no graph whose output is a constant, and takes no data without elements",
             expected="output", some={"empty-data", "empty-output", "cropped-away"}),
    _lowered("padops-for-openvino-unused", ("error", "crash"), "P7",
             "behind an input that no node reads, such as a fill that the mode does not use, the provider mistakes "
             "one for another", modes=("edge", "reflect", "wrap"), expected="output", tags={"fill", "dynamic"}),
)  # fmt: skip
