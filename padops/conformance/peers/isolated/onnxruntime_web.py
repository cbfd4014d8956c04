"""onnxruntime-web in Node.js: ONNX Runtime as WebAssembly.

The program beside this file is the example of docs/conformance.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

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
_without = partial(Divergence, peer=_WITHOUT_PAD, versions=RECORDED)
KNOWN = (
    *(  # the same kernel, compiled to WebAssembly
        replace(row, id=row.id.replace("ort-", "web-"), peer="onnxruntime-web", versions=RECORDED)
        for row in NATIVE
        if in_range("1.30.0", row.versions)
    ),
    repeated_axes_pass(_WITHOUT_PAD, RECORDED),
    _without("without-pad-web-strings", "differ", "P7",
             "on its way between JavaScript and the runtime a text ends at its first character 0", dtypes=("string",),
             expected="output"),
)  # fmt: skip
