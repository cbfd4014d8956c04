"""The scripts for bug reports: they stand alone, have the case's own bits, and say what the suite says."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from padops.conformance import cases
from padops.conformance.arrays import pack
from padops.conformance.repro import NoScript, add_repro, literal, script

REFLECT = "table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0"
SYMMETRIC = "table/OpenVINOPad_12/symmetric/float/1/both/plain/none/int64.int64/dynamic/0"


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_repro(parser.add_subparsers())
    options = parser.parse_args(words)
    return options.run(options)


def run_script(name: str, peer: str, folder: Path) -> subprocess.CompletedProcess[str]:
    text = script(cases.find_case(name), peer)
    if not peer.startswith("padops-"):
        assert "import padops" not in text and "from padops" not in text
    (folder / "shown.py").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "shown.py"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


# The model of the case; numpy.pad reaches over more than one period, onnxruntime and a negative amount do not.
SCRIPTS = [
    (REFLECT, "ort-builtin", 0),
    ("table/Pad_18/reflect/float/2/far/plain/none/absent.flat/dynamic/0", "ort-builtin", 1),
    ("table/Pad_18/reflect/float/2/far/plain/none/absent.flat/dynamic/0", "onnx-reference", 0),
    ("table/Pad_18/edge/float/2/mixed/plain/none/absent.flat/held/1", "onnx-reference", 1),
    ("table/Pad_21/constant/float8e5m2/2/both/plain/scalar/some.flat/fixed/0", "onnx-reference", 0),
    ("table/Pad_13/constant/string/2/both/plain/scalar/absent.flat/dynamic/0", "numpy", 0),
    ("table/Pad_2/constant/float/2/both/plain/value/absent.flat/dynamic/0", "numpy", 0),
    ("table/OpenVINOPad_12/constant/double/1/mixed/plain/scalar/int64.int64/dynamic/0", "numpy", 1),
    ("table/Pad_18/reflect/float/2/far/plain/none/absent.flat/dynamic/0", "padops-native", 0),
]


@pytest.mark.parametrize(("name", "peer", "code"), SCRIPTS)
def test_script_runs_by_itself(name: str, peer: str, code: int, tmp_path: Path) -> None:
    ran = run_script(name, peer, tmp_path)
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stdout + ran.stderr
    assert ran.stdout.startswith("expected: ") and ("the same bits" in ran.stdout) is (code == 0)


@pytest.mark.parametrize("name", [case.id for case in cases.collect("quick")[::40]])
def test_script_has_the_bits_of_the_case(name: str) -> None:
    case = cases.find_case(name)
    for array in filter(lambda array: array is not None, case.arrays()):
        assert pack(eval(literal(array), {"np": np, "ml_dtypes": ml_dtypes})) == pack(array)


def test_repro(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("repro", REFLECT, "--peer", "ort-builtin@/old/python") == 0
    text = capsys.readouterr().out
    compile(text, "shown.py", "exec")
    assert "Seen in /old/python." in text
    assert command("repro", "table/none") == 1
    assert "no case is called 'table/none'" in capsys.readouterr().err
    with pytest.raises(NoScript, match="ONNX has no operator like OpenVINOPad_12"):
        script(cases.find_case(SYMMETRIC), "ort-builtin")


STRINGS = "table/Pad_13/constant/string/2/both/plain/scalar/absent.flat/dynamic/0"
FOUR_BITS = "table/OpenVINOPad_12/constant/int4/1/both/plain/scalar/int64.int64/held/0"
INTERIOR = "specification/NGraphPad_0/example/float"
OTHERS = [
    (REFLECT, "torch", "torch"),
    ("table/Pad_18/constant/float/2/mixed/plain/scalar/some.flat/static/0", "torch", "torch"),
    (REFLECT, "jax", "jax"),
    (INTERIOR, "jax", "jax"),
    (REFLECT, "tensorflow", "tensorflow"),
    (STRINGS, "tensorflow", "tensorflow"),
    (REFLECT, "openvino-onnx", "openvino"),
    (SYMMETRIC, "openvino-12", "openvino"),
    (STRINGS.replace("Pad_13", "OpenVINOPad_12").replace("absent.flat", "int64.int64"), "openvino-12", "openvino"),
    (FOUR_BITS, "openvino-12", "openvino"),
]


@pytest.mark.parametrize(("name", "peer", "library"), OTHERS)
def test_scripts_of_other_peers(name: str, peer: str, library: str, tmp_path: Path) -> None:
    """They are Python everywhere; where the library is, or PADOPS_PEERS says that it must be, they show the same bits."""
    if not os.environ.get("PADOPS_PEERS") and find_spec(library) is None:
        compile(script(cases.find_case(name), peer), "shown.py", "exec")
        return
    ran = run_script(name, peer, tmp_path)
    assert (ran.returncode, "the same bits" in ran.stdout) == (0, True), ran.stdout + ran.stderr


NO_WORDS = [
    ("torch", SYMMETRIC, "torch.nn.functional.pad has no mode symmetric"),
    ("tensorflow", "table/Pad_18/edge/float/2/both/plain/none/absent.flat/dynamic/0", "tf.pad has no mode edge"),
    ("numpy", INTERIOR, "numpy.pad has no interior padding"),
    ("openvino-12", REFLECT, "OpenVINO has no operator like Pad_18"),
    ("nobody", REFLECT, "there is no script for the peer 'nobody'"),
]


@pytest.mark.parametrize(("peer", "name", "words"), NO_WORDS)
def test_what_a_peer_has_no_words_for_has_no_script(peer: str, name: str, words: str) -> None:
    with pytest.raises(NoScript, match=words):
        script(cases.find_case(name), peer)
