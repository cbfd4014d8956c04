"""What has to hold for a model to run, and for this package to follow it."""

from __future__ import annotations

from dataclasses import dataclass, field

from padops.convert.proof.symbolic.integers import Truth

OVERFLOW = "integers beyond their type"


@dataclass(frozen=True)
class Requirement:
    """What has to hold for a term to be computed.

    Attributes:
        condition: What has to hold.
        given: Where: for an index within a shape, in a branch that is taken.
        what: What fails elsewhere, in words.
        ours: Whether it is this package that cannot go on elsewhere, rather than the model.
    """

    condition: Truth
    given: tuple[Truth, ...]
    what: str
    ours: bool = False


@dataclass
class Demands:
    """What one of the two models asks for.

    Attributes:
        required: For it to run.
        assumable: Those of ``required`` that speak of no index: they can be built upon once it runs.
        musts: What this package can follow it by: proved for both models, else nothing is said.
    """

    required: list[Requirement] = field(default_factory=list)
    assumable: list[Requirement] = field(default_factory=list)
    musts: list[Requirement] = field(default_factory=list)
