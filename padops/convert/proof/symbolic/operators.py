"""All operators of which it is known what they compute, by name; those of other domains with the domain before it."""

from __future__ import annotations

from padops.convert.proof.symbolic import counting, indexing, moving, pads, shaping, vectors
from padops.convert.proof.symbolic.evaluation import Operator

OPERATORS: dict[str, Operator] = {
    **counting.OPERATORS,
    **indexing.OPERATORS,
    **moving.OPERATORS,
    **pads.OPERATORS,
    **shaping.OPERATORS,
    **vectors.OPERATORS,
}
