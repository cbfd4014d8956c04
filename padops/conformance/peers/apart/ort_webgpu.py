"""WebGPU's execution provider, on a Vulkan in software: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

import numpy as np

from padops.conformance.peers import other_providers
from padops.conformance.peers.other_providers import REFUSALS
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

__all__ = ["PACKAGES", "REFUSALS", "run_beside", "run_case", "run_lowered_for"]


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, in a session with the provider and the CPU's behind it."""
    return other_providers.run_stock(request, other_providers.WEBGPU)


def run_beside(request: Request) -> np.ndarray:
    """The same in a ``padops.InferenceSession``."""
    return other_providers.run_beside(request, other_providers.WEBGPU)


def run_lowered_for(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --for`` leaves of it, in the session of ``run_case``."""
    return other_providers.run_lowered_for(request, other_providers.WEBGPU)
