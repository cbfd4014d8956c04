"""The result of a proof: for two models, and for each region in which their graphs differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

DRAWN = "drawn"  # the rule of regions that were run with random inputs
ALL_SIZES = "all sizes (z3)"  # the rule of regions that the solver proved for all dims
NEVER_RUNS = "the original never runs"  # prefix of this reason: then the converted model may do anything


class Fails(Exception):
    """A term fails for all data (and, for the solver, for all dims of a case); the message says why."""


class Unsupported(Exception):
    """The proofs cannot tell the value of a term; the message says why."""


class Verdict(Enum):
    """The verdict on two models or one region."""

    PROVED = "proved"  # wherever the original runs, the converted model gives the same bits
    TESTED = "tested"  # random inputs gave the same bits
    DIFFERENT = "different"  # an input gives different results
    UNKNOWN = "unknown"  # none of these


@dataclass(frozen=True)
class Limits:
    """The limits of a proof."""

    goal_seconds: float = 5.0  # for one goal of the solver
    region_seconds: float = 30.0  # for all goals of one region
    seconds: float = 120.0  # for the whole proof; the regions left then are UNKNOWN
    elements: int = 1 << 24  # the largest tensor whose positions are followed one by one
    rank: int = 8  # the largest rank that is tried if no rank is declared


@dataclass(frozen=True)
class Outcome:
    """A rule's verdict on one pair of terms.

    Attributes:
        verdict: PROVED, DIFFERENT or UNKNOWN. DIFFERENT is a suspicion, until a run of both models confirms it.
        rule: The rule: ``"positions"``, ``"all sizes (z3)"``, ``"rank by rank"``, ``"window"``, ``"amounts"``,
            ``"function body"``, or ``"drawn"`` for a run with random inputs.
        holds_for: The scope of the proof: ``"all data, these dims"``, ``"all data, all dims"``, ...
        conditions: The conditions of the proof, one sentence each.
        why: Why it is not proved; ``""`` if it is.
        counterexample: Dims and values of inputs, by name, to replay; or None.
        new_errors: 1 if the converted model fails for an input that the original runs.
    """

    verdict: Verdict
    rule: str = ""
    holds_for: str = ""
    conditions: tuple[str, ...] = ()
    why: str = ""
    counterexample: dict[str, Any] | None = None
    new_errors: int = 0


@dataclass(frozen=True, eq=False)
class Region(Outcome):
    """A part of the original, the part that replaces it, and whether their results are proved equal."""

    name: str = ""  # the original's value that the part computes
    original: tuple[str, ...] = ()  # the operators of the original's part, sorted
    converted: tuple[str, ...] = ()  # the operators of the converted model's part, sorted
    terms: tuple[int, int] = (-1, -1)  # the two terms of the store, the original's first

    __eq__, __hash__ = object.__eq__, object.__hash__  # a region is only equal to itself


@dataclass(frozen=True)
class Proof:
    """The proof of two models.

    Attributes:
        verdict: PROVED if all outputs are; TESTED if runs had to help; else DIFFERENT or UNKNOWN.
        regions: The regions in which the graphs differ, the deepest first. An undecided region leaves those above it
            undecided; only the deepest are listed.
        assumptions: The assumptions of the whole proof, one sentence each, such as a declared shape.
        same: The number of the original's operators that the converted model has unchanged.
        new_errors: The number of regions with new errors.
        why: Why the models are not proved, if no region tells: inputs that differ, ...; else ``""``.
    """

    verdict: Verdict
    regions: tuple[Region, ...] = ()
    assumptions: tuple[str, ...] = ()
    same: int = 0
    new_errors: int = 0
    why: str = ""
