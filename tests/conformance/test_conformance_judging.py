"""What becomes of an answer: a peer that dies for good, an error of another rule, an output that is no tensor of Pad."""

from __future__ import annotations

from pathlib import Path

import pytest

from padops.conformance import cases, report, runner
from padops.conformance.divergences import Divergence
from padops.conformance.known import KNOWN

QUICK = cases.collect("quick")

ONCE = """
import os
from pathlib import Path
from padops.spec.reference import run

PACKAGES = ("numpy",)
if Path(__file__).with_name("died").exists():
    raise ImportError("it starts only once")

def pad(op, attributes, inputs):
    if op == "Pad_19":
        Path(__file__).with_name("died").touch()
        os.abort()
    return run(op, attributes, inputs)
"""


def written(folder: Path, text: str) -> runner.Peer:
    """A peer of the user's own."""
    (folder / "own.py").write_text(text)
    return runner.parse_peer(f"{folder}/own.py:pad")


@pytest.mark.parametrize("first", [0, 3])
def test_a_peer_that_does_not_start_again_is_a_failure_and_not_absent(first: int, tmp_path: Path) -> None:
    """What it has answered stands, and no divergence explains what it has not."""
    before = [case for case in QUICK if case.op == "Pad_18"][:first]
    after = [case for case in QUICK if case.op == "Pad_19"][:1] + [case for case in QUICK if case.op == "Pad_21"][:4]
    known = [Divergence("crashes", "own:pad", "crash", "it is made so", "P1", families=("onnx",))]
    (ran,) = runner.run_cases([*before, *after], [written(tmp_path, ONCE)], known)
    assert ran.absent is None and ran.handshake["versions"]["numpy"]
    crashes = 1 if first else 2  # of the first case of a process there is no doubt
    outcomes = [result["outcome"] for result in ran.results]
    assert outcomes == ["agree"] * first + ["crash"] * crashes + ["skipped"] * (5 - crashes)
    last = ran.results[first + crashes - 1]
    assert last["unexpected"] and "did not start again: ImportError: it starts only once" in last["detail"]
    assert report.footer([ran])["exit"] == 1
