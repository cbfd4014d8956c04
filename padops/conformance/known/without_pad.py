"""Models without Pad, as ``padops convert --target onnx --without-pad`` leaves them, in other runtimes.

tract and TVM follow every rule there.
"""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import ONNX, ONNXRUNTIME, ONNXRUNTIME_WEB, OPENCV, OPENVINO

_ORT, _REFERENCE, _OPENVINO = "padops-without-pad", "without-pad-reference", "without-pad-openvino"
_OPENCV, _WEB = "without-pad-opencv", "without-pad-web"


def _huge(peer: str, versions: str) -> Divergence:
    """What standard operators do not see; those of onnxruntime-web have too little memory to take it."""
    return Divergence(
        f"{peer}-huge", peer, "differ", rule="P10", versions=versions, tags={"huge"}, expected="error", rules=("P10",),
        reason="amounts beyond any memory are not refused where the output has no elements",
    )  # fmt: skip


def _repeated_axes(peer: str, versions: str) -> Divergence:
    """What no standard operator sees."""
    return Divergence(
        f"{peer}-repeated-axes", peer, "differ", rule="P8",
        versions=versions, tags={"axes-repeated"}, without={"constant-amounts"},
        expected="error", rules=("P8",),
        reason="of an axis that is named twice, the last amounts are taken, where the axes are not known before it runs",
    )  # fmt: skip


KNOWN = (
    _huge(_ORT, ONNXRUNTIME),
    _repeated_axes(_ORT, ONNXRUNTIME),
    Divergence(
        f"{_ORT}-4-bit", _ORT, "error", rule="P7", dtypes=("int4", "uint4"),
        versions=">=1.20.1,<1.23", expected="output",
        says="Could not find an implementation for Cast", reason="onnxruntime has no Cast of 4-bit integers yet",
    ),
    _huge(_REFERENCE, ONNX),
    _repeated_axes(_REFERENCE, ONNX),
    Divergence(
        f"{_REFERENCE}-e8m0", _REFERENCE, ("differ", "error"), rule="P7",
        versions=ONNX, dtypes=("float8e8m0",), expected="output",
        reason="onnx.reference casts float8e8m0 with another rounding: its bits 0 become 1",
    ),
    Divergence(
        f"{_OPENVINO}-errors", _OPENVINO, ("differ", "crash"), rule="P1", versions=OPENVINO, expected="error",
        reason="what breaks a rule shows in an index out of bounds, which the CPU device does not refuse: it takes a 0 there, "
        "and a Range with steps of 0 ends the process",
    ),
    Divergence(
        f"{_OPENVINO}-narrow", _OPENVINO, "differ", rule="P7",
        versions=OPENVINO, dtypes=("double", "int64", "uint64", "uint32"),
        expected="output", reason="the CPU device has no kernels for double, int64, uint64 and uint32, and computes them as "
        "float and int32",
    ),
    Divergence(
        f"{_OPENVINO}-small-floats", _OPENVINO, "differ", rule="P7", versions=OPENVINO,
        dtypes=("float16", "bfloat16", "float8e4m3fn", "float8e8m0"), expected="output",
        reason="elements are converted on the way, so that NaNs, negative zeros and denormals may lose their bits",
    ),
    Divergence(
        f"{_OPENVINO}-empty", _OPENVINO, ("differ", "error", "crash"), rule="P5",
        versions=OPENVINO, some={"empty-output", "negative-output"},
        expected="output",
        reason="a constant without elements is read as one of rank 0, and empty tensors are refused by some operators",
    ),
    Divergence(
        f"{_OPENVINO}-no-axes", _OPENVINO, "error", rule="P8",
        versions=OPENVINO, tags={"axes-empty"}, expected="output",
        says="reshape_shape_inference", reason="an empty list of axes cannot be reshaped",
    ),
    Divergence(
        f"{_OPENVINO}-fill-denormal", _OPENVINO, "differ", rule="P7",
        versions=OPENVINO, dtypes=("float",), modes=("constant",), tags={"fill"},
        expected="output", reason="denormals of a fill become 0",
    ),
    Divergence(
        f"{_OPENVINO}-strings", _OPENVINO, ("crash", "error"), rule="P7",
        versions=OPENVINO, dtypes=("string",), expected="output",
        reason="strings cannot be broadcast, and some operators free their memory twice",
    ),
    Divergence(
        f"{_OPENCV}-empty", _OPENCV, ("differ", "error"), rule="P5",
        versions=OPENCV, some={"empty-data", "empty-output", "negative-output"},
        expected="output",
        reason="an output without elements does not come out, and Concat refuses a part without elements",
    ),
    Divergence(
        f"{_OPENCV}-no-axes", _OPENCV, "error", rule="P8", versions=OPENCV, tags={"axes-empty"}, expected="output",
        says="cannot copy dimension", reason="an empty list of axes cannot be reshaped",
    ),
    Divergence(
        f"{_OPENCV}-errors", _OPENCV, ("differ", "crash"), rule="P1", versions=OPENCV, expected="error",
        reason="what breaks a rule shows in an index out of bounds or a negative size, which are not refused: the output holds "
        "stray memory, or the process ends",
    ),
    _repeated_axes(_WEB, ONNXRUNTIME_WEB),
    Divergence(
        f"{_WEB}-strings", _WEB, "differ", rule="P7", versions=ONNXRUNTIME_WEB, dtypes=("string",), expected="output",
        reason="on its way between JavaScript and the runtime a text ends at its first character 0",
    ),
)  # fmt: skip
