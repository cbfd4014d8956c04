"""padops beside real providers on each onnxruntime that has such a build: the models of scripts/provider_cases.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_cases
import providers

QNN = "onnxruntime-qnn==2.7.0"
TOLD_NOT, SAID = "onnxruntime==1.24.4", "does not tell which providers these options have"  # an error names the way
# The newest build of OpenVINO's is 1.24.1, the first release with providers in libraries; onnxruntime-qnn 2.3.0 makes
# no session with onnxruntime 1.32.
RELEASES = [
    *(("ort-webgpu", f"onnxruntime-webgpu=={release}") for release in ("1.25.0", "1.25.1", "1.27.0")),
    ("ort-openvino", "onnxruntime-openvino==1.24.1"),
    *(
        ("ort-qnn", f"onnxruntime=={release}", QNN)
        for release in ("1.24.4", "1.25.1", "1.26.0", "1.27.0", "1.30.0", "1.31.1", "1.32.0")
    ),
    *(("ort-qnn", "onnxruntime==1.32.0", f"onnxruntime-qnn=={release}") for release in ("2.4.0", "2.5.0", "2.6.0")),
]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: " ".join(release[1:]))
def test_release(release: tuple[str, ...], tally: Callable[[str, int, int], None]) -> None:
    name, *packages = release
    made = providers.with_packages(name, tuple(packages))
    provider = providers.provider_of(made)
    asked = [case for case in provider_cases.ALL.values() if (provider, case.name) not in providers.UNHELPED]
    stock = providers.ask(made, "stock", asked)
    found, ways = [], ("name", "device") if provider == provider_cases.QNN and TOLD_NOT not in packages else ("name",)
    if TOLD_NOT in packages:
        answers = providers.ask(made, "device", asked)
        found += [f"by device: {case}" for case, answer in answers.items() if SAID not in answer.get("why", "")]
    for way in ways:
        faults = providers.faults(provider, stock, providers.ask(made, way, asked))
        found += [f"by {way}: {fault}" for fault in faults]
    right = sum(answer["outcome"] == "right" for answer in stock.values())
    print(f"{right} of {len(asked)} right without padops", *found, sep="\n")
    assert 0 < right < len(asked)
    what = (
        f"models Relu-Pad-Relu on {provider} of {' with '.join(packages)}: right beside padops, "
        "none dropped, no Pad taken needlessly"
    )
    tally(what, len(asked) * len(ways), len(found))
