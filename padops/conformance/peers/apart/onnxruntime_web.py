"""onnxruntime-web in Node.js: ONNX Runtime as WebAssembly.

The program beside this file is the example of docs/peers.md.
"""

from __future__ import annotations

from dataclasses import replace

from padops.conformance.divergences import Divergence, in_range
from padops.conformance.peers.converted import repeated_axes_pass
from padops.conformance.peers.ort import KNOWN as NATIVE

ENVIRONMENT = {
    "name": "onnxruntime-web",
    "families": ("onnx",),
    "node": {"onnxruntime-web": "1.30.0"},
    "program": "onnxruntime_web.mjs",
    "without_pad": {"name": "without-pad-web", "max_cases": 400, "lowered": True},
}

PACKAGES = ("onnxruntime-web",)

RECORDED = ">=1.30.0,<=1.30.0"
_WITHOUT_PAD = "without-pad-web"
KNOWN = (
    *(  # the same kernel, compiled to WebAssembly
        replace(row, id=row.id.replace("ort-", "web-"), peer="onnxruntime-web", versions=RECORDED)
        for row in NATIVE
        if in_range("1.30.0", row.versions)
    ),
    repeated_axes_pass(_WITHOUT_PAD, RECORDED),
    Divergence(
        f"{_WITHOUT_PAD}-strings", _WITHOUT_PAD, "differ", rule="P7", versions=RECORDED, dtypes=("string",),
        expected="output",
        reason="on its way between JavaScript and the runtime a text ends at its first character 0",
    ),
)  # fmt: skip
