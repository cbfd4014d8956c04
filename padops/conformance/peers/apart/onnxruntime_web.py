"""onnxruntime-web, ONNX Runtime as WebAssembly, in Node.js. The program beside this file is the example of docs/peers.md."""

from __future__ import annotations

ENVIRONMENT = {
    "name": "onnxruntime-web",
    "families": ("onnx",),
    "node": {"onnxruntime-web": "1.30.0"},
    "program": "onnxruntime_web.mjs",
    "without_pad": {"name": "without-pad-web", "max_cases": 400, "lowered": True},
}
