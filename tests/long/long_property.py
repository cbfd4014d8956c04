"""Fifty times the random Pads of tests/csrc/test_property.py; ``PADOPS_EXAMPLES`` sets the number for ONNX."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "100000"))
SHARES = {"onnx": 1, "openvino": 4, "ngraph": 4, "same": 4}  # of the others, there are so many times fewer


@pytest.mark.parametrize("family", SHARES)
def test_random_pads(tally, family: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/csrc/test_property.py"]
    environment = {**os.environ, "PADOPS_EXAMPLES": str(EXAMPLES)}
    ran = subprocess.run(
        [*command, "-k", family], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=7200
    )
    print(ran.stdout[-4000:], ran.stderr[-4000:])
    tally(f"random Pads of {family}: kernel against reference", EXAMPLES // SHARES[family], int(ran.returncode != 0))
