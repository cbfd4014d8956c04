"""Each copy that padops chooses from gives the right bits in a session; ``padops bench --copies`` times them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from padops import cli
from padops.bench import copied_rows
from padops.bench.copied_rows import COPIES, CopiedRows, print_copies, time_copies

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


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied_rows, "RUNS", (256, 1024))
    monkeypatch.setattr(copied_rows, "TOTALS", (4096,))
    monkeypatch.setattr(copied_rows, "SECONDS", 1e-4)


def test_times_of_copies(small: None) -> None:
    measured = []
    results = time_copies(measured.append)
    assert list(results) == [CopiedRows(run, 4096, gap) for run in (256, 1024) for gap in (0, 4)]
    assert len(measured) == 4
    assert all(list(speeds) == list(COPIES) and min(speeds.values()) > 1e6 for speeds in results.values())


def test_the_command(small: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.main(["bench", "--copies"]) == 0
    out, _ = capsys.readouterr()
    assert out.startswith("processor ") and "chosen / best" in out
    assert "chosen for this processor" in " ".join(out.split())  # the title is wrapped
    monkeypatch.setenv("PADOPS_COPY", "baseline")
    assert cli.main(["bench", "--copies"]) == 0
    assert "chosen as PADOPS_COPY=baseline says" in " ".join(capsys.readouterr().out.split())
    monkeypatch.delenv("PADOPS_COPY")
    monkeypatch.setattr(copied_rows, "COPIES", ("nonsense",))
    assert cli.main(["bench", "--copies"]) == 1
    assert "cannot time the copy 'nonsense'; is PADOPS_COPY baseline, avx2 or string?" in capsys.readouterr().err


def test_the_table_says_how_good_the_choice_is(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    speeds = dict(zip(COPIES, (1e9, 2e9, 4e9, 3e9, 2e9), strict=True))
    print_copies(Console(width=120), {CopiedRows(256, 1000, 4): speeds})
    assert capsys.readouterr().out.splitlines()[-1].split() == [
        "256",
        "1,000",
        "4",
        "1.0",
        "2.0",
        "4.0",
        "3.0",
        "2.0",
        "0.50",
    ]
