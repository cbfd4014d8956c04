"""Tests of other folders that draw, try and repeat more (``slow.MORE``), each file in a process, which may die."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Tally

FILES = {"convert/files/test_convert_processes.py": "signals at every file step of a conversion; writers of one file",
         "convert/inputs/test_convert_broken_inputs.py": "broken ONNX models and inputs, converted",
         "csrc/test_load.py": "calls of 32 threads on one session; Pads of 64 MB of each mode, width and shape",
         "csrc/test_property.py": "random Pads: kernels against the reference",
         "runtime/test_beside_real_providers.py": "cases beside OpenVINO, WebGPU and QNN",
         "test_roads.py": "random models of one to four Pads, run in six ways"}  # fmt: skip


@pytest.mark.parametrize("file", FILES)
def test_more(file: str, tally: Tally) -> None:
    """Count tests; how much each of them tries stands in it."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", f"tests/{file}"]
    ran = subprocess.run(command, cwd=root, env={**os.environ, "PADOPS_LONG": "1"}, capture_output=True, text=True)
    print(ran.stdout[-4000:], ran.stderr[-4000:])
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", ran.stdout)}
    harmed = sum(counts.values()) - counts.get("passed", 0)
    tally(f"tests of {FILES[file]}", sum(counts.values()), harmed or int(ran.returncode != 0))
