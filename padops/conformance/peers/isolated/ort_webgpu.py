"""WebGPU's execution provider on a Vulkan in software: stock, with padops beside it, with models lowered for it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from padops.conformance.divergences import Divergence
from padops.conformance.peers.ort import KNOWN as KERNEL
from padops.conformance.peers.other_providers import (
    LOST_ERRORS,
    REFUSALS,
    WEBGPU,
    arguments_of,
    beside,
    errors_of,
    of_kernel,
    pad,
    renamed,
    runs_on,
)

ENVIRONMENT = {
    "name": "ort-webgpu",
    "families": ("onnx",),
    "provider": "WebGpuExecutionProvider",
    "form": "declared",
    "max_cases": 1800,
    "requires": (
        "onnxruntime-webgpu==1.27.0",
        "numpy==2.4.6",
        "ml_dtypes==0.5.4",
        "onnx==1.23.2",
        "onnx-ir==1.1.0",
        "rich==15.0.0",
    ),
    "debian": ("chromium-common",),  # it has SwiftShader
    "beside": {"name": "padops-beside-webgpu", "max_cases": 1800},
    "lowered_for": {"name": "padops-for-webgpu", "max_cases": 1800},
}

PACKAGES = ("onnxruntime-webgpu",)

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "arguments", "pad", "run_beside", "run_case", "run_lowered_for"]


run_case, run_beside, run_lowered_for = runs_on(WEBGPU)
arguments = partial(arguments_of, WEBGPU)

RECORDED = ">=1.27.0,<=1.27.0"
_STOCK, _BESIDE, _LOWERED = "ort-webgpu", "padops-beside-webgpu", "padops-for-webgpu"
_EXTENDS = ("edge", "reflect", "wrap")
# What the CPU's own Pad does that does not show behind the provider, or is among the rows below already.
_HIDDEN = {
    "ort-rank-0", "ort-unused-fill", "ort-repeated-axes", "ort-wrap-before-19", "ort-wrap-period",
}  # fmt: skip

_stock = partial(Divergence, peer=_STOCK, versions=RECORDED)
_OWN = (
    _stock("ort-webgpu-wrap", "differ", "P2", "beyond n, and behind a crop, other elements are taken", modes=("wrap",),
           expected="output", some={"beyond-left", "negative"}),
    _stock("ort-webgpu-reflect-crop", "differ", "P4",
           "beyond what a crop leaves, what the crop has taken away is reflected, too", modes=("reflect",),
           expected="output", tags={"negative", "reflect-beyond-left"}),
    _stock("ort-webgpu-rank-0", "error", "P5", "a tensor of rank 0 is refused, where there is nothing to pad",
           expected="output", tags={"rank-0"}),
    _stock("ort-webgpu-fill-not-one", "error", "P7", "the fill is checked in modes that do not use it", modes=_EXTENDS,
           expected="output", tags={"fill-not-one"}),
    _stock("ort-webgpu-float16", "error", "P7", "the Vulkan in software that the suite runs it on has no float16",
           dtypes=("float16",), expected="output", says="does not support it"),
    errors_of(_STOCK, ("differ",), RECORDED, "axes that are named twice, and what a crop leaves nothing of, are not "
    "refused"),
)  # fmt: skip
_KERNEL = of_kernel(_STOCK, "1.27.0", RECORDED, _HIDDEN)
_lowered = partial(Divergence, peer=_LOWERED, versions=RECORDED)
KNOWN = (
    *_OWN,
    *_KERNEL,
    *beside(_BESIDE, RECORDED),
    *renamed(_OWN, ("ort-webgpu-float16", "ort-webgpu-errors"), _BESIDE),
    *renamed(_KERNEL, ("ort-webgpu-cpu-float16-nan",), _BESIDE, "ort-webgpu-cpu"),
    _lowered("padops-for-webgpu-errors", "differ", "P8",
             f"{LOST_ERRORS}no operator sees: axes that are named twice, and lists of a wrong length",
             expected="error"),
    _lowered("padops-for-webgpu-float16", "error", "P7",
             "the Vulkan in software that the suite runs it on has no float16", dtypes=("float16",), expected="output",
             says="does not support it"),
    _lowered("padops-for-webgpu-before-7", "error", "P4",
             "the provider takes nothing of a model below opset 7, and onnxruntime's own Pad refuses a long reflection",
             modes=("reflect",), expected="output", opsets=(1, 6), tags={"reflect-beyond-left"}, says="Pad reflect"),
    *(replace(row, id="padops-for-webgpu-cpu-float16-attributes", peer=_LOWERED, versions=RECORDED)
      for row in KERNEL if row.id == "ort-float16-attributes"),
)  # fmt: skip
