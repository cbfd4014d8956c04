"""WebGPU's execution provider on a Vulkan in software: stock, with padops beside it, with models lowered for it."""

from __future__ import annotations

from functools import partial

from .other_providers import REFUSALS, WEBGPU, arguments_of, pad, runs_on

ENVIRONMENT = {
    "name": "ort-webgpu",
    "families": ("onnx",),
    "provider": "WebGpuExecutionProvider",
    "form": "declared",
    "max_cases": 1800,
    "requires": (
        "onnxruntime-webgpu==1.27.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0",
    ),
    "debian": ("chromium-common",),  # it has SwiftShader
    "beside": {"name": "padops-beside-webgpu", "max_cases": 1800},
    "lowered_for": {"name": "padops-for-webgpu", "max_cases": 1800},
}  # fmt: skip

PACKAGES = ("onnxruntime-webgpu",)

__all__ = ["PACKAGES", "REFUSALS", "arguments", "pad", "run_beside", "run_case", "run_lowered_for"]

run_case, run_beside, run_lowered_for = runs_on(WEBGPU)
arguments = partial(arguments_of, WEBGPU)
