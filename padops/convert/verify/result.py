"""The result of a proof, for two models and for each region where their graphs differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Fails(Exception):
    """A term fails for all data of these dims; the message has the reason."""


class Unsupported(Exception):
    """The proofs cannot determine a term's value; the message has the reason."""


class Verdict(Enum):
    """The verdict on two models or one region."""

    PROVED = "proved"  # wherever the original runs, the converted model returns the same bits
    DIFFERENT = "different"  # for some input the results differ
    UNKNOWN = "unknown"  # neither proved nor different


@dataclass(frozen=True)
class Outcome:
    """A rule's verdict on one pair of terms."""

    verdict: Verdict  # DIFFERENT is only suspected until a run of both models confirms it
    rule: str = ""  # ``"moves"``, ``"fold"``, ``"amounts"`` or ``"fallback"``
    holds_for: str = ""  # the scope of the proof, such as ``"all data, these dims"``
    conditions: tuple[str, ...] = ()  # the conditions of the proof, one sentence each
    why: str = ""  # why the pair is not proved
    counterexample: dict[str, list[int]] | None = None  # dims of values, by name, for which the parts differ
    new_errors: int = 0  # 1 if the converted model fails for an input that the original runs


@dataclass(frozen=True, eq=False)
class Region(Outcome):
    """A part of the original, the part that replaces it, and whether their results are proved equal."""

    name: str = ""  # the name of the value that the original's part computes
    original: tuple[str, ...] = ()  # the operators of the original's part, sorted
    converted: tuple[str, ...] = ()  # the operators of the converted model's part, sorted
    terms: tuple[int, int] = (-1, -1)  # the two terms of the store, the original's first

    __eq__, __hash__ = object.__eq__, object.__hash__  # a region equals only itself


@dataclass(frozen=True)
class Proof:
    """The proof of two models."""

    verdict: Verdict  # PROVED if all outputs are proved
    # Where the graphs differ, deepest first. Regions above an undecided region are undecided, too, and not listed
    regions: tuple[Region, ...] = ()
    assumptions: tuple[str, ...] = ()  # of the whole proof, one sentence each
    same: int = 0  # the number of the original's operators that the converted model has unchanged
    new_errors: int = 0  # the number of regions with new errors
    why: str = ""  # why the models are not proved, if no region is the reason: different inputs, ...
