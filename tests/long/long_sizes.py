"""What large models cost: seconds of one processor for their proof, against hashing their files, and memory.

Files of 8 GB lie in the test's temporary folder while it runs; half of them are holes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import fetch_models
import large_networks
import pad_chains
import pytest
from children import asked_of
from command_lines import save
from conftest import Tally

import padops
from padops.runtime.provider import runtime_minor
from padops.session import FIRST_MINOR_OF_DATA_FOLDER

COUNT = 10_000  # Pads
MODEL = "model.onnx"
REAL = "rapidocr/PP-OCRv6_rec_small.onnx"  # the largest of scripts/models.json


def real(folder: Path) -> Path:
    fetched = fetch_models.fetch([REAL.split("/")[0]])
    return Path(shutil.copy(fetched[REAL], folder / MODEL))


# What is verified; the most seconds and megabytes that it may take, where there is a limit (a tensor is mapped whole).
SIZES: dict[str, tuple[Callable[[Path], Path], float, float]] = {
    "a network with the layers of ResNet-50": (lambda folder: save(folder / MODEL, large_networks.resnet()), 5, 1e9),
    REAL: (real, 5, 1e9),
    "2.5 GB of external data": (lambda folder: large_networks.products(folder, 10, 8000), 20, 400),
} | {
    f"{COUNT:,} Pads: {name}": (lambda folder, name=name: save(folder / MODEL, pad_chains.MODELS[name](COUNT)), 30, 1e9)
    for name in ("reflecting", "with_relu", "with_conv")
}


@pytest.mark.parametrize("name", SIZES)
def test_time_and_memory(name: str, tally: Tally, tmp_path: Path) -> None:
    """Both files of a model and of its conversion with the default options."""
    make, seconds, megabytes = SIZES[name]
    for folder in ("original", "converted"):
        (tmp_path / folder).mkdir()
    original, converted = make(tmp_path / "original"), tmp_path / "converted" / MODEL
    padops.convert(original, converted)
    (said,) = asked_of("proof_size.py", {}, b"", original, converted)
    for folder in (original.parent, converted.parent):
        shutil.rmtree(folder)
    print(said)
    slow = said["verdict"] != "proved" or said["seconds"] > seconds or said["peak"] > megabytes
    tally(f"{name}: proved in {seconds} s, {said['seconds'] / said['hashing']:.1f} times hashing", 1, int(slow))


@pytest.mark.skipif(runtime_minor() < FIRST_MINOR_OF_DATA_FOLDER, reason="it takes no folder of external data")
def test_gigabytes_stay_in_their_file(tally: Tally, tmp_path: Path) -> None:
    """A session of a model with gigabytes of external data, converted in memory."""
    path = large_networks.lookup(tmp_path, 640_000, 1_000)
    (told,) = asked_of("proof_size.py", {}, b"", path)
    assert (told["row"], told["statuses"]) == ([[0, 1, *[0] * 1001]], ["converted"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.data", "model.onnx"]
    what = "sessions that convert a model with 2.5 GB of external data, in 400 MB of memory"
    tally(what, 1, int(told["peak"] > 400))
