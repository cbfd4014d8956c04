"""Tests of other folders that draw, try and repeat more (``slow.MORE``), each file in a process, which may die."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Tally

# Each file with what it tries, and how often.
FILES = {
    "convert/files/test_convert_processes.py": ("signals at every file step of a conversion; writers of one file", 250),
    "convert/inputs/test_convert_broken_inputs.py": ("broken ONNX models and inputs, converted", 4_000),
    "csrc/test_load.py": ("calls of 32 threads on one session; Pads of 64 MB of each mode, width and shape", 128_210),
    "csrc/test_property.py": ("random Pads: kernels against the reference", 175_000),
    "runtime/test_beside_real_providers.py": ("cases beside OpenVINO, WebGPU and QNN", 14_100),
    "test_roads.py": ("random models of one to four Pads on six roads", 1_000),
}


@pytest.mark.parametrize("file", FILES)
def test_more(file: str, tally: Tally) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", f"tests/{file}"]
    ran = subprocess.run(command, cwd=root, env={**os.environ, "PADOPS_LONG": "1"}, capture_output=True, text=True)
    print(ran.stdout[-4000:], ran.stderr[-4000:])
    tally(*FILES[file], int(ran.returncode != 0))
