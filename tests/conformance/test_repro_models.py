"""The model of a script for a bug report, and what it is fed with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from padops.conformance import cases, runner
from padops.conformance.divergences import KNOWN
from padops.conformance.peers import PEERS
from padops.conformance.peers.parts import value_of
from padops.conformance.peers.request import Request
from padops.conformance.repro import script
from padops.runtime.ort_values import PLAIN

# Scripts of execution providers run in tests/conformance/test_wrong_answers.py.
IMPORTERS = ["ort-builtin", "onnx-reference", "openvino-onnx", "tract", "tinygrad", "tvm", "opencv"]
SAMPLE = [case for case in cases.collect("quick") if case.op.startswith("Pad_")][::37]


@pytest.mark.parametrize("peer", IMPORTERS)
def test_a_script_runs_what_the_suite_runs(peer: str) -> None:
    """The same inputs are constants, the same shapes are declared, and the rest is fed."""
    chosen = [case for case in SAMPLE if PEERS[peer].takes(runner.Prepared.of(case))]
    types = value_of(PEERS[peer].file, "TYPES")
    chosen = [case for case in chosen if case.dtype in (types or PLAIN)]
    assert len(chosen) > 10
    for case in chosen:
        request = Request.of(PEERS[peer].prepared(case.request()))
        made = value_of(PEERS[peer].file, "arguments")(request)[0]
        assert made.SerializeToString().hex() in script(case, peer), case.id


def test_a_script_of_bfloat16_feeds_its_data(tmp_path: Path) -> None:
    name = "table/Pad_13/constant/bfloat16/2/both/plain/none/absent.flat/dynamic/0"
    text = script(cases.find_case(name), "ort-builtin")
    assert "import padops" in text
    (tmp_path / "shown.py").write_text(text)
    ran = subprocess.run([sys.executable, "shown.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    suite = runner.run_cases([cases.find_case(name)], [runner.parse_peer("ort-builtin")], KNOWN)[0].results[0][
        "outcome"
    ]
    assert "Traceback" not in ran.stderr and (ran.returncode == 0) is (suite == "agree"), ran.stdout + ran.stderr
