"""No conversion of a random model with one wrong change is proved; tests/long/long_proof.py tries a thousand."""

from __future__ import annotations

import mutant_findings
import mutants
import numpy as np
import onnx
import road_models
from road_scopes import Dice

import padops

SEED, COUNT, EACH, WRONG = 1, 16, 10, 50


def test_no_wrong_mutant_is_proved() -> None:
    found = mutant_findings.found(SEED, 0, COUNT, EACH)
    print(found)
    assert found.harm == []
    assert found.wrong >= WRONG
    assert any(verdict == "proved" for _, verdict in found.conversions), "right conversions are"


def test_mutants_have_one_change_each() -> None:
    """Many kinds of changes come out, each of them another model, and the same ones for the same dice."""
    kinds: set[str] = set()
    for number in range(12):
        drawn = road_models.draw(SEED, number)
        converted = padops.convert(drawn.proto).proto()
        before = converted.SerializeToString(deterministic=True)
        made, again = ([*mutants.mutants(converted, Dice(np.random.default_rng(number)), EACH)] for _ in range(2))
        assert [(what, one.SerializeToString()) for what, one in made] == [
            (what, one.SerializeToString()) for what, one in again
        ]
        assert converted.SerializeToString(deterministic=True) == before
        assert len({one.SerializeToString(deterministic=True) for _, one in made} - {before}) == len(made) >= 4
        kinds |= {what.partition(":")[0] for what, _ in made}
        assert all(isinstance(one, onnx.ModelProto) for _, one in made)
    assert len(kinds) > 30
