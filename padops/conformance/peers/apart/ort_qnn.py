"""QNN's execution provider, whose HTP is emulated here: stock, with padops beside it, and on models that are lowered for it."""

from __future__ import annotations

import numpy as np

from padops.conformance.peers import other_providers
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
        "onnxruntime==1.32.0", "onnxruntime-qnn==2.7.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0",
    ),
    "beside": {"name": "padops-beside-qnn", "max_cases": 300, "forks": True},
    "lowered_for": {"name": "padops-for-qnn", "max_cases": 300, "forks": True},
}  # fmt: skip

PACKAGES = ("onnxruntime-qnn", "onnxruntime")
REFUSALS = other_providers.REFUSALS


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, in a session with the provider and the CPU's behind it."""
    return other_providers.run_stock(request, other_providers.QNN)


def run_beside(request: Request) -> np.ndarray:
    """The same in a ``padops.InferenceSession``."""
    return other_providers.run_beside(request, other_providers.QNN)


def run_lowered(request: Request) -> np.ndarray:
    """What ``padops.lower(…, provider=…)`` makes of it, in the stock session."""
    return other_providers.run_lowered(request, other_providers.QNN)
