"""What became of random models on the roads: right, refused within a known limit, or harmed.

Every limit that is known has a name here, and a text by which it is known; docs state them. What refuses a right model
otherwise, and all that dies, hangs, gives other bits, or gives anything where a rule is broken, is a finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from children import rows_of

BATCH = 100  # models of a process

# The roads, what the error says, and the limit.
LIMITS = tuple(
    (frozenset(roads.split()), re.compile(text, re.DOTALL), name)
    for roads, text, name in (
        ("provider", r"ParseData type mismatch", "onnxruntime refuses constant axes of int32"),
        ("provider", r"input must be a 1D", "onnxruntime refuses constant pads of two dims"),
        ("provider", r"Pads has incorrect number of values", "onnxruntime refuses axes without a declared shape"),
        ("provider", r"Type 'tensor\(\w+\)' of input parameter", "the opset is too old for the type"),
        ("fallback", r"this file needs padops for ", "the record says that there is no fallback"),
        ("fallback", r"the fallback of ", "a note says where the fallback fails"),
        ("fallback", r"Pad_\d+_token_1_reshape", "several elements as the fill, for a mode of the caller"),
        ("needed", r"left: ONNX Runtime runs it: [^;]*, as long as ", "onnxruntime runs the Pad left for other data"),
        ("lowered without-Pad", r"Refused: unconverted: ", "the record says that it is unconverted"),
        ("lowered", r"left: ONNX Runtime's Pad is right for it, or fails", "the Pad that is left fails"),
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
UNSEEN = (
    (re.compile(r"names axis \d+ twice"), "an axis that is named twice"),
    (re.compile(r"(rank 0|-0\.\.-1|expected 0)"), "amounts and fill of data of rank 0"),
)
UNCHECKED = ("fallback", "needed", "lowered", "without Pad")


@dataclass
class Findings:
    """What was found; ``harm`` has a line for each thing that must not be."""

    models: int = 0
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    harm: list[str] = field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        self.models += 1
        for road, level, answer in row["answers"]:
            if road == "original":
                continue
            what, harmed = judged(road, answer, row)
            self.answers[road, what] += 1
            if harmed:
                self.harm.append(f"{row['number']} {road} {level}: {what}: {answer['text'][:400]}")


def judged(road: str, answer: dict[str, str], row: dict[str, Any]) -> tuple[str, bool]:
    said, text = answer["said"], answer["text"]
    if said in ("same", "dead", "other bits"):
        return said, said != "same"
    if said == "silent":
        name = next((name for unseen, name in UNSEEN if road in UNCHECKED and unseen.search(text)), "")
        return f"silent: {name or 'a broken rule'}", not name
    if row["broken"]:
        return "refused: a rule is broken", not text.strip()
    for roads, limit, name in LIMITS:
        if road.replace(" ", "-") in roads and limit.search(text):
            return f"refused: {name}", False
    original = [given["text"] for road, _, given in row["answers"] if road == "original" and given["said"] == "refused"]
    for limit, name in OWN:
        if limit.search(text) and any(map(limit.search, original)):
            return f"refused: the original is, too: {name}", False
    return "refused without a known limit", True


def rows(seed: int, first: int, count: int) -> Iterator[dict[str, Any]]:
    """What the server says of so many models; a server for each hundred."""
    for start in range(first, first + count, BATCH):
        size = min(BATCH, first + count - start)
        yield from rows_of("road_server.py", size, seed, start, size)


def found(answered: Iterable[dict[str, Any]]) -> Findings:
    findings = Findings()
    for row in answered:
        findings.add(row)
    return findings
