"""onnx-weekly, in a folder of its own, shows the coming standard: no newer Pad, and no new function whose body pads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import onnx

import padops

ROOT = Path(__file__).resolve().parents[2]
TESTS = "tests/convert/matchers/test_functions_that_pad.py"


def test_onnx_weekly(tally, tmp_path: Path) -> None:
    folder = tmp_path / "onnx-weekly"
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps", "--pre"]
    subprocess.run([*command, "--target", str(folder), "onnx-weekly"], check=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])),
        "PADOPS_LIBRARY": padops.get_library_path(),
    }
    asked = "import onnx; print(onnx.__file__, onnx.defs.onnx_opset_version())"
    said = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    where, opset = said.stdout.split()
    assert Path(where).is_relative_to(folder)
    assert int(opset) >= onnx.defs.onnx_opset_version()
    run = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", TESTS]
    ran = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr
    passed = int(re.search(r"(\d+) passed", ran.stdout).group(1))
    tally(f"onnx-weekly with opset {opset}: tests of the newest opsets, and of functions that pad", passed, 0)
