"""Folds and rewrites on every supported release: each converted model against NumPy, whatever release converted it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import folded_windows
import native
import numpy as np
import oldest_runtime
import pytest
from folded_windows import Case
from long_history import OF_ONNXRUNTIME
from small_models import model, pad, tensor

import padops
from padops.convert.runtimes import newest_opset
from padops.spec.dtypes import by_name

RUNS = Path(__file__).resolve().parents[1] / "processes" / "release_runs.py"
COUNT = int(os.environ.get("PADOPS_FOLDS", "200"))
# Each with whether it needs the library.
ROADS: dict[str, tuple[dict[str, Any], bool]] = {
    "converted": ({}, True),
    "fallback": ({}, False),
    "needed": ({"select": "needed"}, True),
    "lowered": ({"target": "onnx"}, False),
    "without Pad": ({"target": "onnx", "without_pad": True}, False),
}
DID = {"runs": ("right",), "wrong": ("wrong",), "refuses": ("refused",)}


def identities() -> Iterator[Case]:
    """A Pad that changes nothing, and whose output is one of the graph: an Identity may stay."""
    for row in padops.describe()["types"]:
        dtype = by_name(row["name"])
        if dtype.name == "string" or dtype.since > 20:
            continue
        for opset in (2, 11, 13, 14, 16, 18, 19, 21):
            data = np.arange(4).astype(dtype.numpy)
            made = [pad(["x"], name="pad", pads=[0, 0])] if opset < 11 else [pad(name="pad")]
            source = model(made, opset, inputs=[("x", dtype.onnx, [4])], outputs=[("y", dtype.onnx, [4])],
                           tensors=[tensor("pads", [0, 0])] * (opset >= 11))  # fmt: skip
            yield Case(f"Pad of nothing, {dtype.name}, opset {opset}", source, {"x": data}, data, opset, same=False)


@cache
def converted() -> list[tuple[Case, dict[str, bytes]]]:
    """Each case with the models of its roads; those in which a Pad stays are left out."""
    found = []
    for case in (*map(folded_windows.draw, range(COUNT)), *identities()):
        made = {}
        for road, (options, _) in ROADS.items():
            conversion = padops.convert(case.source, auto_pad="explicit", **options)
            if not conversion.unconverted:
                made[road] = conversion.proto().SerializeToString()
        found.append((case, made))
    return found


def did(case: Case, outputs: list[np.ndarray] | str) -> str:
    if isinstance(outputs, str):
        return "refused"
    return "right" if native.bits(outputs[0]) == native.bits(case.expected) else "wrong"


@pytest.mark.parametrize("release", OF_ONNXRUNTIME, ids=lambda release: release.version)
def test_folds_and_rewrites(release, tally) -> None:
    """No road gives other bits; none is refused where the model as it is, or lowered, runs."""
    minor, folder = int(release.version.split(".")[1]), oldest_runtime.install(release.version)
    rows = [(case, made) for case, made in converted() if case.opset <= newest_opset(minor)]
    asked = [(case.source.SerializeToString(), case.feeds, True) for case, _ in rows]
    asked += [
        (made[road], case.feeds, library) for case, made in rows for road, (_, library) in ROADS.items() if road in made
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PADOPS_LIBRARY": padops.get_library_path()}
    ran = subprocess.run([sys.executable, RUNS], input=pickle.dumps(asked), env=environment, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    version, told = pickle.loads(ran.stdout)
    assert version == release.version
    originals, told = told[: len(rows)], iter(told[len(rows) :])
    answers: Counter[tuple[str, str]] = Counter()
    harm = []
    for (case, made), original in zip(rows, originals, strict=True):
        stock = {did(case, one) for one in original}
        if case.same:
            (found,) = padops.inspect(case.source, onnxruntime=release.version).pads
            if found.verdict in DID and stock != {*DID[found.verdict]}:
                harm.append(f"{case.what}: inspect says {found.verdict} ({found.why}), and it is {stock}")
        for road in made:
            for outputs in next(told):
                answer = did(case, outputs)
                answers[road, answer] += 1
                if answer == "wrong" or (answer == "refused" and "right" in stock):
                    harm.append(f"{case.what}, {road}: {answer}: {outputs if isinstance(outputs, str) else ''}"[:500])
    print(*sorted(answers.items()), *harm, sep="\n")
    tally(
        f"folded, lowered and rewritten windows, Casts and Identities on onnxruntime {release.version}",
        sum(answers.values()),
        len(harm),
    )
