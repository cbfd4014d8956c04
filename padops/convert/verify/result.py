"""A rule's verdict on a region where two graphs differ, and the exceptions of terms without a known value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from padops.convert.records import Certainty


class Fails(Exception):
    """A term fails for all data of these dims; the message has the reason."""


class Unsupported(Exception):
    """The proofs cannot determine a term's value; the message has the reason."""


@dataclass(frozen=True)
class Outcome:
    """A rule's verdict on one pair of terms; the fields are those of :class:`RegionRecord`."""

    verdict: Certainty  # "different" is only suspected until a run of both models confirms it
    rule: str = ""
    holds_for: str = ""
    conditions: tuple[str, ...] = ()
    why: str = ""
    counterexample: Mapping[str, Any] | None = None
