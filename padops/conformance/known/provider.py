"""padops as an execution provider: what onnxruntime refuses or allows before it asks the provider."""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import ONNXRUNTIME

_PEER = "padops-provider"

KNOWN = (
    Divergence(
        "provider-int32-axes", _PEER, "error", rule="P8", versions=ONNXRUNTIME, tags={"axes-int32", "constant-amounts"},
        says="ParseData type mismatch",
        reason="constant int32 axes fail at load, in onnx's strict shape inference; the converter helps",
    ),
    Divergence(
        "provider-row-of-pads", _PEER, "error", rule="P8", versions=ONNXRUNTIME, tags={"pads-row", "constant-amounts"},
        says="input must be a 1D",
        reason="constant pads of shape [1, 2r] fail at load, in onnx's shape inference; the converter helps",
    ),
    Divergence(
        "provider-wrap-before-19", _PEER, "differ", rule="P9",
        versions=ONNXRUNTIME, modes=("wrap",), tags={"mode-unknown"},
        expected="error", rules=("P9",),
        reason="onnxruntime's own Pad takes wrap at every opset, and models that rely on it are to run on",
    ),
)  # fmt: skip
