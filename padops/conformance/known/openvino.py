"""OpenVINO on its CPU device: its own Pad-1 and Pad-12, and ONNX's Pad by way of its frontend."""

from __future__ import annotations

from padops.conformance.divergences import Divergence

_EXTENDS = ("edge", "reflect", "symmetric", "wrap")
_SMALL = ("float16", "bfloat16", "float8e4m3fn", "float8e5m2", "float8e8m0", "float4e2m1")


def _cpu_device(peer: str) -> tuple[Divergence, ...]:
    """What the three peers have in common."""
    return (
        Divergence(
            f"{peer}-rank-0", peer, ("differ", "error", "crash"), rule="P5", tags={"rank-0"}, expected="output",
            reason="a tensor of rank 0 is refused where the amounts are constant, and comes out as garbage elsewhere",
        ),
        Divergence(
            f"{peer}-overcropped", peer, ("crash", "differ", "error"), rule="P3", tags={"overcropped"},
            reason="a crop longer than its axis reads and writes beyond the data: a crash, garbage or a wrong shape",
        ),
        Divergence(
            f"{peer}-narrow", peer, "differ", rule="P7", dtypes=("double", "int64", "uint64", "uint32"),
            expected="output",
            reason="the CPU device has no kernels for double, int64, uint64 and uint32, and computes them as float "
            "and int32",
        ),
        Divergence(
            f"{peer}-int32-fill", peer, "differ", rule="P7", modes=("constant",), dtypes=("int32",),
            tags={"fill", "grows"}, expected="output",
            reason="the fill goes through float, which has 24 bits of an int32",
        ),
        Divergence(
            f"{peer}-small-floats", peer, "differ", rule="P7", dtypes=_SMALL, expected="output",
            reason="elements are converted on the way, so that NaNs and negative zeros may lose their bits",
        ),
        Divergence(
            f"{peer}-limits", peer, ("differ", "crash"), rule="P4", rules=("P4",), expected="error",
            modes=("reflect", "symmetric"),
            reason="limits are checked at compile time only, where the shape and the amounts are constants",
        ),
        Divergence(
            f"{peer}-empty", peer, ("differ", "crash"), rule="P5", rules=("P5",), expected="error", modes=_EXTENDS,
            tags={"empty-axis-padded"},
            reason="extending an axis without elements gives elements from nowhere instead of an error",
        ),
        Divergence(
            f"{peer}-empty-data", peer, ("differ", "error"), rule="P5", modes=_EXTENDS,
            tags={"empty-data", "empty-output"}, expected="output",
            reason="extensions of data without elements are refused, or get a wrong shape, though the output has no "
            "elements either",
        ),
        Divergence(
            f"{peer}-huge", peer, ("differ", "crash"), rule="P10", tags={"huge"}, expected="error",
            reason="amounts beyond 32 bits wrap around",
        ),
        Divergence(
            f"{peer}-fill-shape", peer, "error", rule="P7", modes=("constant",), tags={"fill-not-scalar"},
            expected="output", says="Argument for padding value is not a scalar",
            reason="a fill of shape [1] is refused",
        ),
        Divergence(
            f"{peer}-strings", peer, "error", rule="P2", modes=_EXTENDS, dtypes=("string",),
            says="Only CONSTANT pad mode is supported for element::string",
            reason="strings are padded in constant mode only",
        ),
        Divergence(
            f"{peer}-negative-output", peer, ("differ", "error", "crash"), rule="P1", tags={"negative-output"},
            reason="a negative output dim is neither clamped, as the Pad-12 text says, nor refused",
        ),
    )  # fmt: skip


def _own(peer: str) -> tuple[Divergence, ...]:
    """What is about the operators of OpenVINO alone."""
    return (
        Divergence(
            f"{peer}-mode-case", peer, "differ", rule="P9", modes=("constant",), tags={"mode-unknown"},
            expected="error", reason="modes are taken in any case of letters",
        ),
    )  # fmt: skip


KNOWN = (
    *_cpu_device("openvino-1"),
    *_own("openvino-1"),
    *_cpu_device("openvino-12"),
    *_own("openvino-12"),
    *_cpu_device("openvino-onnx"),
)
