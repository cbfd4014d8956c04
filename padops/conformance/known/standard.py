"""padops' own models without its library: errors that they let pass, and what older runtimes cannot do for them."""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import ONNXRUNTIME


def _both(name: str, peer: str) -> tuple[Divergence, ...]:
    """What neither of the two sees before it runs, or can do."""
    return (
        Divergence(
            f"{name}-4-bit", peer, "error", rule="P7", dtypes=("int4", "uint4"),
            versions=">=1.20.1,<1.23", expected="output",
            says="Could not find an implementation for Cast", reason="onnxruntime has no Cast of 4-bit integers yet",
        ),
        Divergence(
            f"{name}-fill-of-rank-0", peer, "differ", rule="P7",
            versions=ONNXRUNTIME, modes=("constant",), tags={"rank-0", "fill-not-one"},
            expected="error", rules=("P7",), reason="of data of rank 0, which pass through, the fill is not looked at",
        ),
        Divergence(
            f"{name}-huge", peer, ("differ", "error"), rule="P10",
            versions=ONNXRUNTIME, tags={"huge"}, expected="error", rules=("P10",),
            reason="amounts beyond any memory are not refused where the output has no elements; NumPy may have no array of it",
        ),
    )  # fmt: skip


_LAST = "of an axis that is named twice, the last amounts are taken"

KNOWN = (
    *_both("fallback", "padops-fallback"),
    *_both("lowered", "padops-lowered"),
    Divergence(
        "fallback-repeated-axes", "padops-fallback", "differ", rule="P8",
        versions=ONNXRUNTIME, tags={"axes-repeated"}, expected="error",
        rules=("P8",), reason=_LAST,
    ),
    Divergence(
        "lowered-cropped-away", "padops-lowered", ("differ", "error", "crash"), rule="P3", modes=("constant",),
        versions=">=1.20.1,<1.24", some={"cropped-away", "overcropped"}, without={"fixed"},
        reason="ONNX's Pad stays where shape or amounts are not known, and is wrong where a crop leaves nothing of an axis",
    ),
    Divergence(
        "lowered-huge-crash", "padops-lowered", "crash", rule="P10", modes=("constant",), versions=">=1.20.1,<1.24",
        tags={"huge"}, expected="error", rules=("P10",), reason="ONNX's Pad crashes on amounts beyond any memory",
    ),
    Divergence(
        "lowered-repeated-axes", "padops-lowered", "differ", rule="P8",
        versions=ONNXRUNTIME, tags={"axes-repeated"}, without={"constant-amounts"},
        expected="error", rules=("P8",), reason=_LAST + ", where the axes are not known before the model runs",
    ),
)  # fmt: skip
