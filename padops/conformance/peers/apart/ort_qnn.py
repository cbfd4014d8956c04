"""QNN's execution provider, whose HTP is emulated here: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

import numpy as np

from padops.conformance.peers import other_providers
from padops.conformance.peers.other_providers import REFUSALS
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
        "onnxruntime==1.32.0", "onnxruntime-qnn==2.7.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0", "rich==15.0.0",
    ),
    "beside": {"name": "padops-beside-qnn", "max_cases": 300, "forks": True},
    "lowered_for": {"name": "padops-for-qnn", "max_cases": 900, "forks": True},
}  # fmt: skip

PACKAGES = ("onnxruntime-qnn", "onnxruntime")

__all__ = ["PACKAGES", "REFUSALS", "run_beside", "run_case", "run_lowered_for"]


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, in a session with the provider and the CPU's behind it."""
    return other_providers.run_stock(request, other_providers.QNN)


def run_beside(request: Request) -> np.ndarray:
    """The same in a ``padops.InferenceSession``."""
    return other_providers.run_beside(request, other_providers.QNN)


def run_lowered_for(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --for`` leaves of it, in the session of ``run_case``."""
    return other_providers.run_lowered_for(request, other_providers.QNN)
