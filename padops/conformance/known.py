"""Every known divergence of a real Pad from the rules of the README. Of several that match, the first one counts."""

from __future__ import annotations

from padops.conformance.divergences import Divergence

KNOWN: tuple[Divergence, ...] = ()
