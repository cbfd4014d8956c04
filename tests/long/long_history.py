"""Runs the suite and inspect on each release that this Python can install."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Tally
from one_axis import model
from onnx import parser

import padops
from padops.conformance import runner
from padops.conformance.features import Prepared
from padops.conformance.model import make_model
from padops.conformance.peers import PEERS
from padops.runtime.installed import OLDEST_MINOR

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import history
import history_measure as measure
from history_measure import Release, releases

ROOT = Path(__file__).resolve().parents[2]


def test_releases(tally: Tally) -> None:
    """Releases that were already measured with the same cases are not measured again."""
    work = ROOT / "build" / "history"
    ended = history.main(["--work", str(work), "--out", str(work / "history.json")])
    found = history.read(work / "history.json")
    missing = {release.name for release in releases()} - {f"{one['package']}=={one['version']}" for one in found}
    print(*sorted(missing), sep="\n")
    assert ended == bool(missing)
    tally("releases of other implementations on which the suite has run", len(found) + len(missing), len(missing))


# What may come of a Pad of which inspect says so; of "may be wrong" and "runs if" anything may.
ALLOWED = {"runs": ("agree",), "refuses": ("error", "unsupported"), "wrong": ("differ", "crash")}
OF_ONNXRUNTIME = [
    release
    for release in releases()
    if release.package == "onnxruntime" and int(release.version.split(".")[1]) >= OLDEST_MINOR
]


@pytest.mark.parametrize("release", OF_ONNXRUNTIME, ids=lambda release: release.version)
def test_what_inspect_says_of_a_release(release: Release, tally: Tally) -> None:
    """``padops.inspect(…, onnxruntime="1.22")`` against what 1.22 does, for each case of a quick run that is valid."""
    suite, place = measure.suite(), ROOT / "build" / "history" / f"inspected-{release.version}"
    measure.make_environment(release, False, place)
    peer = replace(PEERS[release.peer], name=release.name, environment=str(place))
    (ran,) = runner.run_cases(suite, [peer], [], measure.LEVEL)
    shutil.rmtree(place)
    outcomes, asked, found = {one["case"]: one["outcome"] for one in ran.results}, 0, []
    for case in suite:
        item = Prepared.of(case)
        if case.id not in outcomes or item.packed is None:
            continue
        if case.dtype.name == "float16" and item.tags.intersection(
            ("nan", "fill-nan")
        ):  # "casts float16 to float and back", it says
            continue
        model = make_model(peer.prepared(case), standard=True)
        pads = padops.inspect(model, onnxruntime=release.version).pads
        if len(pads) != 1 or pads[0].verdict not in ALLOWED:
            continue
        asked += 1
        if outcomes[case.id] not in ALLOWED[pads[0].verdict]:
            found.append(f"{case.id}: inspect says {pads[0].verdict} ({pads[0].why}), and it is: {outcomes[case.id]}")
    print(*found, sep="\n")
    assert asked > 400
    tally(
        f"what inspect says of onnxruntime {release.version}, which is not installed, against what it does",
        asked,
        len(found),
    )


ONE_AXIS = ROOT / "tests" / "processes" / "one_axis.py"
GIVEN = {"runs": ("right",), "refuses": ("refused",), "may be wrong": ("right", "wrong", "refused", "dead")}


@pytest.mark.parametrize("release", OF_ONNXRUNTIME, ids=lambda release: release.version)
def test_what_inspect_says_of_one_axis(release: Release, tally: Tally) -> None:
    """Each valid Pad of up to 4 elements by -6 to 6, in each mode, against what the release does."""
    asked = [
        (mode, size, begin, end)
        for mode, size in itertools.product(("constant", "edge", "reflect", "wrap"), range(5))
        for begin, end in itertools.product(range(-6, 7), repeat=2)
    ]
    place = ROOT / "build" / "history" / f"one-axis-{release.version}"
    measure.make_environment(release, False, place)
    lines = "".join(json.dumps(asked[i : i + 13]) + "\n" for i in range(0, len(asked), 13))
    command = [str(place / "bin" / "python"), str(ONE_AXIS)]
    ran = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    shutil.rmtree(place)
    told = [one for line in ran.stdout.splitlines() for one in json.loads(line)]
    found, valid = [], 0
    for (mode, size, begin, end), (kind, output) in zip(asked, told, strict=True):
        data = np.arange(1, size + 1, dtype=np.float32)
        try:
            expected = padops.run_reference("Pad_19", {"mode": mode}, [data, np.array([begin, end])])
        except padops.PadError:
            continue
        did = kind if kind != "out" else "right" if output == expected.tolist() else "wrong"
        (pad,) = padops.inspect(parser.parse_model(model(mode, size, begin, end)), onnxruntime=release.version).pads
        valid += 1
        if did not in GIVEN[pad.verdict]:
            found.append(
                f"{mode}, {begin} and {end} of {size}: inspect says {pad.verdict} ({pad.why}), and it is {did}"
            )
    print(*found, sep="\n")
    tally(
        f"Pads of one axis, what inspect says of onnxruntime {release.version} against what it does", valid, len(found)
    )
