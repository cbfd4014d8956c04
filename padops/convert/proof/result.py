"""The result of a proof: for two models, and for each region in which their graphs differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

DRAWN = "drawn"  # the rule of regions that were run with random inputs
ALL_SIZES = "all sizes (z3)"  # the rule of regions that the solver proved for all dims
NEVER_RUNS = "the original never runs"  # prefix of this reason: then the converted model may do anything


class Verdict(Enum):
    """The verdict on two models or one region.

    Attributes:
        PROVED: Wherever the original runs, the converted model gives the same bits.
        TESTED: Random inputs gave the same bits.
        DIFFERENT: An input gives different results.
        UNKNOWN: None of these.
    """

    PROVED = "proved"
    TESTED = "tested"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Limits:
    """The limits of a proof.

    Attributes:
        goal_seconds: For one goal of the solver.
        region_seconds: For all goals of one region.
        seconds: For the whole proof; the regions left then are UNKNOWN.
        elements: The largest tensor whose positions are followed one by one.
        rank: The largest rank that is tried if no rank is declared.
    """

    goal_seconds: float = 5.0
    region_seconds: float = 30.0
    seconds: float = 120.0
    elements: int = 1 << 24
    rank: int = 8


@dataclass(frozen=True)
class Outcome:
    """A rule's verdict on one pair of terms.

    Attributes:
        verdict: PROVED, DIFFERENT or UNKNOWN. DIFFERENT is a suspicion, until a run of both models confirms it.
        rule: The rule: ``"positions"``, ``"all sizes (z3)"``, ``"rank by rank"``, ``"window"``, ``"function body"``.
        holds_for: The scope of the proof: ``"all data, these dims"``, ``"all data, all dims"``, ...
        conditions: The conditions of the proof, one sentence each.
        why: Why it is not proved; ``""`` if it is.
        counterexample: Dims and values of inputs, by name, to replay; or None.
        lost_errors: 1 if the original fails for an input that the converted model runs; 0 if not, or not checked.
        new_errors: 1 if the converted model fails for an input that the original runs.
    """

    verdict: Verdict
    rule: str
    holds_for: str = ""
    conditions: tuple[str, ...] = ()
    why: str = ""
    counterexample: dict[str, Any] | None = None
    lost_errors: int = 0
    new_errors: int = 0


@dataclass(frozen=True, eq=False)
class Region:
    """A part of the original and the part of the converted model that replaces it.

    Fields that are not listed are those of :class:`Outcome`.

    Attributes:
        name: The original's value that the part computes.
        original: The operators of the original's part, sorted.
        converted: The operators of the converted model's part, sorted.
        rule: As for :class:`Outcome`, or ``"drawn"`` for a run with random inputs.
        seconds: The time taken.
        terms: The two terms of the store, the original's first.
    """

    name: str
    original: tuple[str, ...]
    converted: tuple[str, ...]
    verdict: Verdict
    rule: str = ""
    holds_for: str = ""
    conditions: tuple[str, ...] = ()
    why: str = ""
    counterexample: dict[str, Any] | None = None
    seconds: float = 0.0
    terms: tuple[int, int] = (-1, -1)
    lost_errors: int = 0
    new_errors: int = 0


@dataclass(frozen=True)
class Proof:
    """The proof of two models.

    Attributes:
        verdict: PROVED if all outputs are; TESTED if runs had to help; else DIFFERENT or UNKNOWN.
        regions: The regions in which the graphs differ, the deepest first. An undecided region leaves those above it
            undecided; only the deepest are listed.
        assumptions: The assumptions of the whole proof, one sentence each, such as a declared shape.
        same: The number of the original's operators that the converted model has unchanged.
        lost_errors: The number of regions with lost errors.
        new_errors: The number of regions with new errors.
        seconds: The time taken.
        why: Why the models are not proved, if no region tells: inputs that differ, ...; else ``""``.
    """

    verdict: Verdict
    regions: tuple[Region, ...] = ()
    assumptions: tuple[str, ...] = ()
    same: int = 0
    lost_errors: int = 0
    new_errors: int = 0
    seconds: float = 0.0
    why: str = field(default="")
