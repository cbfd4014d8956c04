"""OpenVINO's execution provider, on the processor: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

from functools import partial

from .other_providers import OPENVINO, REFUSALS, arguments_of, pad, runs_on

ENVIRONMENT = {
    "name": "ort-openvino",
    "families": ("onnx",),
    "provider": "OpenVINOExecutionProvider",
    "form": "declared",  # OpenVINO accepts no unknown ranks
    "max_cases": 1800,
    "forks": True,  # OpenVINO crashes if a crop leaves nothing
    "requires": (
        "onnxruntime-openvino==1.24.1", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0",
    ),
    "beside": {"name": "padops-beside-openvino", "max_cases": 1800, "forks": True},
    "lowered_for": {"name": "padops-for-openvino", "max_cases": 1200, "forks": True},
}  # fmt: skip

PACKAGES = ("onnxruntime-openvino",)

__all__ = ["PACKAGES", "REFUSALS", "arguments", "pad", "run_beside", "run_case", "run_lowered_for"]

run_case, run_beside, run_lowered_for = runs_on(OPENVINO)
arguments = partial(arguments_of, OPENVINO)
