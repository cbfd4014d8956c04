"""Random models on padops' six roads give right bits, or are refused within a limit that is known.

Every limit that is known has a name here, and a text by which it is known; docs state them. What refuses a right model
otherwise, and all that dies, hangs, gives other bits, or gives anything where a rule is broken, is harm.
tests/long/long_counts.py has more models.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import road_models
import roads
from children import asked_of
from slow import MORE
from whole_models import pads_in

SEED, COUNT = 0, 1000 if MORE else 16
BATCH = 100  # models of a process

# The roads, what the error says, and the limit.
LIMITS = tuple(
    (frozenset(names.split()), re.compile(text, re.DOTALL), name)
    for names, text, name in (
        ("provider", r"ParseData type mismatch", "onnxruntime refuses constant axes of int32"),
        ("provider", r"input must be a 1D", "onnxruntime refuses constant pads of two dims"),
        ("provider", r"Pads has incorrect number of values", "onnxruntime refuses axes without a declared shape"),
        ("provider", r"Type 'tensor\(\w+\)' of input parameter", "the opset is too old for the type"),
        ("fallback", r"this file needs padops for ", "the record says that there is no fallback"),
        ("fallback", r"the fallback of ", "a note says where the fallback fails"),
        ("fallback", r"Pad_\d+_token_1_reshape", "several elements as the fill, for a mode of the caller"),
        ("needed", r"left: ONNX Runtime runs it: [^;]*, as long as ", "onnxruntime runs the Pad left for other data"),
        ("lowered without-Pad", r"Refused: unconverted: ", "the record says that it is unconverted"),
        ("lowered", r"left: ONNX Runtime's Pad is right, or it fails", "the Pad that is left fails"),
        ("lowered", r"running Pad node.*pad\.cc:\d+", "data of rank 0, which the model does not declare"),
        ("lowered", r"implementation for Pad\(\d+\) node with name '_inlfunc_", "a function that says no type"),
        ("lowered without-Pad", r"Cannot slice scalars", "data of rank 0, which the model does not declare"),
        ("converted needed", r"output has unsupported type tensor\(int64\)", "wrap below opset 9, in a function"),
    )
)
# What onnxruntime does with the model as it is, too, without padops.
OWN = (
    (re.compile(r"Name:'_if_(then|else)_branch_If'"), "an If in an If that onnxruntime folds, and then fails over"),
    (re.compile(r"op_type:Constant, .*unsupported type tensor\(int64\)"), "a function of the model's below opset 9"),
)
# What breaks a rule, and is not seen without the library.
UNSEEN = ((re.compile(r"names axis \d+ twice"), "an axis that is named twice"),
          (re.compile(r"(rank 0|-0\.\.-1|expected 0)"), "amounts and fill of data of rank 0"))  # fmt: skip
UNCHECKED = ("fallback", "needed", "lowered", "without Pad")


def judged(road: str, answer: dict[str, str], row: dict[str, Any]) -> tuple[str, bool]:
    said, text = answer["said"], answer["text"]
    if said in ("same", "dead", "other bits"):
        return said, said != "same"
    if said == "silent":
        name = next((name for unseen, name in UNSEEN if road in UNCHECKED and unseen.search(text)), "")
        return f"silent: {name or 'a broken rule'}", not name
    if row["broken"]:
        return "refused: a rule is broken", not text.strip()
    for names, limit, name in LIMITS:
        if road.replace(" ", "-") in names and limit.search(text):
            return f"refused: {name}", False
    original = [given["text"] for road, _, given in row["answers"] if road == "original" and given["said"] == "refused"]
    for limit, name in OWN:
        if limit.search(text) and any(map(limit.search, original)):
            return f"refused: the original is, too: {name}", False
    return "refused without a known limit", True


def test_models_on_six_roads() -> None:
    answers: Counter[tuple[str, str]] = Counter()
    harm: list[str] = []
    batches = [(start, min(BATCH, COUNT - start)) for start in range(0, COUNT, BATCH)]
    asked = lambda *batch: asked_of("road_server.py", {"OPENBLAS_NUM_THREADS": "1"}, b"", SEED, *batch)
    given = [row for batch in batches for row in asked(*batch)]
    for row in given:
        for road, level, answer in row["answers"]:
            if road == "original":
                continue
            what, harmed = judged(road, answer, row)
            answers[road, what] += 1
            if harmed:
                harm.append(f"{row['number']} {road} {level}: {what}: {answer['text'][:400]}")
    assert (len(given), harm) == (COUNT, [])
    for road in roads.ROADS:
        assert answers[road, "same"] >= COUNT // 2, road


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
