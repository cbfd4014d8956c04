"""Models without Pad in onnxruntime-web."""

from __future__ import annotations

ENVIRONMENT = {
    "name": "without-pad-web",
    "environment": "onnxruntime-web",
    "families": ("onnx", "openvino", "ngraph", "same"),
    "program": "onnxruntime_web.mjs",
    "lowered": True,
    "max_cases": 400,
}
