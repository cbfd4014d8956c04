"""OpenVINO on its CPU device: its own Pad-1 and Pad-12, and ONNX's Pad by way of its frontend."""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import OPENVINO

_EXTENDS = ("edge", "reflect", "symmetric", "wrap")
_SMALL = ("float16", "bfloat16", "float8e4m3fn", "float8e5m2", "float8e8m0", "float4e2m1")


def _cpu_device(peer: str) -> tuple[Divergence, ...]:
    """What the three peers have in common."""
    return (
        Divergence(
            f"{peer}-rank-0", peer, ("differ", "error", "crash"), rule="P5",
            versions=OPENVINO, tags={"rank-0"}, expected="output",
            reason="a tensor of rank 0 is refused where the amounts are constant, and comes out as garbage elsewhere",
        ),
        Divergence(
            f"{peer}-overcropped", peer, ("crash", "differ", "error"), rule="P3",
            versions=OPENVINO, tags={"overcropped"},
            reason="a crop longer than its axis reads and writes beyond the data: a crash, garbage or a wrong shape",
        ),
        Divergence(
            f"{peer}-narrow", peer, "differ", rule="P7",
            versions=OPENVINO, dtypes=("double", "int64", "uint64", "uint32"),
            expected="output",
            reason="the CPU device has no kernels for double, int64, uint64 and uint32, and computes them as float "
            "and int32",
        ),
        Divergence(
            f"{peer}-int32-fill", peer, "differ", rule="P7", versions=OPENVINO, modes=("constant",), dtypes=("int32",),
            tags={"fill", "grows"}, expected="output",
            reason="the fill goes through float, which has 24 bits of an int32",
        ),
        Divergence(
            f"{peer}-small-floats", peer, "differ", rule="P7", versions=OPENVINO, dtypes=_SMALL, expected="output",
            reason="elements are converted on the way, so that NaNs and negative zeros may lose their bits",
        ),
        Divergence(
            f"{peer}-empty", peer, ("differ", "crash"), rule="P5",
            versions=OPENVINO, rules=("P5",), expected="error", modes=_EXTENDS,
            tags={"empty-axis-padded"},
            reason="extending an axis without elements gives elements from nowhere instead of an error",
        ),
        Divergence(
            f"{peer}-empty-data", peer, ("differ", "error"), rule="P5", versions=OPENVINO, modes=_EXTENDS,
            tags={"empty-data", "empty-output"}, expected="output",
            reason="extensions of data without elements are refused, or get a wrong shape, though the output has no "
            "elements either",
        ),
        Divergence(
            f"{peer}-huge", peer, ("differ", "crash"), rule="P10", versions=OPENVINO, tags={"huge"}, expected="error",
            reason="amounts beyond 32 bits wrap around",
        ),
        Divergence(
            f"{peer}-negative-output", peer, ("differ", "error", "crash"), rule="P1",
            versions=OPENVINO, tags={"negative-output"},
            reason="a negative output dim is neither clamped, as the Pad-12 text says, nor refused",
        ),
    )  # fmt: skip


def _own(peer: str) -> tuple[Divergence, ...]:
    """What is about the operators of OpenVINO alone."""
    return (
        Divergence(
            f"{peer}-limits", peer, ("differ", "crash"), rule="P4", versions=OPENVINO, rules=("P4",), expected="error",
            modes=("reflect", "symmetric"),
            reason="limits are checked at compile time only, where the shape and the amounts are constants",
        ),
        Divergence(
            f"{peer}-fill-shape", peer, "error", rule="P7",
            versions=OPENVINO, modes=("constant",), tags={"fill-not-scalar"},
            expected="output", says="Argument for padding value is not a scalar",
            reason="a fill of shape [1] is refused",
        ),
        Divergence(
            f"{peer}-mode-case", peer, "differ", rule="P9",
            versions=OPENVINO, modes=("constant",), tags={"mode-unknown"},
            expected="error", reason="modes are taken in any case of letters",
        ),
    )  # fmt: skip


_FRONTEND = "openvino-onnx"
_ONNX = (
    Divergence(
        "openvino-onnx-reflect-limit", _FRONTEND, ("error", "differ"), rule="P4", versions=OPENVINO, modes=("reflect",),
        tags={"reflect-beyond-size"}, expected="output",
        reason="an amount of a reflection may be n - 1 at most; a larger one at run time gives a wrong shape",
    ),
    Divergence(
        "openvino-onnx-full", _FRONTEND, ("differ", "error"), rule="P3",
        versions=OPENVINO, modes=("edge", "reflect"), tags={"mixed"},
        expected="output", without={"full-is-crop"}, link="https://github.com/onnx/onnx/issues/4294",
        reason="negative amounts crop after the extension, as in OpenVINO's own operator, not before it",
    ),
    Divergence(
        "openvino-onnx-cropped-away", _FRONTEND, ("differ", "crash"), rule="P5",
        versions=OPENVINO, modes=("edge", "reflect"),
        tags={"cropped-away"}, expected="error",
        reason="where a crop leaves nothing, the data before the crop are extended",
    ),
    Divergence(
        "openvino-onnx-unused-fill", _FRONTEND, "error", rule="P7",
        versions=OPENVINO, tags={"fill-not-one"}, expected="output",
        says="Scalar value can't be derived", modes=("edge", "reflect", "wrap"),
        reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "openvino-onnx-float4-layout", _FRONTEND, "error", rule="P7",
        versions=OPENVINO, dtypes=("float4e2m1",), expected="output",
        tags={"empty-data"}, says="could not create reorder primitive",
        reason="for data of rank 4 that are empty the CPU device wants another layout, and cannot reorder float4e2m1",
    ),
    Divergence(
        "openvino-onnx-fill", _FRONTEND, "differ", rule="P7",
        versions=OPENVINO, modes=("constant",), tags={"fill-not-one"},
        expected="error", reason="of several fills the first one is taken",
    ),
    Divergence(
        "openvino-onnx-row-of-pads", _FRONTEND, "error", rule="P8",
        versions=OPENVINO, tags={"pads-row"}, expected="output",
        says="split number is invalid",
        reason="pads of shape [1, 2r] are split along their first dim at run time",
    ),
    Divergence(
        "openvino-onnx-amounts", _FRONTEND, ("differ", "crash"), rule="P8",
        versions=OPENVINO, tags={"amounts-wrong"}, expected="error",
        rules=("P8",),
        reason="neither the length of pads nor repeated axes nor, at run time, axes out of range are refused",
    ),
    Divergence(
        "openvino-onnx-value", _FRONTEND, "error", rule="P7",
        versions=OPENVINO, tags={"fill"}, expected="output", opsets=(1, 10),
        says="assigned value out of range",
        reason="a value that is NaN or infinite is refused",
    ),
    Divergence(
        "openvino-onnx-fill-lost", _FRONTEND, "differ", rule="P7",
        versions=OPENVINO, modes=("constant",), tags={"fill", "grows"},
        expected="output",
        reason="a negative zero loses its sign, and the fill is 0 where only some of amounts and fill are constants",
    ),
    Divergence(
        "openvino-onnx-no-axes", _FRONTEND, ("error", "differ"), rule="P8",
        versions=OPENVINO, tags={"axes-empty"}, expected="output",
        reason="an empty list of axes is refused",
    ),
)  # fmt: skip

_EMPTY_FILL = Divergence(
    "openvino-12-empty-fill", "openvino-12", "crash", rule="P7", versions=OPENVINO, tags={"fill-empty"},
    reason="a fill without elements crashes the process, even if it is not used; a constant one of float type does not",
)  # fmt: skip

KNOWN = (
    *_cpu_device("openvino-1"),
    *_own("openvino-1"),
    *_cpu_device("openvino-12"),
    *_own("openvino-12"),
    _EMPTY_FILL,
    *_cpu_device(_FRONTEND),
    *_ONNX,
)
