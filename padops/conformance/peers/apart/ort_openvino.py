"""OpenVINO's execution provider, on the processor: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

import numpy as np

from padops.conformance.peers import other_providers
from padops.conformance.peers.other_providers import REFUSALS
from padops.conformance.peers.request import Request

ENVIRONMENT = {
    "name": "ort-openvino",
    "families": ("onnx",),
    "provider": "OpenVINOExecutionProvider",
    "form": "declared",  # it takes no unknown ranks
    "max_cases": 1800,
    "forks": True,  # it ends its process where a crop leaves nothing
    "requires": (
        "onnxruntime-openvino==1.24.1", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0", "rich==15.0.0",
    ),
    "beside": {"name": "padops-beside-openvino", "max_cases": 1800, "forks": True},
    "lowered_for": {"name": "padops-for-openvino", "max_cases": 1200, "forks": True},
}  # fmt: skip

PACKAGES = ("onnxruntime-openvino",)

__all__ = ["PACKAGES", "REFUSALS", "run_beside", "run_case", "run_lowered_for"]


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, in a session with the provider and the CPU's behind it."""
    return other_providers.run_stock(request, other_providers.OPENVINO)


def run_beside(request: Request) -> np.ndarray:
    """The same in a ``padops.InferenceSession``."""
    return other_providers.run_beside(request, other_providers.OPENVINO)


def run_lowered_for(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --for`` leaves of it, in the session of ``run_case``."""
    return other_providers.run_lowered_for(request, other_providers.OPENVINO)
