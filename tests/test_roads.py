"""Random models on padops' six roads give right bits, and wrong roads are found; tests/long/long_roads.py has more."""

from __future__ import annotations

from collections import Counter

import road_findings
import road_models
import roads

SEED, COUNT = 0, 16


def test_models_on_six_roads() -> None:
    found = road_findings.found(road_findings.rows(SEED, 0, COUNT))
    assert found.models == COUNT
    assert found.harm == []
    for road in roads.ROADS:
        assert found.answers[road, "same"] >= COUNT // 2, road


def test_the_same_number_gives_the_same_model() -> None:
    one, again = road_models.draw(SEED, 7), road_models.draw(SEED, 7)
    assert one.proto.SerializeToString(deterministic=True) == again.proto.SerializeToString(deterministic=True)
    assert one.proto != road_models.draw(SEED + 1, 7).proto


def test_the_models_have_everything() -> None:
    seen: Counter[str] = Counter()
    for number in range(300):
        drawn = road_models.draw(SEED, number)
        seen.update(drawn.features)
        seen["rule"] += isinstance(drawn.expected, str)
        seen["Pads"] += sum(node.op_type == "Pad" for node in _nodes(drawn))
    assert {f"opset {opset}" for opset in range(1, 26)} <= seen.keys()
    wanted = """If Loop function Conv MaxPool Relu Transpose float float16 bfloat16 string bool int16 uint8
    int4 rule broken""".split()
    wanted += [f"computed: {way}" for way in ("identity", "concat", "cast", "sub", "slice", "shape", "turned")]
    wanted += ["between Transposes", "mode of the caller", "pads of two dims", "input with a default"]
    assert set(wanted) <= seen.keys()
    assert 3 < seen["rule"] < 60 and seen["Pads"] > 450


def _nodes(drawn: road_models.RoadModel) -> list:
    """Every node, at any depth."""
    pending = [*drawn.proto.graph.node, *(node for row in drawn.proto.functions for node in row.node)]
    found = []
    while pending:
        node = pending.pop()
        found.append(node)
        pending += [inner for row in node.attribute if row.HasField("g") for inner in row.g.node]
    return found


def test_a_right_model_may_be_refused_only_within_a_limit() -> None:
    """A limit is one of a road, and known by its text."""
    right = {"broken": False, "rule": "", "answers": []}
    axes = {"said": "refused", "text": "ParseData type mismatch for tensor: axes"}
    assert road_findings.judged("provider", axes, right) == (
        "refused: onnxruntime refuses constant axes of int32",
        False,
    )
    for road in set(roads.ROADS) - {"provider"}:
        assert road_findings.judged(road, axes, right) == ("refused without a known limit", True)
    twice = {"said": "silent", "text": "padops::Pad_18 'n': axes=[0, 0] names axis 0 twice [P8]"}
    for road, harmed in (("fallback", False), ("lowered", False), ("converted", True), ("provider", True)):
        assert road_findings.judged(road, twice, right)[1] == harmed, road


def test_what_onnxruntime_refuses_of_the_original_too_is_no_finding() -> None:
    folded = {"said": "refused", "text": "running If node. Name:'_if_then_branch_If' Status Message: no shape"}
    row = {"broken": False, "rule": "", "answers": [("original", "all", folded)]}
    assert road_findings.judged("converted", folded, row) == (
        "refused: the original is, too: an If in an If that onnxruntime folds, and then fails over",
        False,
    )
    for answers in ([], [("original", "all", {"said": "same", "text": ""})], [("provider", "all", folded)]):
        assert road_findings.judged("converted", folded, row | {"answers": answers})[1]
