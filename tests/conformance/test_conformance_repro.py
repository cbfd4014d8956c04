"""The scripts for bug reports: they stand alone, have the case's own bits, and say what the suite says."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from conformance_records import answers, prepared, quick

from padops.cli import main
from padops.conformance import cases, judging, runner
from padops.conformance.arrays import pack
from padops.conformance.divergences import EXAMPLES, KNOWN
from padops.conformance.features import Prepared
from padops.conformance.peers import PEERS
from padops.conformance.peers.parts import value_of
from padops.conformance.repro import NoScript, literal, script
from padops.runtime.ort_values import PLAIN

REFLECT = "table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0"
SYMMETRIC = "table/OpenVINOPad_12/symmetric/float/1/both/plain/none/int64.int64/dynamic/0"


def head(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the first comment of the printed script says."""
    assert main(["conformance", "repro", *words]) == 0
    text = capsys.readouterr().out
    compile(text, "shown.py", "exec")
    return text.split('"""')[1]


STRINGS = "table/Pad_13/constant/string/2/both/plain/scalar/absent.flat/dynamic/0"
BFLOAT16 = "table/Pad_13/constant/bfloat16/2/both/plain/none/absent.flat/dynamic/0"
OUTSIDE = "table/Pad_18/constant/double/1/end/plain/scalar/outside.flat/static/1"
INTERIOR = "specification/NGraphPad_0/example/float"
# A case, a peer, the exit code, what it says, and the peer's library. numpy.pad reaches over more than one period;
# onnxruntime and a negative amount do not. Where the rules want an error, another exception than the peer's refusals is
# no success.
SCRIPTS = [
    (REFLECT, "ort-builtin", 0, "", ""),
    ("table/Pad_18/reflect/float/2/far/plain/none/absent.flat/dynamic/0", "ort-builtin", 1, "", ""),
    (OUTSIDE, "ort-builtin", 0, "got an error: Fail", ""),
    (OUTSIDE, "onnx-reference", 1, "got an error: IndexError", ""),
    ("table/Pad_21/constant/float8e5m2/2/both/plain/scalar/some.flat/fixed/0", "onnx-reference", 0, "", ""),
    (STRINGS, "numpy", 0, "", ""),
    ("table/Pad_2/edge/double/0/far/plain/none/absent.flat/static/3", "numpy", 1, "", ""),
    (REFLECT, "padops-provider", 0, "", ""),
    (REFLECT, "without-pad-reference", 0, "", ""),
    ("table/Pad_18/constant/float/2/mixed/plain/scalar/some.flat/static/0", "torch", 0, "", "torch"),
    (INTERIOR, "jax", 0, "", "jax"),
    (STRINGS, "tensorflow", 0, "", "tensorflow"),
    ("table/OpenVINOPad_12/constant/int4/1/both/plain/scalar/int64.int64/held/0", "openvino-12", 0, "", "openvino"),
]


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "shown.py").write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, "shown.py"], cwd=folder, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    ("name", "peer", "code", "words"),
    [pytest.param(*row, marks=[pytest.mark.needs(library)] if library else []) for *row, library in SCRIPTS],
)
def test_script_runs_by_itself(name: str, peer: str, code: int, words: str, tmp_path: Path) -> None:
    text = script(cases.find_case(name), peer)
    assert not PEERS[peer].stands_alone or not re.search("(import|from) padops", text)
    ran = run(text, tmp_path)
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stdout + ran.stderr
    assert ran.stdout.startswith("expected") and (words or "the same bits" if code == 0 else words) in ran.stdout
    assert code == 0 or "the same bits" not in ran.stdout


def test_script_has_the_bits_of_the_case() -> None:
    for case in quick()[::40]:
        for array in filter(lambda array: array is not None, case.inputs):
            assert pack(eval(literal(array), {"np": np, "ml_dtypes": ml_dtypes})) == pack(array)


def test_no_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "repro", "table/none"]) == 1
    assert "no case is called 'table/none'" in capsys.readouterr().err


@pytest.mark.parametrize(("peer", "name", "words"), [
    ("torch", SYMMETRIC, "torch.nn.functional.pad has no mode symmetric"),
    ("tensorflow", "table/Pad_18/edge/float/2/both/plain/none/absent.flat/dynamic/0", "tf.pad has no mode edge"),
    ("numpy", INTERIOR, "numpy.pad has no interior padding"),
    ("numpy", "table/OpenVINOPad_12/constant/double/1/mixed/plain/scalar/int64.int64/dynamic/0",
     "numpy cannot run this case: numpy.pad accepts no negative amounts"),
    ("openvino-12", REFLECT, "OpenVINO has no operator like Pad_18"),
    ("ort-builtin", SYMMETRIC, "ONNX has no operator like OpenVINOPad_12"),
    ("nobody", REFLECT, "there is no script for the peer 'nobody'"),
])  # fmt: skip
def test_what_a_peer_has_no_words_for_has_no_script(peer: str, name: str, words: str) -> None:
    with pytest.raises(NoScript, match=words):
        script(cases.find_case(name), peer)


def test_every_peer_has_a_script_or_no_command_for_one() -> None:
    wanted = ("float", 2, "constant")
    items = [one for one in prepared() if (one.case.dtype.name, one.case.data.ndim, one.case.mode) == wanted]
    for name, peer in PEERS.items():
        item = next(item for item in items if peer.takes(item) and item.packed)
        ran = judging.PeerRun(peer)
        ran.add(item, ("refused", "no"))
        shown = f"padops conformance repro {item.case.id} --peer {peer.asked_as}" if peer.has_script else ""
        assert ran.results[0]["repro"] == shown
        if peer.has_script:
            text = script(item.case, name)
            assert "expected" in text and (peer.command or compile(text, "shown.py", "exec"))


def test_a_peer_of_the_users_own_has_no_command_for_a_script(tmp_path: Path) -> None:
    """Nor one that calls itself like another."""
    (tmp_path / "numpy.py").write_text("def wrong(op, attributes, inputs):\n    return inputs[0][:0]\n")
    peer = runner.parse_peers(f"{tmp_path}/numpy.py:wrong")[0]
    ran = runner.run_cases([cases.find_case(REFLECT)], [peer, replace(peer, name="numpy")], ())
    results = [result for one in ran for result in one.results]
    assert [(result["outcome"], result["repro"]) for result in results] == [("differ", "")] * 2


def test_the_reason_is_that_of_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    """Not one that would fit the case, had the peer got as far: the command asks the peer first."""
    said = head(capsys, "table/Pad_1/reflect/double/2/mixed/plain/none/absent.flat/dynamic/0")
    assert "unsupported: [ONNXRuntimeError]" in said and "Could not find an implementation for Pad(1)" in said
    assert "[P4]" not in said and f"Seen in onnxruntime {onnxruntime.__version__}." in said
    empty = next(row for row in KNOWN if row.id == "ort-empty-output")
    assert f"{empty.reason} [P5]" in head(capsys, EXAMPLES[empty.id])
    assert "It agrees with the rules." in head(capsys, REFLECT)
    # An absent peer has no reason.
    said = head(capsys, EXAMPLES[empty.id], "--peer", "ort-builtin@/no/such/python")
    assert "[P5]" not in said and "Seen in /no/such/python." in said


def test_a_script_prints_the_bits_of_what_prints_alike(tmp_path: Path) -> None:
    ran = run(script(cases.find_case(EXAMPLES["ort-float16-nan"]), "ort-builtin"), tmp_path)
    expected, got = re.findall(r"^(?:expected|got) bits: +([0-9a-f]+)$", ran.stdout, re.M)
    assert ran.returncode == 1 and expected != got and len(expected) == len(got)


@pytest.mark.parametrize("peer", "ort-builtin onnx-reference openvino-onnx tract tinygrad tvm opencv".split())
def test_a_script_runs_what_the_suite_runs(peer: str) -> None:
    """Scripts of execution providers run in tests/conformance/test_peer_files.py."""
    types = value_of(PEERS[peer].file, "TYPES") or PLAIN
    chosen = [case for case in quick() if case.op.startswith("Pad_") and case.dtype.name in types][::40]
    chosen = [case for case in chosen if PEERS[peer].takes(Prepared.of(case))]
    assert len(chosen) > 5
    for case in chosen:
        made = value_of(PEERS[peer].file, "arguments")(PEERS[peer].prepared(case))[0]
        assert made.SerializeToString().hex() in script(case, peer), case.id


def test_a_script_of_bfloat16_feeds_its_data(tmp_path: Path) -> None:
    text = script(cases.find_case(BFLOAT16), "ort-builtin")
    ran = run(text, tmp_path)
    assert "import padops" in text
    (result,) = answers("ort-builtin", [cases.find_case(BFLOAT16)], KNOWN).results
    agrees = result["outcome"] == "agree"
    assert "Traceback" not in ran.stderr and (ran.returncode == 0) is agrees, ran.stdout + ran.stderr
