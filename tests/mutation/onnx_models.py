"""ONNX models with wrong parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .mutant import Mutant

MODELS = Path(__file__).resolve().parents[2] / "models"


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    while True:
        for path in sorted(MODELS.glob("*.onnx")):
            yield Mutant(f"{path.name}: as it is", {"m.onnx": path.read_bytes()}, ("convert", "m.onnx", "-o", "o.onnx"))
