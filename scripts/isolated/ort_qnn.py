"""QNN's execution provider, its HTP emulated: stock, with padops beside it, and with models lowered for it."""

from __future__ import annotations

from functools import partial

from .other_providers import QNN, REFUSALS, arguments_of, pad, runs_on

ENVIRONMENT = {
    "name": "ort-qnn",
    "families": ("onnx",),
    "provider": "QNNExecutionProvider",
    "form": "fixed",  # QNN accepts no open dims, and no amounts as inputs
    "within": 2e-3,  # QNN computes float in float16
    "max_cases": 300,
    "forks": True,  # QNN crashes on models that it cannot run
    "requires": (
        "onnxruntime==1.32.0", "onnxruntime-qnn==2.7.0", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2",
        "onnx-ir==1.1.0",
    ),
    "beside": {"name": "padops-beside-qnn", "max_cases": 300, "forks": True},
    "lowered_for": {"name": "padops-for-qnn", "max_cases": 900, "forks": True},
}  # fmt: skip

PACKAGES = ("onnxruntime-qnn", "onnxruntime")

__all__ = ["PACKAGES", "REFUSALS", "arguments", "pad", "run_beside", "run_case", "run_lowered_for"]

run_case, run_beside, run_lowered_for = runs_on(QNN)
arguments = partial(arguments_of, QNN)
