"""Models that padops has lowered for another execution provider of onnxruntime, in a stock session with that."""

from __future__ import annotations

from dataclasses import replace

from padops.conformance.divergences import Divergence
from padops.conformance.known.onnxruntime import KERNEL
from padops.conformance.known.versions import ORT_OPENVINO, ORT_QNN, ORT_WEBGPU

_OPENVINO, _WEBGPU, _QNN = "padops-for-openvino", "padops-for-webgpu", "padops-for-qnn"
_ERRORS = "what breaks a rule shows in an index out of bounds or in a dim that does not fit, which "

KNOWN = (
    Divergence(
        f"{_OPENVINO}-errors", _OPENVINO, ("differ", "crash"), rule="P5", versions=ORT_OPENVINO, expected="error",
        reason=f"{_ERRORS}the provider does not refuse: it takes a 0 there, and a Range with steps of 0 ends the process",
    ),
    Divergence(
        f"{_OPENVINO}-int64", _OPENVINO, "differ", rule="P7", versions=ORT_OPENVINO, dtypes=("int64",), expected="output",
        reason="the provider computes int64 in 32 bits, whatever the operator is",
    ),
    Divergence(
        f"{_OPENVINO}-uint32", _OPENVINO, "differ", rule="P7", versions=ORT_OPENVINO, dtypes=("uint32",), modes=("constant",),
        tags={"fill"}, expected="output", reason="the provider takes constants of uint32 for int32",
    ),
    Divergence(
        f"{_OPENVINO}-float16-nan", _OPENVINO, "differ", rule="P7", versions=ORT_OPENVINO, dtypes=("float16",),
        some={"nan", "fill-nan"}, expected="output", reason="NaNs of float16 become quiet",
    ),
    Divergence(
        f"{_OPENVINO}-empty", _OPENVINO, ("error", "differ"), rule="P5", versions=ORT_OPENVINO,
        some={"empty-data", "empty-output", "cropped-away"}, expected="output",
        reason="the provider compiles no graph whose output is a constant, and takes no data without elements",
    ),
    Divergence(
        f"{_OPENVINO}-unused", _OPENVINO, ("error", "crash"), rule="P7", versions=ORT_OPENVINO, modes=("edge", "reflect", "wrap"),
        tags={"fill", "dynamic"}, expected="output",
        reason="behind an input that no node reads, such as a fill that the mode does not use, the provider mistakes one for another",
    ),
    Divergence(
        f"{_WEBGPU}-errors", _WEBGPU, "differ", rule="P8", versions=ORT_WEBGPU, expected="error",
        reason=f"{_ERRORS}no operator sees: axes that are named twice, and lists of a wrong length",
    ),
    Divergence(
        f"{_WEBGPU}-float16", _WEBGPU, "error", rule="P7", versions=ORT_WEBGPU, dtypes=("float16",), expected="output",
        says="does not support it", reason="the Vulkan in software that the suite runs it on has no float16",
    ),
    Divergence(
        f"{_WEBGPU}-before-7", _WEBGPU, "error", rule="P4", versions=ORT_WEBGPU, modes=("reflect",), opsets=(1, 6),
        tags={"reflect-beyond-left"}, expected="output", says="Pad reflect",
        reason="the provider takes nothing of a model below opset 7, and onnxruntime's own Pad refuses a long reflection",
    ),
    Divergence(
        f"{_QNN}-errors", _QNN, ("differ", "crash", "error"), rule="P8", versions=ORT_QNN, expected="error",
        reason=f"{_ERRORS}no operator sees; a mode that the version does not know is onnxruntime's",
    ),
    Divergence(
        f"{_QNN}-double", _QNN, "error", rule="P7", versions=ORT_QNN, dtypes=("double",), expected="output",
        says="Failed to compose", reason="the provider takes nodes of double that it cannot compile, whatever the operator is",
    ),
    Divergence(
        f"{_QNN}-empty", _QNN, "error", rule="P5", versions=ORT_QNN, some={"empty-data", "empty-output", "cropped-away"},
        expected="output", reason="a session with data or an output without elements cannot be created",
    ),
    Divergence(
        f"{_QNN}-integers", _QNN, ("differ", "error"), rule="P7", versions=ORT_QNN, dtypes=("int64", "int32", "uint32"),
        expected="output",
        reason="where onnxruntime's own Pad is not right, other operators of integers are computed in 32 bits, their constants in "
        "float, and some cannot be compiled",
    ),
    Divergence(
        f"{_QNN}-interior", _QNN, "error", rule="P6", versions=ORT_QNN, tags={"interior"}, expected="output",
        says="Failed to finalize", reason="a Gather puts the fill between the elements, and the provider cannot compile one",
    ),
    *(replace(row, id=f"{_WEBGPU}-cpu-float16-attributes", peer=_WEBGPU, versions=ORT_WEBGPU) for row in KERNEL
      if row.id == "ort-float16-attributes"),
)  # fmt: skip
