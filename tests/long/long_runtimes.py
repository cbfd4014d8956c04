"""The execution provider on other runtimes than the installed one, with the same library file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import oldest_runtime
import pytest

import padops

REFUSED = ("runtime/test_session",)
PROVIDED = (
    *REFUSED,
    "runtime/test_provider",
    "runtime/test_inference_session",
    "runtime/test_session_optimizers",
)


@pytest.mark.parametrize(
    "version", ["1.20.1", "1.22.1", "1.23.2", "1.24.1", "1.24.4", "1.25.1", "1.26.0", "1.27.0", "1.30.0"]
)
def test_runtime(tally, version: str) -> None:
    minor = int(re.fullmatch(r"1\.(\d+)\.\d+", version)[1])
    names = PROVIDED if minor >= 24 else REFUSED
    passed = oldest_runtime.count_passed(*(f"tests/{name}.py" for name in names), version=version)
    what = "tests of the execution provider" if minor >= 24 else "tests that it is refused with a reason"
    tally(f"onnxruntime {version}: {what}", passed, 0)


def test_beside_openvino(tally) -> None:
    """Its provider, of a wheel of its own, takes the Pads where it comes first; where padops does, they are padops'."""
    folder = oldest_runtime.install("1.24.1", "onnxruntime-openvino")
    script = Path(__file__).resolve().parents[1] / "processes" / "openvino_provider.py"
    environment = {**os.environ, "PYTHONPATH": str(folder), "PADOPS_LIBRARY": padops.get_library_path()}
    ran = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    by_default, theirs, ours = json.loads(ran.stdout)
    assert by_default == theirs
    assert [name for name, _ in theirs["runs"]] == ["OpenVINOExecutionProvider"] * 4
    assert [name for name, op in ours["runs"] if op == "Pad"] == ["PadopsExecutionProvider"] * 2
    assert theirs["outputs"] == ours["outputs"] == [list(range(16)), [1, 0, 1, 2, 3, 2]]
    tally("orders of providers, OpenVINO's among them", 3, 0)
