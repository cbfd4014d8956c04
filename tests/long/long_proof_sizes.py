"""What the verification of large models costs: seconds of one processor, against hashing their files, and memory.

Files of 8 GB lie in the test's temporary folder while it runs; half of them are holes.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import large_networks
import pad_chains
import pytest
from conftest import Tally

import padops

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "processes" / "proof_size.py"
HEAD = "| original | files | verdict | seconds | of hashing the files | peak memory |\n|---|--:|---|--:|--:|--:|\n"
COUNT = 10_000  # Pads
REAL = "rapidocr/PP-OCRv6_rec_small.onnx"  # the largest of scripts/models.json
TIMEOUT = 300  # seconds


def of_model(make: Callable[[], Any]) -> Callable[[Path], Path]:
    def save(folder: Path) -> Path:
        folder.mkdir()
        (folder / "model.onnx").write_bytes(make().SerializeToString())
        return folder / "model.onnx"

    return save


def real(folder: Path) -> Path:
    folder.mkdir()
    source = importlib.import_module("fetch_models").fetch([REAL.split("/")[0]])[REAL]
    return Path(shutil.copy(source, folder / "model.onnx"))


# What is verified; the most seconds and megabytes that it may take, where there is a limit.
SIZES: dict[str, tuple[Callable[[Path], Path], float, float]] = {
    "a network with the layers of ResNet-50": (of_model(large_networks.resnet), 5, 1e9),
    REAL: (real, 5, 1e9),
    "2.5 GB of external data": (lambda folder: large_networks.external(folder, 10, 8000), 20, 200),
} | {
    f"{COUNT:,} Pads: {name}": (of_model(lambda name=name: pad_chains.MODELS[name](COUNT)), 30, 1e9)
    for name in ("reflecting", "with_relu", "with_conv")
}


def figures(folder: Path, save: Callable[[Path], Path]) -> dict[str, Any]:
    """What a process says of the conversion, with the default options, of one model."""
    original, converted = save(folder / "original"), folder / "converted" / "model.onnx"
    converted.parent.mkdir()
    padops.convert(original, converted)
    command = [sys.executable, str(PROGRAM), str(original), str(converted)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_time_and_memory(tally: Tally, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    text, slow = HEAD, []
    for i, (name, (save, seconds, megabytes)) in enumerate(SIZES.items()):
        folder = tmp_path / str(i)
        folder.mkdir()
        try:
            said = figures(folder, save)
        finally:
            shutil.rmtree(folder)
        ratio = said["seconds"] / said["hashing"]
        text += (
            f"| {name} | {said['bytes'] / 1e6:,.0f} MB | {said['verdict']} | {said['seconds']:.1f} "
            f"| {f'{ratio:.1f} times' if said['bytes'] > 1e7 else '–'} | {said['peak']:,.0f} MB |\n"
        )
        print(text.splitlines()[-1], flush=True)
        if said["verdict"] != "proved" or said["seconds"] > seconds or said["peak"] > megabytes:
            slow.append(f"{name}: {said}")
    print(*slow, sep="\n")
    tally("large models whose conversion has to be proved in little time and memory", len(SIZES), len(slow))
