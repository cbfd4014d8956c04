"""Random models on padops' six roads give right bits, and wrong roads are found; tests/long/long_counts.py has more."""

from __future__ import annotations

from collections import Counter

import road_findings
import road_models
import roads
from slow import MORE
from whole_models import pads_in

SEED, COUNT = 0, 1000 if MORE else 16


def test_models_on_six_roads() -> None:
    found = road_findings.found(road_findings.rows(SEED, 0, COUNT))
    assert found.models == COUNT
    assert found.harm == []
    for road in roads.ROADS:
        assert found.answers[road, "same"] >= COUNT // 2, road


def test_the_models_have_everything() -> None:
    """And the same number gives the same model."""
    one, again = road_models.draw(SEED, 7), road_models.draw(SEED, 7)
    assert one.proto.SerializeToString(deterministic=True) == again.proto.SerializeToString(deterministic=True)
    seen: Counter[str] = Counter()
    for number in range(300):
        drawn = road_models.draw(SEED, number)
        seen.update(drawn.features)
        seen["rule"] += isinstance(drawn.expected, str)
        seen["Pads"] += pads_in(drawn.proto)
    wanted = """If Loop function Conv MaxPool Relu Transpose float float16 bfloat16 string bool int16 uint8
    int4 rule broken""".split()
    wanted += [f"opset {opset}" for opset in range(1, 26)]
    wanted += [f"computed: {way}" for way in ("identity", "concat", "cast", "sub", "slice", "shape", "turned")]
    wanted += ["between Transposes", "mode of the caller", "pads of two dims", "input with a default"]
    assert set(wanted) <= seen.keys()
    assert 3 < seen["rule"] < 60 and seen["Pads"] > 450
