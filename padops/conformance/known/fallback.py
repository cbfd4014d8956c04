"""padops' own fallback functions, which can fail but not say why, and so let some errors pass."""

from __future__ import annotations

from padops.conformance.divergences import Divergence

_PEER = "padops-fallback"

KNOWN = (
    Divergence(
        "fallback-repeated-axes", _PEER, "differ", rule="P8", tags={"axes-repeated"}, expected="error", rules=("P8",),
        reason="of an axis that is named twice, the last amounts are taken",
    ),
    Divergence(
        "fallback-fill-of-rank-0", _PEER, "differ", rule="P7", modes=("constant",), tags={"rank-0", "fill-not-one"},
        expected="error", rules=("P7",),
        reason="of data of rank 0, which pass through, the fill is not looked at",
    ),
)  # fmt: skip
