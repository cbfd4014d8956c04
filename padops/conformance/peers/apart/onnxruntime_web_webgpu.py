"""onnxruntime-web on WebGPU, in a headless Chromium: what runs there, and not in WebAssembly; and models lowered for it."""

from __future__ import annotations

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
