"""padops' own models without its library, which can fail but not say why, and so let some errors pass."""

from __future__ import annotations

from padops.conformance.divergences import Divergence

_PEER = "padops-fallback"
_LAST = "of an axis that is named twice, the last amounts are taken"

KNOWN = (
    Divergence(
        "fallback-repeated-axes", _PEER, "differ", rule="P8", tags={"axes-repeated"}, expected="error", rules=("P8",),
        reason=_LAST,
    ),
    Divergence(
        "lowered-repeated-axes", "padops-lowered", "differ", rule="P8", tags={"axes-repeated"}, without={"held"},
        expected="error", rules=("P8",), reason=_LAST + ", where the axes are not known before the model runs",
    ),
    Divergence(
        "fallback-fill-of-rank-0", _PEER, "differ", rule="P7", modes=("constant",), tags={"rank-0", "fill-not-one"},
        expected="error", rules=("P7",),
        reason="of data of rank 0, which pass through, the fill is not looked at",
    ),
)  # fmt: skip
