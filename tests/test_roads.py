"""Random models on padops' six roads give right bits, and wrong roads are found; tests/long/long_counts.py has more."""

from __future__ import annotations

from collections import Counter

import pytest
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


AXES = {"said": "refused", "text": "ParseData type mismatch for tensor: axes"}
TWICE = {"said": "silent", "text": "padops::Pad_18 'n': axes=[0, 0] names axis 0 twice [P8]"}
FOLDED = {"said": "refused", "text": "running If node. Name:'_if_then_branch_If' Status Message: no shape"}
SAME = {"said": "same", "text": ""}


@pytest.mark.parametrize(
    ("road", "answer", "answers", "harmed"),
    [
        ("provider", AXES, [], False),
        *((road, AXES, [], True) for road in roads.ROADS if road != "provider"),
        ("fallback", TWICE, [], False),
        ("lowered", TWICE, [], False),
        ("converted", TWICE, [], True),
        ("provider", TWICE, [], True),
        ("converted", FOLDED, [("original", "all", FOLDED)], False),
        ("converted", FOLDED, [("original", "all", SAME)], True),
        ("converted", FOLDED, [("provider", "all", FOLDED)], True),
        ("converted", FOLDED, [], True),
    ],
)
def test_what_is_a_finding(road: str, answer: dict, answers: list, harmed: bool) -> None:
    """A limit is one of a road, and known by its text; what onnxruntime refuses of the original too is none."""
    assert road_findings.judged(road, answer, {"broken": False, "rule": "", "answers": answers})[1] == harmed
