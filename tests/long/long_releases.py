"""On each supported release of onnxruntime: what padops converts is right, and inspect says what the release does.

``PADOPS_FOLDS`` sets how many windows are drawn.
"""

from __future__ import annotations

import itertools
import os
import pickle
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import folded_windows
import numpy as np
import oldest_runtime
import pytest
from children import asked_of
from conftest import Tally
from folded_windows import Case
from history_measure import releases
from onnx import parser
from release_runs import plain
from small_models import model, pad, tensor

import padops
from padops.conformance import cases
from padops.conformance.features import Prepared
from padops.conformance.model import feeds, make_model
from padops.conformance.peers import PEERS
from padops.convert.runtimes import newest_opset
from padops.runtime.installed import OLDEST_MINOR
from padops.spec.dtypes import by_name

COUNT = int(os.environ.get("PADOPS_FOLDS", "200"))
# Each with whether it needs the library.
ROADS: dict[str, tuple[dict[str, Any], bool]] = {
    "converted": ({}, True),
    "fallback": ({}, False),
    "needed": ({"select": "needed"}, True),
    "lowered": ({"target": "onnx"}, False),
    "without Pad": ({"target": "onnx", "without_pad": True}, False),
}
# What may come of a Pad of which inspect says so; of "may be wrong" and "runs if" anything may.
ALLOWED = {"runs": {"right"}, "refuses": {"refused"}, "wrong": {"wrong", "dead"}}
RELEASES = [row.version for row in releases() if row.package == "onnxruntime"]
RELEASES = [version for version in RELEASES if int(version.split(".")[1]) >= OLDEST_MINOR]
on_each_release = pytest.mark.parametrize("release", RELEASES)


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
        roads = {road: padops.convert(case.source, auto_pad="explicit", **how) for road, (how, _) in ROADS.items()}
        found.append(
            (case, {road: one.proto().SerializeToString() for road, one in roads.items() if not one.unconverted})
        )
    return found


@cache
def pads() -> list[Case]:
    """The valid cases of a quick run, and Pads of up to 4 elements by -6 to 6 in each mode."""
    found, peer = [], PEERS["ort-builtin"]
    for item in map(Prepared.of, cases.collect("quick")):
        # Of float16, inspect says that onnxruntime casts it to float and back.
        if item.packed is None or (item.case.dtype.name == "float16" and item.tags & {"nan", "fill-nan"}):
            continue
        if peer.takes(item):
            case = peer.prepared(item.case)
            found.append(Case(case.id, make_model(case, standard=True), feeds(case), item.expected.output, case.opset))
    amounts = itertools.product(range(-6, 7), repeat=2)
    for mode, n, pair in itertools.product(("constant", "edge", "reflect", "wrap"), range(5), [*amounts]):
        data, opset = np.arange(1, n + 1, dtype=np.float32), 19 if mode == "wrap" else 18
        try:
            expected = padops.run_reference("Pad_19", {"mode": mode}, [data, np.array(pair)])
        except padops.PadError:
            continue
        text = (
            f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[{n}] x) => (float[m] y) '
            f'<int64[2] p = {{{pair[0]}, {pair[1]}}}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
        )
        found.append(Case(f"{mode}, {pair} of {n}", parser.parse_model(text), {"x": data}, expected, opset))
    return found


def ran(release: str, asked: list[tuple[Case, bytes, bool]]) -> list[list[tuple[str, str]]]:
    """What became of each model at each level of optimisation, and what onnxruntime said."""
    environment = {"PYTHONPATH": str(oldest_runtime.install(release)), "PADOPS_LIBRARY": padops.get_library_path()}
    rows = pickle.dumps([(content, case.feeds, library) for case, content, library in asked])
    ((version, told),) = asked_of("release_runs.py", environment, rows)
    assert version == release
    found = []
    for (case, *_), *answers in zip(asked, told[::2], told[1::2], strict=True):
        right = plain(case.expected)
        words = ["dead" if one is None else "refused" if isinstance(one, str) else "wrong" for one in answers]
        found.append([("right" if one == right else word, str(one)) for one, word in zip(answers, words)])
    return found


def contradiction(case: Case, release: str, did: set[str]) -> list[str]:
    """A line where inspect says something else of a model with one Pad or window than a release does."""
    judged = padops.inspect(case.source, onnxruntime=release).pads
    if len(judged) != 1 or did <= ALLOWED.get(judged[0].verdict, did):
        return []
    return [f"{case.what}: inspect says {judged[0].verdict} ({judged[0].why}), and it is {did}"]


@on_each_release
def test_folds_and_rewrites(release: str, tally: Tally) -> None:
    """No road gives other bits; none is refused where the model as it is, or lowered, runs."""
    newest = newest_opset(int(release.split(".")[1]))
    rows = [(case, made) for case, made in converted() if case.opset <= newest]
    asked = [(case, case.source.SerializeToString(), True) for case, _ in rows]
    asked += [(case, content, ROADS[road][1]) for case, made in rows for road, content in made.items()]
    told = iter(ran(release, asked))
    originals = [{word for word, _ in next(told)} for _ in rows]
    answers: Counter[tuple[str, str]] = Counter()
    harm = []
    for (case, made), stock in zip(rows, originals, strict=True):
        harm += contradiction(case, release, stock) if case.same else []
        for road in made:
            for word, said in next(told):
                answers[road, word] += 1
                if word in ("wrong", "dead") or (word == "refused" and "right" in stock):
                    harm.append(f"{case.what}, {road}: {word}: {said}"[:500])
    print(*sorted(answers.items()), *harm, sep="\n")
    what = "folded, lowered and rewritten windows, Casts and Identities"
    tally(f"{what} on onnxruntime {release}", sum(answers.values()), len(harm))


@on_each_release
def test_what_inspect_says(release: str, tally: Tally) -> None:
    told = ran(release, [(case, case.source.SerializeToString(), False) for case in pads()])
    found = [
        line
        for case, answers in zip(pads(), told, strict=True)
        for line in contradiction(case, release, {word for word, _ in answers})
    ]
    print(*found, sep="\n")
    tally(f"what inspect says of onnxruntime {release}, against what it does", len(told), len(found))
