"""What a proof found, as data: of the two models, and of each region in which they are not the same graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

DRAWN = "drawn"  # the rule of what was run with drawn inputs
ALL_SIZES = "all sizes (z3)"  # the rule of what a solver has shown for all dims
NEVER_RUNS = "the original never runs"  # how such a reason begins: then the converted model may do what it likes


class Verdict(Enum):
    """What is known of two models, or of one region of them.

    Attributes:
        PROVED: Where the original runs, the converted one gives the same bits.
        TESTED: Drawn inputs gave the same bits.
        DIFFERENT: Some input gives something else.
        UNKNOWN: Nobody could tell.
    """

    PROVED = "proved"
    TESTED = "tested"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Limits:
    """How much a proof may cost.

    Attributes:
        goal_seconds: Of one goal that a solver is given.
        region_seconds: Of all that a solver is asked of one region.
        seconds: Of the whole proof; what is left of it then is unknown.
        elements: Of one tensor whose positions are followed one by one.
        rank: The largest rank that is tried where no rank is declared.
    """

    goal_seconds: float = 5.0
    region_seconds: float = 30.0
    seconds: float = 120.0
    elements: int = 1 << 24
    rank: int = 8


@dataclass(frozen=True)
class Outcome:
    """What a rule says of one pair of terms.

    Attributes:
        verdict: PROVED, DIFFERENT or UNKNOWN. DIFFERENT is a suspicion, until a run of both models confirms it.
        rule: How: ``"positions"``, ``"all sizes (z3)"``, ``"rank by rank"``, ``"window"``, ``"function body"``.
        holds_for: Of what is proved: ``"all data, these dims"``, ``"all data, all dims"``, ...
        conditions: What the proof rests on, one sentence each.
        why: Why it is not proved; ``""`` where it is.
        counterexample: Dims and values of inputs, by name, to be replayed; or None.
        lost_errors: Whether the original fails for something, and the converted one does not; 0 where nobody looked.
        new_errors: Whether the converted one fails for something that the original runs.
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
    """A part of the original and the part of the converted model that stands in its place.

    Attributes:
        name: Of the original's value that the part computes.
        original: The operators of the original's part, sorted.
        converted: Those of the converted model's.
        verdict: What is known of it.
        rule: How it is known: see :class:`Outcome`; ``"drawn"`` for a run with drawn inputs.
        holds_for: What the verdict holds for.
        conditions: What it rests on, one sentence each.
        why: Why it is not proved; ``""`` where it is.
        counterexample: Dims and values of inputs, by name, or None.
        seconds: That it took.
        terms: The two terms of the store, the original's first.
        lost_errors: See :class:`Outcome`.
        new_errors: See :class:`Outcome`.
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
    """What is known of two models.

    Attributes:
        verdict: PROVED where all outputs are; else DIFFERENT or UNKNOWN.
        regions: Where the two are not the same graph, the deepest first. One that cannot be decided makes those above
            it undecided as well; only the deepest are here.
        assumptions: What all of it rests on, one sentence each, such as a declared shape that was used.
        same: Terms of the original that the converted model has as they are.
        lost_errors: Regions that fail for something in the original, and do not in the converted model.
        new_errors: Regions that fail for something only in the converted model.
        seconds: That it took.
        why: Why the verdict is none of PROVED, where no region says so: inputs that differ, ...; else ``""``.
    """

    verdict: Verdict
    regions: tuple[Region, ...] = ()
    assumptions: tuple[str, ...] = ()
    same: int = 0
    lost_errors: int = 0
    new_errors: int = 0
    seconds: float = 0.0
    why: str = field(default="")
