"""WebGPU's execution provider on a Vulkan in software: stock, with padops beside it, with models lowered for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from padops.conformance.divergences import Divergence
from padops.conformance.peers import other_providers
from padops.conformance.peers.ort import KNOWN as KERNEL
from padops.conformance.peers.other_providers import LOST_ERRORS, REFUSALS, beside, errors_of, of_kernel, renamed
from padops.conformance.peers.request import Request

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

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "run_beside", "run_case", "run_lowered_for"]


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, in a session with the provider and the CPU's behind it."""
    return other_providers.run_stock(request, other_providers.WEBGPU)


def run_beside(request: Request) -> np.ndarray:
    """The same in a ``padops.InferenceSession``."""
    return other_providers.run_beside(request, other_providers.WEBGPU)


def run_lowered_for(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --for`` leaves of it, in the session of ``run_case``."""
    return other_providers.run_lowered_for(request, other_providers.WEBGPU)


RECORDED = ">=1.27.0,<=1.27.0"
_STOCK, _BESIDE, _LOWERED = "ort-webgpu", "padops-beside-webgpu", "padops-for-webgpu"
_EXTENDS = ("edge", "reflect", "wrap")
# What the CPU's own Pad does that does not show behind the provider, or is among the rows below already.
_HIDDEN = {
    "ort-rank-0", "ort-unused-fill", "ort-repeated-axes", "ort-wrap-before-19", "ort-wrap-period",
}  # fmt: skip

_OWN = (
    Divergence(
        "ort-webgpu-wrap", _STOCK, "differ", rule="P2", versions=RECORDED, modes=("wrap",), expected="output",
        some={"beyond-left", "negative"}, reason="beyond n, and behind a crop, other elements are taken",
    ),
    Divergence(
        "ort-webgpu-reflect-crop", _STOCK, "differ", rule="P4", versions=RECORDED, modes=("reflect",),
        tags={"negative", "reflect-beyond-left"}, expected="output",
        reason="beyond what a crop leaves, what the crop has taken away is reflected, too",
    ),
    Divergence(
        "ort-webgpu-rank-0", _STOCK, "error", rule="P5", versions=RECORDED, tags={"rank-0"}, expected="output",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "ort-webgpu-fill-not-one", _STOCK, "error", rule="P7", versions=RECORDED, modes=_EXTENDS, tags={"fill-not-one"},
        expected="output", reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "ort-webgpu-float16", _STOCK, "error", rule="P7", versions=RECORDED, dtypes=("float16",), expected="output",
        says="does not support it", reason="the Vulkan in software that the suite runs it on has no float16",
    ),
    errors_of(_STOCK, ("differ",), RECORDED, "axes that are named twice, and what a crop leaves nothing of, are not "
    "refused"),
)  # fmt: skip
_KERNEL = of_kernel(_STOCK, "1.27.0", RECORDED, _HIDDEN)
KNOWN = (
    *_OWN,
    *_KERNEL,
    *beside(_BESIDE, RECORDED),
    *renamed(_OWN, ("ort-webgpu-float16", "ort-webgpu-errors"), _BESIDE),
    *renamed(_KERNEL, ("ort-webgpu-cpu-float16-nan",), _BESIDE, "ort-webgpu-cpu"),
    Divergence(
        f"{_LOWERED}-errors", _LOWERED, "differ", rule="P8", versions=RECORDED, expected="error",
        reason=f"{LOST_ERRORS}no operator sees: axes that are named twice, and lists of a wrong length",
    ),
    Divergence(
        f"{_LOWERED}-float16", _LOWERED, "error", rule="P7", versions=RECORDED, dtypes=("float16",), expected="output",
        says="does not support it", reason="the Vulkan in software that the suite runs it on has no float16",
    ),
    Divergence(
        f"{_LOWERED}-before-7", _LOWERED, "error", rule="P4", versions=RECORDED, modes=("reflect",), opsets=(1, 6),
        tags={"reflect-beyond-left"}, expected="output", says="Pad reflect",
        reason="the provider takes nothing of a model below opset 7, and onnxruntime's own Pad refuses a long "
        "reflection",
    ),
    *(replace(row, id="padops-for-webgpu-cpu-float16-attributes", peer=_LOWERED, versions=RECORDED)
      for row in KERNEL if row.id == "ort-float16-attributes"),
)  # fmt: skip
