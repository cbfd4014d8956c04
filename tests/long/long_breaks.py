"""Breaks each Pad of the slow real models in turn; tests/convert/verify/test_verify_pads.py has the others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
from planted_breaks import broken_models

import padops

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


SLOW = (
    "basic-pitch/nmp.onnx",
    "faster-whisper/silero_vad_v6.onnx",
    "onnx-asr/gigaam_v2.onnx",
    "onnx-asr/nemo128.onnx",
    "onnx-asr/nemo80.onnx",
    "onnx-asr/wespeaker.onnx",
    "onnx-asr/whisper80.onnx",
    "silero-vad/silero_vad.onnx",
    "silero-vad/silero_vad_16k_op15.onnx",
    "silero-vad/silero_vad_16k_sequence.onnx",
    "silero-vad/silero_vad_half.onnx",
    "silero-vad/silero_vad_op18_ifless.onnx",
    "silero-vad/silero_vad_openvino_16k.onnx",
    "swift-f0/model.onnx",
)


@pytest.mark.parametrize("name", SLOW)
def test_breaks_are_found(name: str, tally: Callable[[str, int, int], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    source = importlib.import_module("fetch_models").fetch([name.split("/")[0]])[name]
    breaks = list(broken_models(padops.convert(source, fold=False, fallback=False).proto()))
    overlooked = [what for what, broken in breaks if padops.verify(source, broken, run=True).passed]
    print(*overlooked, sep="\n")
    tally(f"wrong Pads in {name} that verification has to find", len(breaks), len(overlooked))


def test_breaks_of_examples_are_found(tally: Callable[[str, int, int], None]) -> None:
    count, overlooked = 0, list[str]()
    for at, source in enumerate(sorted((SCRIPTS.parent / "models").glob("*.onnx"))):
        if not at % 4:
            continue
        breaks = list(broken_models(padops.convert(source, fold=False, fallback=False).proto()))
        count += len(breaks)
        found = [what for what, broken in breaks if padops.verify(source, broken, run=True).passed]
        overlooked += [f"{source.name}: {what}" for what in found]
    print(*overlooked, sep="\n")
    tally("wrong Pads in most examples that verification has to find", count, len(overlooked))
