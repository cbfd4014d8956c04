"""padops' own models without its library, which can fail but not say why, and so let some errors pass."""

from __future__ import annotations

from padops.conformance.divergences import Divergence


def _silent(name: str, peer: str) -> tuple[Divergence, ...]:
    """What neither of the two sees before it runs."""
    return (
        Divergence(
            f"{name}-fill-of-rank-0", peer, "differ", rule="P7", modes=("constant",), tags={"rank-0", "fill-not-one"},
            expected="error", rules=("P7",), reason="of data of rank 0, which pass through, the fill is not looked at",
        ),
        Divergence(
            f"{name}-huge", peer, "differ", rule="P10", tags={"huge"}, expected="error", rules=("P10",),
            reason="amounts beyond any memory are not refused where the output has no elements",
        ),
    )  # fmt: skip


_LAST = "of an axis that is named twice, the last amounts are taken"

KNOWN = (
    *_silent("fallback", "padops-fallback"),
    *_silent("lowered", "padops-lowered"),
    Divergence(
        "fallback-repeated-axes", "padops-fallback", "differ", rule="P8", tags={"axes-repeated"}, expected="error",
        rules=("P8",), reason=_LAST,
    ),
    Divergence(
        "lowered-repeated-axes", "padops-lowered", "differ", rule="P8", tags={"axes-repeated"}, without={"held"},
        expected="error", rules=("P8",), reason=_LAST + ", where the axes are not known before the model runs",
    ),
)  # fmt: skip
