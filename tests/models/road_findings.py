"""What became of random models on the roads: right, refused within a known limit, or harmed.

Every limit that is known has a name here, and a text by which it is known; docs state them. What refuses a right model
otherwise, and all that dies, hangs, gives other bits, or gives anything where a rule is broken, is a finding.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVER = Path(__file__).resolve().parents[1] / "processes" / "road_server.py"
BATCH = 100  # models of a process
SCAN = r"Subgraph must have the shape set for all outputs"

# The roads, what the error says, and the limit.
LIMITS = tuple(
    (frozenset(roads.split()), re.compile(text, re.DOTALL), name)
    for roads, text, name in (
        ("provider", r"ParseData type mismatch", "onnxruntime refuses constant axes of int32"),
        ("provider", r"input must be a 1D", "onnxruntime refuses constant pads of two dims"),
        ("provider", r"Pads has incorrect number of values", "onnxruntime refuses axes without a declared shape"),
        ("provider", r"Type 'tensor\(\w+\)' of input parameter", "the opset is too old for the type"),
        ("provider converted needed fallback lowered without-Pad", SCAN, "a Scan whose body states no rank"),
        ("fallback", r"this file needs padops for ", "the record says that there is no fallback"),
        ("fallback", r"the fallback of ", "a note says where the fallback fails"),
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
CAUTIOUS = re.compile(r"constant axes of type int32|constant pads of two dims")


@dataclass
class Findings:
    """What was found; ``harm`` has a line for each thing that must not be."""

    models: int = 0
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    harm: list[str] = field(default_factory=list)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    contradictions: list[str] = field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        """A row of ``road_server.py``."""
        self.models += 1
        for road, level, answer in row["answers"]:
            if road not in ("inspect", "original"):
                what, harmed = judged(road, answer, row)
                self.answers[road, what] += 1
                self.harm += [f"{row['number']} {road} {level}: {what}: {answer['text'][:400]}"] * harmed
        if not row["broken"]:
            self._compare(row)

    def _compare(self, row: dict[str, Any]) -> None:
        """What inspect says of the model, with what onnxruntime does with it."""
        said = next(answer for road, _, answer in row["answers"] if road == "inspect")
        if isinstance(said, dict):
            self.contradictions.append(f"{row['number']}: inspect is {said['said']}: {said['text']}")
            return
        found = {pad["verdict"] for pad in said}
        does = [answer for road, _, answer in row["answers"] if road == "original"]
        order = ("breaks a rule", "refuses", "wrong", "may be wrong", "unknown", "runs if", "runs")
        worst = next((verdict for verdict in order if verdict in found), "no Pad")
        did = "/".join(sorted({answer["said"] for answer in does}))
        self.verdicts[worst, did] += 1
        if contradicts(worst, did, does, said, row):
            texts = [answer["text"][:300] for answer in does if answer["said"] != "same"]
            why = [(pad["path"], pad["verdict"], pad["why"]) for pad in said if pad["verdict"] == worst]
            self.contradictions.append(f"{row['number']}: {worst}, and it is {did}: {texts[:1] or why}")


def judged(road: str, answer: dict[str, str], row: dict[str, Any]) -> tuple[str, bool]:
    """What an answer is, in words, and whether it must not be."""
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


def contradicts(worst: str, did: str, does: list[dict[str, str]], said: list[dict[str, Any]], row: Any) -> bool:
    """Whether onnxruntime does with a right model what the worst verdict on its Pads does not allow for."""
    refused = [answer["text"] for answer in does if answer["said"] == "refused"]
    if "dead" in did or "other bits" in did:
        return worst in ("runs", "runs if", "no Pad")
    if worst in ("runs", "no Pad"):
        return any(not re.search(SCAN, text) for text in refused)
    if worst in ("refuses", "breaks a rule") and did == "same":
        whys = [pad for pad in said if pad["verdict"] == worst]
        cautious = all(CAUTIOUS.search(pad["why"]) and pad["input_shape"] is None for pad in whys)
        return "If" not in row["features"] and not cautious
    return False


def rows(seed: int, first: int, count: int) -> Iterator[dict[str, Any]]:
    """What the server says of so many models; a server for each hundred.

    Raises:
        RuntimeError: A server itself died.
    """
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), "OPENBLAS_NUM_THREADS": "1"}
    for start in range(first, first + count, BATCH):
        size = min(BATCH, first + count - start)
        command = [sys.executable, str(SERVER), str(seed), str(start), str(size)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600 * size)
        if done.returncode or len(done.stdout.splitlines()) != size:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-4000:]}")
        yield from map(json.loads, done.stdout.splitlines())


def found(answered: Iterable[dict[str, Any]]) -> Findings:
    findings = Findings()
    for row in answered:
        findings.add(row)
    return findings
