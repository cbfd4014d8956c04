"""onnxruntime-web on WebGPU, in a headless Chromium: stock, and with models lowered for it."""

from __future__ import annotations

from .onnxruntime_web import PACKAGES, script

__all__ = ["PACKAGES", "script"]

ENVIRONMENT = {
    "name": "onnxruntime-web-webgpu",
    "families": ("onnx",),
    "provider": "WebGpuExecutionProvider",
    "form": "declared",
    "max_cases": 1800,
    "node": {"onnxruntime-web": "1.30.0"},
    "program": "onnxruntime_web_webgpu.mjs",
    "lowered_for": {"name": "padops-for-web-webgpu", "max_cases": 1800, "lowered": True},
}

NEEDS = ("Chromium (chromium, or what CHROMIUM names)",)  # needed besides the packages
