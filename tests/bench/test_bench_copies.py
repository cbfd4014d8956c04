"""Each copy that padops chooses from gives the right bits in a session; ``tests/cpp/time_copies.cpp`` times them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cpp_builds import CHECKS, ROOT, build

COPIES = ["baseline", "avx2", "string", "libc", "chosen"]

# Rows that are longer than where the string instruction begins, whose windows are aligned differently each.
PADDED = """
import numpy as np, onnxruntime, padops
from onnx import parser
model = parser.parse_model('''<ir_version: 8, opset_import: ["": 18, "padops": 1]>
net (uint8[9, 20011] x) => (uint8[M, N] y) <int64[4] pads = {1, 5, 1, 3}>
{ y = padops.Pad_18 <mode = "reflect"> (x, pads) }''')
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
padops.register(options)
session = onnxruntime.InferenceSession(model.SerializeToString(), options)
x = np.random.default_rng(0).integers(0, 256, (9, 20011)).astype(np.uint8)
try:
    y = session.run(None, {"x": x})[0]
    print("equal" if y.tobytes() == np.pad(x, ((1, 1), (5, 3)), "reflect").tobytes() else "different")
except Exception as error:
    print(error)
"""


def run_with(choice: str) -> str:
    environment = {**os.environ, "PADOPS_COPY": choice}
    ran = subprocess.run([sys.executable, "-c", PADDED], capture_output=True, text=True, env=environment, check=True)
    return ran.stdout


@pytest.mark.parametrize("choice", ["baseline", "avx2", "string", ""])
def test_each_copy_is_right(choice: str) -> None:
    assert run_with(choice) == "equal\n"


def test_a_copy_that_does_not_exist() -> None:
    assert "PADOPS_COPY is 'fast', expected baseline, avx2 or string" in run_with("fast")


@pytest.fixture(scope="module")
def program() -> Path:
    folder = ROOT / "build" / "time_copies"
    return build(folder, "-DCMAKE_BUILD_TYPE=Release", source=CHECKS, target="time_copies") / "time_copies"


def time_copies(program: Path, *arguments: str, choice: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PADOPS_COPY": choice}
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment, timeout=600)


def test_times_of_copies(program: Path) -> None:
    ran = time_copies(program, "0.0001")
    assert ran.returncode == 0, ran.stderr
    processor, title, heading, *lines = ran.stdout.splitlines()
    assert processor.startswith("processor: AMD ")
    assert title == "GB/s of copied rows (row, total and gap in bytes); chosen for this processor"
    assert heading.split() == ["row", "total", "gap", *COPIES, "chosen", "/", "best"]
    rows = [list(map(float, line.split())) for line in lines]
    runs, totals = (256, 1024, 2560, 8192, 16384, 65536, 960_000), (200_000, 3_840_000, 12_000_000)
    expected = [[run, total, gap] for run in runs for total in totals for gap in (0, 4) if run <= total]
    assert [row[:3] for row in rows] == expected
    for row in rows:
        *speeds, chosen, ratio = row[3:]
        assert min(speeds) > 0
        assert ratio == pytest.approx(chosen / max(speeds), abs=0.01 + 0.1 / max(speeds) * (1 + ratio))
